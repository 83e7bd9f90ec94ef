"""`ronda console` as people and cron call it, against a daemon by hand."""

import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from monitored import EVENT, SECONDS, FakeMonitor, served_beside
from ronda.server.console.sessions import Limits

RONDA = (sys.executable, "-m", "ronda", "console")
SUBSCRIBED = "results follow"


@pytest.fixture
def served(tmp_path):
    with served_beside(tmp_path / "run") as found:
        yield found


def environment(folder, **more):
    kept = {name: value for name, value in os.environ.items() if "COLOR" not in name}
    kept.pop("RONDA_TOKEN", None)
    ours = {"XDG_STATE_HOME": str(folder / "state"), "TERM": "xterm"}
    return kept | ours | {"XDG_RUNTIME_DIR": str(folder / "run")} | more


def called(folder, *words, given="", **more):
    done = subprocess.run(
        [*RONDA, *words],
        input=given.encode(errors="surrogateescape"),
        capture_output=True,
        env=environment(folder, **more),
        cwd=folder,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


# -- one command -------------------------------------------------------------------


def test_a_command_is_carried_out_and_that_is_all(tmp_path, served):
    code, out, err = called(tmp_path, "CHECK", "eid=3", "Lis boa%")

    assert (code, err) == (0, "")
    assert out.startswith("[102] OK: 2 rounds of 15 visits\n")
    assert served.monitor.asked[0][2:4] == ((3,), ("Lis boa%",))


def test_the_socket_can_be_named_here_and_in_the_settings(tmp_path, served):
    elsewhere = {"XDG_RUNTIME_DIR": str(tmp_path / "nowhere")}
    (tmp_path / "other.toml").write_text(f'[control]\nsocket = "{served.path}"\n')

    by_option = called(tmp_path, "--socket", str(served.path), "NOOP", **elsewhere)
    by_file = called(tmp_path, "--config", "other.toml", "noop", **elsewhere)
    assert by_option == by_file == (0, "[120] nothing done\n", "")


def test_json_is_one_line_and_pretty_json_is_several(tmp_path, served):
    plain = called(tmp_path, "REGTASK", "--json")
    pretty = called(tmp_path, "--pretty", "REGTASK")

    assert plain[1].count("\n") == 1
    assert json.loads(plain[1]) == json.loads(pretty[1])
    assert pretty[1].startswith("{\n")


def test_options_of_a_command_are_its_own(tmp_path, served):
    assert called(tmp_path, "ENTITIES", "-alpha")[0] == 0
    assert served.monitor.asked == [("entities", "", True)]


def test_when_the_daemon_says_no_the_exit_code_is_1(tmp_path, served):
    assert called(tmp_path, "CHECK", "99")[:2] == (
        *(1, "[105] none of the services exists\n"),
    )
    code, out, _ = called(tmp_path, "--json", "nosuch")
    assert (code, json.loads(out)["code"]) == (1, "101")


def test_without_a_daemon_it_says_what_to_do(tmp_path):
    path = tmp_path / "run" / "ronda" / "control.sock"
    line = f"ronda: no daemon at {path}: start one with ronda serve\n"
    assert called(tmp_path, "NOOP") == (2, "", line)

    path.parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    assert called(tmp_path, "NOOP") == (2, "", line)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["q"], "may be any of"),
        (["--tcp", "x", "NOOP"], "not an address and a port"),
        (["--tcp", "1", "--socket", "x", "NOOP"], "not both"),
        (["--tcp", "1", "--owner", "a", "NOOP"], "wants both"),
        (["--tcp", "1", "--token-file", "nosuch", "NOOP"], "No such file"),
        (["--timeout", "0", "NOOP"], "--timeout"),
        (["CHECK", "a\nb"], "one line of text"),
        (["--socket", "none", "NOOP"], "control.socket: none"),
        (["HELP", "nosuch"], "no such command"),
        (["FORMAT", "XML"], "invalid format"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(tmp_path, words, told):
    code, out, err = called(tmp_path, *words)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err


def test_help_needs_no_daemon(tmp_path):
    code, out, _ = called(tmp_path, "HELP", "check")
    assert (code, out.split("\n")[0][:9]) == (0, "CHECK gid")

    assert "EXIT or Ctrl-D ends" in called(tmp_path, "?")[1]
    assert called(tmp_path, "-h")[1].startswith("Usage: ")
    assert called(tmp_path, "exit") == (0, "", "")


def test_a_daemon_that_is_silent_is_not_waited_for_for_ever(tmp_path):
    path = tmp_path / "silent.sock"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(path))
        silent.listen()
        words = ("--socket", str(path), "--timeout", "0.2", "NOOP")
        code, _, err = called(tmp_path, *words)

    assert code == 2
    assert "no reply within 0.2 s" in err


def test_a_daemon_with_too_many_clients_is_told_in_any_format(tmp_path):
    opened = served_beside(tmp_path / "run", connections=1)
    with opened as served, socket.socket(socket.AF_UNIX) as first:
        first.connect(str(served.path))
        first.sendall(b"NOOP\n")
        assert first.recv(100)
        plain, tree = called(tmp_path, "NOOP"), called(tmp_path, "--json", "NOOP")

    assert plain == tree
    assert plain[0] == 2
    assert "has too many clients" in plain[2]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b"220 mail.example.org ESMTP\n", "no control socket of ronda"),
        (b'{"code":"104"}\n{"cod', "is lost: "),
    ],
)
def test_what_speaks_no_protocol_or_breaks_off_is_told(tmp_path, said, told):
    def reply():
        with listening.accept()[0] as connected:
            connected.recv(100)
            connected.sendall(said)

    path = tmp_path / "mail.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        thread = threading.Thread(target=reply)
        thread.start()
        code, _, err = called(tmp_path, "--socket", str(path), "--json", "NOOP")
        thread.join()

    assert code == 2
    assert told in err


# -- over TCP ----------------------------------------------------------------------


def test_over_tcp_the_token_comes_from_a_file_or_the_environment(tmp_path, served):
    (tmp_path / "token").write_text("t0ken\n")
    where = ("--tcp", f"127.0.0.1:{served.port}", "--owner", "lisboa")
    by_file = called(tmp_path, *where, "--token-file", "token", "STOP", "round=40")
    by_variable = called(tmp_path, *where, "STOP", "round=41", RONDA_TOKEN="t0ken")

    assert by_file[:2] == (0, "[502] stopping 1 round\nround 40: round 40\n")
    assert by_variable[0] == 1
    assert by_variable[1].startswith("[107] denied: ")


def test_a_wrong_token_is_told_and_so_is_none(tmp_path, served):
    where = ("--tcp", f"127.0.0.1:{served.port}")
    wrong = called(tmp_path, *where, "--owner", "lisboa", "NOOP", RONDA_TOKEN="x")
    none = called(tmp_path, *where, "QUERY")

    assert wrong[0] == 2
    assert "auth_failed" in wrong[2]
    assert none[0] == 1
    assert "auth_required" in none[1]


# -- many commands -----------------------------------------------------------------


def test_from_a_pipe_each_line_is_a_command(tmp_path, served):
    lines = "jobl\n\nFORMAT JSON\nNOOP\nnosuch \udcff\nEXIT\nNOOP\n"
    code, out, err = called(tmp_path, given=lines)

    assert (code, err) == (1, "")
    assert "[114] 1 visit under way" in out
    assert [json.loads(line)["code"] for line in out.splitlines()[-3:]] == [
        *("104", "120", "101"),
    ]


def test_subscribe_shows_results_until_it_is_interrupted(tmp_path, served):
    command = [*RONDA, "--json", "SUBSCRIBE"]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, env=environment(tmp_path), cwd=tmp_path
    )
    with running:
        assert SUBSCRIBED in running.stdout.readline().decode()
        served.call(served.monitor.listeners[0], EVENT)
        event = json.loads(running.stdout.readline())
        running.send_signal(signal.SIGINT)
        code = running.wait(SECONDS)

    assert (event["code"], event["gid"], code) == ("200", 7, 0)


def test_a_large_reply_comes_whole(tmp_path):
    monitor = FakeMonitor()
    monitor.many = 10_000
    with served_beside(tmp_path / "run", monitor=monitor, limits=Limits()):
        code, out, _ = called(tmp_path, "LSSERV", "3", "limit=10000")

    assert code == 0
    assert out.count("\n") == 10_000 + 8  # with title, head, foot and five lines


# -- the prompt --------------------------------------------------------------------


class Terminal:
    """The prompt, at a terminal."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._seen = ""

    def answer(self, text: str) -> None:
        """Type something, once the prompt is there: before, a Tab is only a tab."""
        self.until("ronda> ")
        os.write(self._descriptor, text.encode())

    def until(self, words: str) -> str:
        """What is shown, up to some words."""
        deadline = time.monotonic() + SECONDS
        while words not in self._seen:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self._descriptor], [], [], max(left, 0))
            assert ready, f"not shown: {words!r}; but: {self._seen!r}"
            self._seen += os.read(self._descriptor, 65536).decode(errors="replace")
        shown, _, self._seen = self._seen.partition(words)
        return shown + words


@contextmanager
def prompt(folder, *words, **more):
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [*RONDA, *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(folder, **more),
        cwd=folder,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Terminal(ours), running
    finally:
        running.kill()
        running.wait()
        os.close(ours)


def test_the_prompt_completes_abbreviates_helps_and_leaves(tmp_path, served):
    with prompt(tmp_path) as (terminal, running):
        terminal.answer("jobl\n")
        terminal.until("[114] 1 visit under way")
        terminal.answer("REGT\t\n")
        terminal.until("[110] 6 registered tasks")
        terminal.answer("CHECK e\t3\n")
        terminal.until("eid=3")
        terminal.until("[102] OK: 1 round of 10 visits")
        terminal.answer("HELP STOP\n")
        terminal.until("STOP [round=ID]: stop one round")
        terminal.answer("s\n")
        terminal.until("may be any of")
        terminal.answer("\n")
        terminal.answer("EXIT\n")

        assert running.wait(SECONDS) == 0
    assert served.monitor.asked[-1][2] == (3,)


def test_states_are_in_colour_at_a_terminal_unless_it_is_not_wanted(tmp_path, served):
    with prompt(tmp_path) as (terminal, _):
        terminal.answer("TASKRES 7\n")
        coloured = terminal.until("[118] 2 task results")
    with prompt(tmp_path, NO_COLOR="1") as (terminal, _):
        terminal.answer("TASKRES 7\n")
        plain = terminal.until("[118] 2 task results")

    assert "\x1b[31mbroken" in coloured
    assert "\x1b[31m" not in plain
    assert "broken" in plain


def test_the_history_is_kept_but_not_tokens(tmp_path, served):
    history = tmp_path / "state" / "ronda" / "console_history"
    with prompt(tmp_path) as (terminal, running):
        terminal.answer("NOOP\n")
        terminal.until("[120] nothing done")
        terminal.answer("auth operator s3cret\n")
        terminal.until("[102] OK: you are operator")
        terminal.answer("\x04")
        assert running.wait(SECONDS) == 0

    assert history.read_text() == "NOOP\n"
    assert history.stat().st_mode & 0o777 == 0o600


def test_ctrl_c_ends_a_subscription_and_a_line_but_not_the_prompt(tmp_path, served):
    with prompt(tmp_path) as (terminal, running):
        terminal.answer("SUBSCRIBE\n")
        terminal.until(SUBSCRIBED)
        served.call(served.monitor.listeners[0], EVENT)
        terminal.until("[200] ")
        running.send_signal(signal.SIGINT)
        terminal.answer("SHUT")
        terminal.until("SHUT")
        running.send_signal(signal.SIGINT)
        terminal.answer("NOOP\n")
        terminal.until("[120] nothing done")

    assert not served.monitor.ended


def test_a_daemon_that_went_is_told_and_the_next_one_is_found(tmp_path):
    with prompt(tmp_path) as (terminal, _):
        with served_beside(tmp_path / "run"):
            terminal.answer("NOOP\n")
            terminal.until("[120] nothing done")
        terminal.answer("NOOP\n")
        terminal.until("no daemon at")
        with served_beside(tmp_path / "run"):
            terminal.answer("SX\n")
            terminal.until("[100] the daemon ends")
            terminal.answer("WHOS\n")
            terminal.until("[112] 1 connection")
