"""`ronda serve`: its life from the first line to the last."""

import hashlib
import hmac
import json
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.daemon import SECONDS, Daemon
from e2e.serving import NO_ROBOTS, Served, Slow, settings, slow, until
from ronda.model import State
from servers.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path / "site", NO_ROBOTS) as opened:
        opened.write("/fine.html", "fine")
        opened.write("/other.html", "fine")
        yield opened


@pytest.fixture
def held() -> Iterator[Slow]:
    """A server that answers when the test lets it."""
    with slow() as opened:
        yield opened


@pytest.fixture
def served(tmp_path: Path, database_url: str) -> Served:
    return Served(tmp_path, database_url)


@pytest.fixture
def small(tmp_path: Path) -> Served:
    """For what no engine makes a difference to: a file that is not there yet."""
    return Served(tmp_path, str(tmp_path / "small.db"))


def last_words(daemon: Daemon) -> list[str]:
    """What it said, without the moments."""
    return [re.sub(r"^\S+Z ", "", line) for line in daemon.told]


def _notices(told: Slow) -> list[dict[str, str]]:
    """What an owner was told of changes, without reconciliations."""
    bodies = [json.loads(body) for _, body in list(told.sent)]
    batches = [body["notices"] for body in bodies if body["kind"] == "notices"]
    return [notice for batch in batches for notice in batch]


class TestWatching:
    def test_what_is_added_while_it_runs_is_checked(self, served: Served, site: Site):
        with served.serving() as daemon:
            assert "0 targets" in daemon.told[-1]
            served.call("target", "add", site.url("/fine.html"), site.url("/gone"))

            daemon.line("/fine.html (was unknown) http_200")
            daemon.line("/gone (was unknown) http_404")
            assert daemon.stop() == 0
        assert served.states() == {
            site.url("/fine.html"): "ok",
            site.url("/gone"): "broken",
        }
        assert last_words(daemon)[-1] == "ronda: stopped; nothing is lost"

    def test_whoever_adds_something_wakes_it(self, small: Served, site: Site):
        runtime = small.folder / "ronda"
        runtime.mkdir(mode=0o700)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(runtime / "1.sock"))
            listening.listen()
            listening.settimeout(SECONDS)
            adding = small.command.start(
                *("target", "add", site.url("/fine.html"), "--db", small.where),
                env={"XDG_RUNTIME_DIR": str(small.folder)},
            )
            with adding:
                heard, _ = listening.accept()
                with heard:
                    assert json.loads(heard.recv(4096))["poke"] is True

    def test_a_forced_check_is_made_at_once(self, small: Served, site: Site):
        url = site.url("/fine.html")
        small.call("target", "add", url)
        with small.serving("--verbose") as daemon:
            daemon.line("/fine.html (was unknown)")
            (site.root / "fine.html").unlink()
            small.call("target", "check", url, "--force")

            daemon.line("/fine.html (was ok) http_404")
            assert daemon.stop() == 0

    def test_a_round_is_counted_to_its_end(self, served: Served, site: Site):
        pages = [site.url("/fine.html"), site.url("/other.html"), site.url("/gone")]
        served.call("target", "add", *pages)
        with served.serving("--verbose") as daemon:
            for _ in pages:
                daemon.line("(was unknown)")
            served.call("round", "start", "all", "--force")

            def ended() -> bool:
                [found] = served.json("round", "list")["rounds"]
                return found["ended_at"] is not None and found["done"] == 3

            until(ended, "the round does not end")
            assert daemon.stop() == 0
        assert set(served.results().values()) == {2}

    def test_an_owner_gets_a_signed_notice(
        self, served: Served, site: Site, held: Slow
    ):
        added = served.json("owner", "add", "desk", "--callback", held.url("/told"))
        served.call("target", "add", site.url("/gone"), "--owner", "desk")
        with served.serving() as daemon:
            until(lambda: bool(_notices(held)), "nobody was told")
            assert daemon.stop() == 0

        key = hashlib.sha256(added["token"].encode()).hexdigest().encode()
        for headers, body in held.sent:
            words = headers["ronda-timestamp"].encode() + b"." + body
            signed = hmac.new(key, words, "sha256").hexdigest()
            assert headers["ronda-signature"] == f"sha256={signed}"
        [notice] = _notices(held)
        assert (notice["url"], notice["state"]) == (site.url("/gone"), "broken")

    def test_stats_and_why_tell_of_it(self, served: Served, held: Slow):
        served.call("target", "add", held.url("/held"))
        with served.serving() as daemon:
            assert held.came.wait(SECONDS)
            until(
                lambda: len(served.json("stats")["processes"]) == 1, "no process in it"
            )
            why = served.why(held.url("/held"))
            assert why.code == 0, why
            assert f"process {daemon.process.pid}, under way" in why.out
            assert "127.0.0.1: it is being asked now" in why.out
            assert "targets" in served.call("stats")
            held.answers.set()
            daemon.line("/held (was unknown)")
            until(
                lambda: "until the next target is due: " in served.why().out,
                "it is not said what it waits for",
            )
            assert daemon.stop() == 0
        assert served.json("stats")["processes"] == []


class TestEnding:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_what_is_under_way_ends_and_is_written(
        self, served: Served, held: Slow, number: signal.Signals
    ):
        served.set(settings(grace=20.0))
        served.call("target", "add", held.url("/held"))
        with served.serving() as daemon:
            assert held.came.wait(SECONDS)
            daemon.send(number)
            daemon.line("stopping: what is under way has 20 s")
            held.answers.set()

            assert daemon.process.wait(SECONDS) == 0
        assert served.states() == {held.url("/held"): "ok"}
        assert served.call("db", "check")

    def test_the_grace_time_ends(self, served: Served, held: Slow):
        served.set(settings(grace=0.3))
        served.call("target", "add", held.url("/held"))
        with served.serving() as daemon:
            assert held.came.wait(SECONDS)
            assert daemon.stop() == 0
        assert served.states() == {held.url("/held"): "unknown"}
        assert served.results() == {}
        served.call("db", "check")

    def test_a_second_signal_ends_it_at_once_and_nothing_is_lost(
        self, served: Served, held: Slow
    ):
        served.set(settings(grace=600.0))
        served.call("target", "add", held.url("/held"))
        with served.serving() as daemon:
            assert held.came.wait(SECONDS)
            daemon.send(signal.SIGTERM)
            daemon.line("stopping")
            assert daemon.stop() == 0
        assert served.states() == {held.url("/held"): "unknown"}
        served.call("db", "check")
        held.answers.set()
        with served.serving() as daemon:
            daemon.line("/held (was unknown)")
            assert daemon.stop() == 0

    def test_a_signal_right_after_its_first_line_is_heard(self, served: Served):
        with served.serving() as daemon:
            assert daemon.stop() == 0


class TestSettings:
    def test_a_good_file_is_taken(self, small: Served, site: Site):
        small.call("target", "add", site.url("/fine.html"))
        with small.serving("--verbose") as daemon:
            daemon.line("/fine.html (was unknown)")
            small.set(settings(again=0.5))
            daemon.send(signal.SIGHUP)
            daemon.line("settings were read again")
            small.call("target", "add", site.url("/other.html"))

            daemon.line("/other.html (was unknown)")
            daemon.line("/other.html http_200")
            daemon.line("/other.html http_200")
            assert daemon.stop() == 0
        assert small.results()[site.url("/fine.html")] == 1

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("[fetch]\ntimeout = 'soon'", "fetch.timeout"),
            ("[[[", "serve.toml"),
            (
                '[[rounds]]\nname = "night"\ncron = "61 * * * *"',
                "ronda: serve.toml: rounds[0].cron: ",
            ),
        ],
        ids=["a wrong type", "no TOML", "a wrong cron"],
    )
    def test_a_bad_file_is_told_in_one_line_and_left(
        self, small: Served, site: Site, text: str, words: str
    ):
        with small.serving() as daemon:
            small.set(text)
            daemon.send(signal.SIGHUP)
            told = daemon.line("going on with the settings as they were")
            assert words in told
            small.call("target", "add", site.url("/fine.html"))

            daemon.line("/fine.html (was unknown)")
            assert daemon.stop() == 0
        assert len(daemon.told) == 5, daemon.told

    def test_a_file_that_is_gone_is_told_in_one_line(self, small: Served):
        with small.serving() as daemon:
            (small.folder / "serve.toml").unlink()
            daemon.send(signal.SIGHUP)
            daemon.line("going on with the settings as they were")
            assert daemon.stop() == 0

    def test_a_file_that_was_found_and_is_gone_is_told_in_one_line(
        self, small: Served, site: Site
    ):
        (small.folder / "serve.toml").rename(small.folder / "ronda.toml")
        with Daemon(small.folder, "--db", small.where) as daemon:
            daemon.line("serving")
            (small.folder / "ronda.toml").unlink()
            daemon.send(signal.SIGHUP)
            told = daemon.line("going on with the settings as they were")
            assert "ronda: ronda.toml: No such file or directory; going on" in told
            assert daemon.stop() == 0

    def test_checks_under_way_outlive_new_settings(self, small: Served, held: Slow):
        small.call("target", "add", held.url("/held"))
        with small.serving() as daemon:
            assert held.came.wait(SECONDS)
            daemon.send(signal.SIGHUP)
            daemon.line("settings were read again")
            held.answers.set()

            daemon.line("/held (was unknown)")
            assert daemon.stop() == 0
        assert small.results() == {held.url("/held"): 1}

    def test_a_wrong_round_ends_it_at_the_start(self, small: Served):
        wrong = '[[rounds]]\nname = "night"\ncron = "61 * * * *"'
        small.set(settings(more=wrong))
        with small.start() as daemon:
            assert daemon.process.wait(SECONDS) == 2
        [line] = daemon.told
        assert "rounds[0].cron: " in line


class TestSystemd:
    def test_it_is_told_of_every_stage(self, small: Served, tmp_path: Path):
        name = str(tmp_path / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
            listening.bind(name)
            listening.settimeout(SECONDS)

            def hear() -> str:
                return listening.recv(4096).decode()

            env = {"NOTIFY_SOCKET": name}
            with small.start(env=env) as daemon:
                assert hear() == "READY=1"
                daemon.send(signal.SIGHUP)
                assert hear().startswith("RELOADING=1\nMONOTONIC_USEC=")
                assert hear() == "READY=1"
                small.set("[[[")
                daemon.send(signal.SIGHUP)
                assert hear().startswith("RELOADING=1\nMONOTONIC_USEC=")
                assert hear() == "READY=1"
                daemon.send(signal.SIGTERM)
                assert hear() == "STOPPING=1"
                assert daemon.stop() == 0

    def test_it_gives_signs_of_life(self, small: Served, tmp_path: Path):
        name = str(tmp_path / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
            listening.bind(name)
            listening.settimeout(SECONDS)
            env = {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "200000"}
            with small.start(env=env) as daemon:
                heard = [listening.recv(4096).decode() for _ in range(6)]
                assert daemon.stop() == 0
        assert heard.count("WATCHDOG=1") == 5
        assert heard.count("READY=1") == 1


class TestSharing:
    def test_a_second_one_on_a_file_is_refused_in_one_line(self, small: Served):
        with small.serving() as daemon:
            with small.start() as second:
                assert second.process.wait(SECONDS) == 2
            [line] = second.told
            assert f"process {daemon.process.pid} serves it already" in line
            with small.start("--share") as third:
                assert third.process.wait(SECONDS) == 2
            [line] = third.told
            assert "start that one with --share too" in line
            assert daemon.stop() == 0

    def test_those_that_share_all_serve(self, served: Served, site: Site):
        share = () if served.where.startswith("postgresql") else ("--share",)
        with served.serving(*share) as one, served.serving(*share) as two:
            until(
                lambda: len(served.json("stats")["processes"]) == 2,
                "the two are not seen",
            )
            hosts = [f"127.0.0.{number}" for number in range(1, 9)]
            served.call(
                "target", "add", *(site.url("/fine.html", host) for host in hosts)
            )
            until(
                lambda: set(served.states().values()) == {"ok"}, "not all were checked"
            )
            assert one.stop() == 0
            assert two.stop() == 0
        assert set(served.results().values()) == {1}


class TestDemo:
    def test_it_shows_every_state_and_ends_well(self, tmp_path: Path):
        with Daemon(tmp_path, "--demo") as daemon:
            daemon.line("Ctrl-C ends it")
            missing = set(State) - {State.UNKNOWN}
            while missing:
                line = daemon.line("(was unknown)")
                missing -= {State(line.split()[1])}
            daemon.line("the owner museum is told by a POST: ")
            assert daemon.stop() == 0
        assert daemon.told[-1].startswith("At the end: ")
