"""Real sockets: who comes in, how replies are framed, and clients that misbehave."""

import asyncio
import socket
import stat

import pytest

from fakes import FakeClock
from monitored import EVENT, SECONDS, FakeMonitor, serving
from ronda.config import Control
from ronda.errors import SettingsError
from ronda.server.console import Console
from ronda.server.console.places import address, is_loopback
from ronda.server.console.sessions import Limits
from ronda.server.control import ask_all

QUICK = Limits(stall=0.3, strangers=0.2, linger=0.3)


def run(test):
    """Run it in a loop, with a guard against hanging."""

    async def guarded():
        async with asyncio.timeout(SECONDS):
            return await test

    return asyncio.run(guarded())


# -- the socket itself -------------------------------------------------------------


def test_the_unix_socket_is_for_this_user_only_and_is_gone_afterwards(tmp_path):
    async def test():
        async with serving(tmp_path) as served:
            mode = stat.S_IMODE(served.path.stat().st_mode)
            return served.path, mode, stat.S_IMODE(served.path.parent.stat().st_mode)

    path, mode, folder = run(test())
    assert (mode, folder) == (0o600, 0o700)
    assert not path.exists()


def test_what_a_dead_daemon_has_left_is_replaced(tmp_path):
    path = tmp_path / "ronda" / "control.sock"
    path.parent.mkdir(0o700)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))

    async def test():
        async with serving(tmp_path) as served, served.client() as client:
            return await client.ask("NOOP")

    assert run(test()).startswith("[120]")


def test_a_living_daemon_is_respected_and_the_other_goes_on_without(tmp_path):
    told = []

    async def test():
        async with serving(tmp_path, listen="") as first:
            async with serving(tmp_path, listen="", tell=told.append):
                pass
            async with first.client() as client:
                return await client.ask("NOOP")

    assert run(test()).startswith("[120]")
    [line] = told
    path = tmp_path / "ronda" / "control.sock"
    words = f"another daemon takes commands at {path}; going on without it"
    assert line == f"control.socket: {words}"


@pytest.mark.parametrize("mode", [0o777, 0o720])
def test_a_folder_that_others_can_write_to_is_no_place_for_it(tmp_path, mode):
    told = []
    (tmp_path / "ronda").mkdir()
    (tmp_path / "ronda").chmod(mode)

    async def test():
        async with serving(tmp_path, listen="", tell=told.append) as served:
            return served.path.exists()

    assert not run(test())
    assert "open to others" in told[0]


def test_the_runtime_folder_must_be_closed_to_others(tmp_path, monkeypatch):
    told = []
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "ronda").mkdir(0o755)

    async def test():
        async with serving(tmp_path, socket="", listen="", tell=told.append):
            pass

    run(test())
    assert "open to others" in told[0]


def test_a_file_that_is_no_socket_is_left_alone(tmp_path):
    told = []
    path = tmp_path / "ronda" / "control.sock"
    path.parent.mkdir(0o700)
    path.write_text("mine")

    async def test():
        async with serving(tmp_path, listen="", tell=told.append):
            pass

    run(test())
    assert path.read_text() == "mine"
    assert "is no socket" in told[0]


def test_a_path_that_is_too_long_is_told(tmp_path):
    told = []

    async def test():
        where = str(tmp_path / ("x" * 120))
        async with serving(tmp_path, socket=where, listen="", tell=told.append):
            pass

    run(test())
    assert "too long" in told[0]


def test_a_port_that_is_taken_is_told(tmp_path):
    told = []

    async def test():
        async with serving(tmp_path, socket="none") as first:
            where = f"127.0.0.1:{first.port}"
            async with serving(tmp_path, listen=where, tell=told.append) as second:
                return second.path.exists()

    assert run(test())
    assert told[0].startswith("control.listen: ")


def test_the_default_socket_does_not_disturb_who_asks_all_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))

    async def test():
        async with serving(tmp_path, socket="") as served:
            assert served.path.exists()
            return await ask_all("")

    assert run(test()) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("4422", ("127.0.0.1", 4422)),
        (":4422", ("127.0.0.1", 4422)),
        ("localhost:1", ("localhost", 1)),
        ("10.0.0.1:4422", ("10.0.0.1", 4422)),
        ("[::1]:4422", ("::1", 4422)),
    ],
)
def test_an_address_is_loopback_unless_another_is_named(text, found):
    assert address(text) == found


@pytest.mark.parametrize(
    ("host", "own"),
    [
        *(("127.0.0.2", True), ("::1", True), ("localhost", True)),
        *(("0.0.0.0", False), ("10.0.0.1", False), ("example.org", False)),
    ],
)
def test_what_others_can_reach_is_told_from_loopback(host, own):
    assert is_loopback(host) == own


@pytest.mark.parametrize("text", ["x", "::1:4422", "a:99999", "a b:1", "[::1]", "a:-1"])
def test_a_setting_that_is_no_address_is_a_mistake(text):
    with pytest.raises(SettingsError, match=r"control\.listen"):
        Console(Control(listen=text), FakeMonitor(), print)


# -- talking -----------------------------------------------------------------------


def test_several_commands_in_one_packet_are_answered_in_order(tmp_path):
    async def test():
        async with serving(tmp_path) as served, served.client() as client:
            client.writer.write(b"NOOP\nnosuch\r\nFORMAT JSON\nNOOP\nQU")
            first = [await client.hear(), await client.hear()]
            second = [await client.hear_tree(), await client.hear_tree()]
            client.writer.write(b"IT\n")
            return first, second, await client.rest()

    first, second, rest = run(test())
    assert [text[:5] for text in first] == ["[120]", "[101]"]
    assert [tree["code"] for tree in second] == ["104", "120"]
    assert rest == b'{"code":"100","message":"goodbye"}\n'


def test_pretty_json_ends_with_its_one_empty_line(tmp_path):
    async def test():
        async with serving(tmp_path) as served, served.client() as client:
            await client.ask("FORMAT JSON PRETTY")
            return await client.ask("REGTASKS"), await client.ask("NOOP")

    tasks, noop = run(test())
    assert tasks.startswith('{\n  "code": "110",')
    assert '"120"' in noop


def test_a_reading_command_does_not_wait_for_a_slow_one(tmp_path):
    async def test():
        monitor = FakeMonitor()
        monitor.gate = asyncio.Event()
        opened = serving(tmp_path, monitor=monitor)
        async with opened as served, served.client() as slow, served.client() as quick:
            slow.send("ENTITIES")
            await quick.ask("NOOP")
            second = await quick.ask("REGTASKS")
            monitor.gate.set()
            return second, await slow.hear()

    quick, slow = run(test())
    assert "[110]" in quick
    assert "[108]" in slow


def test_whos_tells_the_others_and_how_long_they_are_silent(tmp_path):
    async def test():
        clock = FakeClock()
        opened = serving(tmp_path, clock=clock)
        async with (
            opened as served,
            served.client() as first,
            served.client(tcp=True) as second,
        ):
            await first.ask("NOOP")
            await second.ask("FORMAT HR")
            await second.ask("AUTH lisboa t0ken")
            clock.advance(100)
            await first.tree("FORMAT JSON")
            return await first.tree("WHOS")

    one, other = run(test())["connections"]
    assert (one["type"], one["ncmds"], one["idle"]) == ("unix", 3, 0)
    assert one["login"]
    assert other == {"login": "lisboa", "type": "tcp", "ncmds": 2} | {
        "protocol": "HR",
        "idle": 100,
    }


def test_shutdown_is_answered_and_closes(tmp_path):
    async def test():
        async with serving(tmp_path) as served, served.client() as client:
            client.send("SX")
            return await client.rest(), served.monitor.ended

    rest, ended = run(test())
    assert rest == b"[100] the daemon ends\n\n"
    assert ended


# -- TCP ---------------------------------------------------------------------------


def test_over_tcp_nothing_is_told_before_a_login(tmp_path):
    async def test():
        async with serving(tmp_path) as served, served.client(tcp=True) as client:
            await client.tree("FORMAT JSON")
            before = [await client.tree(x) for x in ("QUERY", "SHUTDWN", "SUBSCRIBE")]
            open_ = [await client.tree(line) for line in ("NOOP", "HELP")]
            await client.tree("AUTH operator s3cret")
            return before, open_, await client.tree("QUERY"), served.monitor

    before, open_, after, monitor = run(test())
    assert {tree["error"] for tree in before} == {"auth_required"}
    assert {tree["code"] for tree in before} == {"107"}
    assert [tree["code"] for tree in open_] == ["120", "130"]
    assert after["code"] == "106"
    assert not monitor.ended
    assert monitor.listeners == []


def test_three_bad_logins_close_the_connection(tmp_path):
    async def test():
        async with serving(tmp_path) as served, served.client(tcp=True) as client:
            for token in ("a", "b", "c"):
                client.send(f"AUTH operator {token}")
            client.send("AUTH operator s3cret")
            return await client.rest()

    rest = run(test()).decode()
    assert rest == "[107] auth_failed: no such name and token\n\n" * 3


def test_an_owner_stops_his_own_rounds_and_not_the_daemon(tmp_path):
    async def test():
        async with serving(tmp_path) as served, served.client(tcp=True) as client:
            await client.tree("FORMAT JSON")
            await client.tree("AUTH lisboa t0ken")
            lines = ("STOP round=40", "STOP round=41", "SHUTDWN", "CHECK 7")
            replies = [await client.tree(line) for line in lines]
            return replies, served.monitor

    (own, other, end, check), monitor = run(test())
    assert (own["code"], other["code"], other["error"]) == ("502", "107", "denied")
    assert (end["code"], end["error"]) == ("107", "denied")
    assert not monitor.ended
    assert check["code"] == "102"
    assert {asked[-1] for asked in monitor.asked} == {"lisboa"}


def test_a_stranger_who_says_nothing_is_cut_soon(tmp_path):
    async def test():
        opened = serving(tmp_path, limits=QUICK)
        async with opened as served, served.client(tcp=True) as client:
            return await client.rest()

    assert run(test()) == b""


# -- subscriptions -----------------------------------------------------------------


def test_results_come_as_events_and_commands_go_on_working(tmp_path):
    async def test():
        async with serving(tmp_path) as served, served.client() as client:
            await client.tree("FORMAT JSON")
            await client.tree("SUBSCRIBE")
            await client.tree("SUBSCRIBE")  # once is enough
            served.monitor.listeners[0](EVENT)
            event, noop = await client.hear_tree(), await client.tree("NOOP")
            await client.tree("UNSUBSCRIBE")
            return event, noop, served.monitor.listeners

    event, noop, listeners = run(test())
    assert event == {
        "code": "200",
        "message": "Not Found",
        "event": "result",
        "gid": 7,
        "url": "https://example.org/wms",
        "state": "broken",
        "reason": "http_404",
        "at": "2027-01-15T08:00:00Z",
        "tasks": [
            {"task": "url_status_codes", "state": "broken", "reason": "http_404"}
            | {"message": "Not Found", "seconds": 1.5}
        ],
    }
    assert noop["code"] == "120"
    assert listeners == []


def test_in_hr_an_event_is_one_line_and_an_empty_one(tmp_path):
    async def test():
        async with serving(tmp_path) as served, served.client() as client:
            await client.ask("SUBSCRIBE")
            served.monitor.listeners[0](EVENT)
            plain = await client.hear()
            await client.ask("FORMAT HR COLOUR")
            served.monitor.listeners[0](EVENT)
            return plain, await client.hear()

    plain, painted = run(test())
    assert plain == "[200] broken 7 https://example.org/wms http_404: Not Found"
    assert painted == plain.replace("broken", "\x1b[31mbroken\x1b[0m")


def test_a_client_that_leaves_is_told_nothing_more(tmp_path):
    async def test():
        async with serving(tmp_path) as served:
            async with served.client() as client:
                await client.ask("SUBSCRIBE")
            async with served.client() as other:
                while '"nconnections":1,' not in str(await other.ask("WHOS")):
                    await other.ask("FORMAT JSON\nFORMAT HR")
                    if not served.monitor.listeners:
                        break
            return served.monitor.listeners

    assert run(test()) == []


def test_a_slow_subscriber_misses_events_and_is_told_how_many(tmp_path):
    async def test():
        limits = Limits(backlog=1000)
        opened = serving(tmp_path, limits=limits)
        async with opened as served, served.client() as client:
            await client.tree("FORMAT JSON")
            await client.tree("SUBSCRIBE")
            [tell] = served.monitor.listeners
            for _ in range(20_000):
                tell(EVENT)  # nobody can read while this goes on
            heard = 0
            client.send("NOOP")
            while (await client.hear_tree())["code"] == "200":
                heard += 1
            tell(EVENT)
            return heard, await client.hear_tree()

    heard, event = run(test())
    assert 0 < heard < 20_000
    assert event["dropped"] == 20_000 - heard


def test_an_event_never_comes_within_a_reply(tmp_path):
    async def test():
        monitor = FakeMonitor()
        monitor.many = 10_000
        limits = Limits(waiting=10)
        opened = serving(tmp_path, monitor=monitor, limits=limits)
        async with opened as served, served.client() as client:
            await client.tree("FORMAT JSON")
            await client.tree("SUBSCRIBE")
            client.send("LSSERV 3 0 10000")
            first = await client.reader.readexactly(1)  # the reply is under way
            for _ in range(25):
                monitor.listeners[0](EVENT)
            rest = await client.reader.readuntil(b"\n")
            events = [await client.hear_tree() for _ in range(10)]
            monitor.listeners[0](EVENT)
            return first + rest, events, await client.hear_tree()

    reply, events, last = run(test())
    assert b'"event"' not in reply
    assert len(reply) > 500_000
    assert [event.get("dropped") for event in events] == [15] + [None] * 9
    assert "dropped" not in last


# -- clients that misbehave --------------------------------------------------------


def test_a_line_of_ten_megabytes_is_refused_and_the_connection_closed(tmp_path):
    async def test():
        async with serving(tmp_path) as served, served.client() as client:
            client.writer.write(b"x" * 10_000_000)
            return await client.rest()

    assert run(test()) == b"[103] a line has 65,536 bytes at most\n\n"


@pytest.mark.parametrize("data", [b"\x00\x01\xff\xfe", b"\xff" * 1000, b"\x16\x03\x01"])
def test_binary_is_no_command(tmp_path, data):
    async def test():
        async with serving(tmp_path) as served, served.client() as client:
            return await client.ask(data), await client.ask("NOOP")

    first, second = run(test())
    assert first.startswith("[101]")
    assert "\n" not in first
    assert second.startswith("[120]")


def test_half_a_line_and_then_silence_is_cut_at_the_idle_time(tmp_path):
    async def test():
        async with serving(tmp_path, idle=0.2) as served, served.client() as client:
            client.writer.write(b"CHECK eid=")
            return await client.rest()

    assert run(test()) == b""


def test_who_listens_may_be_silent(tmp_path):
    async def test():
        opened = serving(tmp_path, idle=0.1)
        async with (
            opened as served,
            served.client() as client,
            served.client() as other,
        ):
            await client.ask("SUBSCRIBE")
            assert await other.rest() == b""  # for more than the idle time
            served.monitor.listeners[0](EVENT)
            return await client.hear()

    assert run(test()).startswith("[200]")


def test_a_thousand_connections_are_turned_away_and_the_first_go_on(tmp_path):
    async def test():
        opened = serving(tmp_path, connections=5)
        async with opened as served, served.client() as first:
            await first.ask("NOOP")
            others = [socket.socket(socket.AF_UNIX) for _ in range(1000)]
            try:
                for other in others:
                    other.setblocking(False)
                    await asyncio.get_running_loop().sock_connect(
                        other, str(served.path)
                    )
                reply = await first.ask("NOOP")
                # The last to come was told why.
                told = await asyncio.get_running_loop().sock_recv(others[-1], 100)
                return reply, told, len(served.console._hall.sessions)
            finally:
                for other in others:
                    other.close()

    reply, told, sessions = run(test())
    assert reply.startswith("[120]")
    assert told == b"[505] too many connections: try again later\n\n"
    assert sessions == 5


def test_strangers_over_tcp_cannot_take_the_places_of_the_unix_socket(tmp_path):
    async def test():
        opened = serving(tmp_path, connections=1)
        async with (
            opened as served,
            served.client(tcp=True) as stranger,
            served.client() as client,
        ):
            await stranger.ask("NOOP")
            async with served.client(tcp=True) as other:
                told = await other.rest()
            return told, await client.ask("NOOP")

    told, reply = run(test())
    assert told.startswith(b"[505]")
    assert reply.startswith("[120]")


def test_a_client_that_never_reads_is_cut_and_costs_no_memory(tmp_path):
    async def test():
        monitor = FakeMonitor()
        monitor.many = 10_000
        async with serving(tmp_path, monitor=monitor, limits=QUICK) as served:
            with socket.socket(socket.AF_UNIX) as deaf:
                deaf.setblocking(False)
                loop = asyncio.get_running_loop()
                await loop.sock_connect(deaf, str(served.path))
                await loop.sock_sendall(deaf, b"LSSERV 3 0 10000\n" * 1000)
                async with served.client() as client:
                    while not monitor.asked:
                        await client.ask("NOOP")
                    while len(served.console._hall.sessions) > 1:
                        await client.ask("NOOP")
            return len(monitor.asked)

    assert run(test()) < 5  # the others were not even begun


def test_a_client_that_leaves_in_the_middle_is_no_trouble(tmp_path):
    async def test():
        monitor = FakeMonitor()
        monitor.gate = asyncio.Event()
        async with serving(tmp_path, monitor=monitor) as served:
            async with served.client() as client:
                client.send("ENTITIES")
                client.send("ENTITIES")
            async with served.client() as other:
                monitor.gate.set()
                return await other.ask("NOOP")

    assert run(test()).startswith("[120]")


def test_at_the_end_connections_are_closed(tmp_path):
    async def test():
        monitor = FakeMonitor()
        monitor.gate = asyncio.Event()
        async with serving(tmp_path, monitor=monitor) as served:
            reader, writer = await asyncio.open_unix_connection(served.path)
            slow_reader, slow_writer = await asyncio.open_unix_connection(served.path)
            writer.write(b"NOOP\n")
            await reader.readuntil(b"\n\n")
            slow_writer.write(b"ENTITIES\n")
            while not monitor.asked:
                writer.write(b"NOOP\n")
                await reader.readuntil(b"\n\n")
        found = await reader.read(), await slow_reader.read()
        writer.close()
        slow_writer.close()
        return found

    assert run(test()) == (b"", b"")
