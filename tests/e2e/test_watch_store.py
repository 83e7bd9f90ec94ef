"""`ronda stats`, `round` and `db`, every help text, and stores that cannot be used."""

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import pytest

from e2e import watched
from e2e.command import Command
from e2e.forks import Forked
from e2e.watched import A, B, Watch, one_line
from ronda.cli import ronda as program
from ronda.cli.watch.adding import UNSERVED
from ronda.model import State
from ronda.store.sql.store import Store
from servers.databases import Databases


class TestNumbers:
    def test_programs_get_all_of_them(self, seen: Watch) -> None:
        found = seen.json("stats")

        assert set(found) >= {"pool", "available", "active", "queue", "by_state"}
        assert found["by_state"] == {
            **dict.fromkeys(map(str, State), 0),
            "ok": 1,
            "broken": 1,
            "warning": 1,
        }
        assert (found["targets"], found["owners"], found["hosts"]) == (3, 1, 2)
        assert found["processes"] == []

    def test_graphers_get_plain_lines(self, seen: Watch) -> None:
        lines = seen("stats", "--munin").out.splitlines()

        assert lines[:2] == ["queue-size:0", "thread-pool:0"]
        assert "state-broken:1" in lines
        assert all(re.fullmatch(r"[a-z-]+:\d+", line) for line in lines)

    def test_people_get_words(self, seen: Watch) -> None:
        out = seen("stats").out

        assert re.search(r"^  broken +1 \(33\.3 %\)$", out, re.MULTILINE)
        assert "No daemon is running" in out

    def test_a_daemon_is_listed_with_its_pool(self, watch: Watch) -> None:
        with Store(watch.db) as store:
            now = store.database.epoch()
            process = store.claims.join(20, now, 60)
            store.claims.renew(process, now, 60, active=3, queued=5)

        found = watch.json("stats")
        assert (found["pool"], found["active"], found["available"]) == (20, 3, 17)
        *_, row = watch("stats").out.splitlines()
        assert row.split()[1] == str(os.getpid())
        assert row.split()[-3:] == ["20", "3", "5"]

    def test_one_form_at_a_time(self, small: Watch) -> None:
        assert "one of them" in one_line(small("stats", "--munin", "--json"), 2)


class TestRounds:
    def test_a_round_lets_what_matches_be_due(self, seen: Watch) -> None:
        ended = seen("round", "start", "again", "--state", "broken", "--force")

        assert (ended.code, ended.out) == (0, f"round again: 1 target\n{UNSERVED}\n")
        [one] = seen.json("round", "list")["rounds"]
        assert (one["name"], one["total"], one["done"]) == ("again", 1, 0)
        assert one["ended_at"] is None
        assert re.search(r"again +\d{4}-\d\d-\d\d .* 0 +1 ", seen("round", "list").out)

    def test_a_round_without_targets_is_told(self, seen: Watch) -> None:
        ended = seen("round", "start", "again")  # all were seen within the hour

        lately = "all were checked less than 60 min ago; see --force"
        told = f"round again: no target matches, or {lately}\n"
        assert (ended.code, ended.out) == (1, told)

    def test_a_round_of_the_settings_is_started_by_its_name(self, seen: Watch) -> None:
        row = 'name = "night"\ncron = "0 2 * * *"\nstate = "ok"\nforced = true\n'
        (seen.folder / "ronda.toml").write_text(f"[[rounds]]\n{row}")

        told = seen("round", "start", "night").out
        assert told == f"round night: 1 target\n{UNSERVED}\n"
        ended = seen("round", "start", "night", "--state", "broken")
        assert "give no filters" in one_line(ended, 2)

    def test_there_may_be_none(self, watch: Watch) -> None:
        ended = watch("round", "list")

        assert (ended.code, ended.out) == (1, "No round yet.\n")

    @pytest.mark.parametrize("name", ["", " "])
    def test_a_round_has_a_name(self, small: Watch, name: str) -> None:
        assert "needs a name" in one_line(small("round", "start", name), 2)


# -- the store itself ------------------------------------------------------------------


class TestKeeping:
    def test_a_good_store_is_found_good(self, seen: Watch) -> None:
        assert seen.json("db", "check") == {"good": True, "problems": []}
        assert seen("db", "check").out.startswith("All is well")

    def test_what_does_not_agree_is_named(self, seen: Watch) -> None:
        watched.run(seen.db, "UPDATE tally SET number = 7 WHERE state = 'ok'")
        ended = seen("db", "check")

        assert ended.code == 1
        assert "the tally says 7 targets are ok, not 1" in ended.out

    def test_old_results_are_forgotten(self, watch: Watch) -> None:
        watch.json("target", "add", A)
        for days in (30, 20, 1):
            watch("target", "check", A, "--force")
            watched.check(watch.db, {A: State.OK}, ago=days * 86_400)

        pruned = watch.json("db", "prune", "--older-than", "10d", "--compact")
        assert pruned["results"] == 2
        history = watch.json("target", "history", A, "--since", "90d")
        assert len(history["results"]) == 1

    def test_it_is_told_from_when_on_all_is_kept(self, small: Watch) -> None:
        small.json("target", "add", A)
        ended = small("db", "prune", "--older-than", "1h")

        words = r"0 results from before \d{4}-\d\d-\d\d \d\d:00:00, 0 hosts, 0 servers"
        assert re.match(f"Forgotten: {words}, 0 robots.txt files", ended.out), ended
        pruned = small.json("db", "prune", "--older-than", "1h")
        assert pruned["before"].endswith(":00:00Z")
        line = one_line(small("db", "prune", "--older-than", "59m"), 2)
        assert "whole hours; 1h at least" in line

    def test_there_is_nothing_to_migrate_in_a_new_store(self, watch: Watch) -> None:
        assert watch.json("db", "migrate") == {"steps": []}
        assert watch("db", "migrate").out == "There is nothing to migrate.\n"

    @pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
    def test_an_empty_database_is_set_up(
        self, databases: Databases, tmp_path: Path, engine: str
    ) -> None:
        with databases.empty(engine, tmp_path / "empty.db") as url:
            watch = Watch(Forked(tmp_path), url)
            assert watch.json("db", "migrate")["steps"]
            assert watch.json("stats")["targets"] == 0

    def test_a_backup_can_be_restored(
        self, seen: Watch, databases: Databases, tmp_path: Path
    ) -> None:
        made = seen.json("db", "backup", "copy")
        assert made == {"file": "copy", "bytes": (tmp_path / "copy").stat().st_size}

        engine = "postgresql" if seen.db.startswith("postgresql") else "sqlite"
        with databases.empty(engine, tmp_path / "new.db") as url:
            new = Watch(seen.command, url)
            assert new.json("db", "restore", "copy")["targets"] == 3
            assert new.json("target", "list") == seen.json("target", "list")
        assert "is there already" in one_line(seen("db", "backup", "copy"), 2)

    def test_an_export_goes_into_a_store_of_either_engine(
        self, seen: Watch, databases: Databases, tmp_path: Path
    ) -> None:
        assert seen.json("db", "export", "all.jsonl.gz")["lines"] > 3
        assert (tmp_path / "all.jsonl.gz").stat().st_mode & 0o777 == 0o600

        for engine in ("sqlite", "postgresql"):
            with databases.empty(engine, tmp_path / "new.db") as url:
                new = Watch(seen.command, url)
                assert new("db", "import", "all.jsonl.gz").code == 0
                assert new.json("target", "list") == seen.json("target", "list")
                shown = new.json("target", "show", B)
                assert shown == seen.json("target", "show", B)

    def test_an_export_goes_through_a_pipe(self, small: Watch, tmp_path: Path) -> None:
        small.json("target", "add", A, B)
        lines = small("db", "export").out.encode()
        new = Watch(small.command, str(tmp_path / "new.db"))

        assert new.json("db", "import", "-", stdin=lines)["rows"] > 3
        assert new.urls() == [A, B]

    def test_an_export_is_not_written_over_anything(
        self, small: Watch, tmp_path: Path
    ) -> None:
        small.json("target", "add", A)
        (tmp_path / "mine").write_text("mine")

        assert "is there already" in one_line(small("db", "export", "mine"), 2)
        assert (tmp_path / "mine").read_text() == "mine"
        assert "No such file" in one_line(small("db", "export", "no/where"), 2)

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (b"https://a.example/\n", "line 1: not an export of Ronda's"),
            (b"", "line 1: not an export of Ronda's"),
            (b"\x1f\x8b\x08\x00", "damaged"),
            (b'{"format":"ronda store","version":99}\n', "newer Ronda"),
            (b'{"format":"ronda store","version":1}\n{"table":"tar', "cut short"),
            (b'{"format":"ronda store","version":1}\n{"table":"x"}\n', "line 2"),
        ],
        ids=["a list", "nothing", "half a gzip", "a newer one", "cut", "no table"],
    )
    def test_what_is_no_export_is_told(
        self, small: Watch, data: bytes, words: str
    ) -> None:
        small.json("db", "migrate")
        (small.folder / "file").write_bytes(data)

        assert words in one_line(small("db", "import", "file"), 2)
        assert small.json("stats")["targets"] == 0

    @pytest.mark.parametrize("command", ["import", "restore"])
    def test_a_copy_that_fails_leaves_no_store_behind(
        self, tmp_path: Path, command: str
    ) -> None:
        (tmp_path / "file").write_text("https://a.example/\n")
        (tmp_path / "mine").write_text("not a database\n" * 100)
        before = {path: path.read_bytes() for path in tmp_path.iterdir()}

        for file, db in (("file", "new.db"), ("no", "new.db"), ("file", "mine")):
            one_line(Watch(Forked(tmp_path), db)("db", command, file), 2)
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before

    def test_who_fails_to_add_leaves_no_store_behind(self, tmp_path: Path) -> None:
        watch = Watch(Forked(tmp_path), "new.db")

        assert "no owner" in one_line(watch("target", "add", A, "--owner", "x"), 1)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("command", ["import", "restore"])
    def test_only_an_empty_store_is_filled(self, small: Watch, command: str) -> None:
        small.json("target", "add", A)
        small.json("db", "export", "all.jsonl")

        assert "not empty" in one_line(small("db", command, "all.jsonl"), 2)
        assert "No such file" in one_line(small("db", command, "no.jsonl"), 2)


@pytest.mark.parametrize(
    "arguments",
    [
        ("target", "disable", A, "--why"),
        ("target", "list", "--text"),
        ("target", "list", "--host"),
        ("target", "list", "--label"),
        ("target", "list", "--reason"),
        ("target", "list", "--after"),
        ("target", "add", A, "--label"),
        ("target", "add", A, "--owner"),
        ("owner", "add"),
        ("owner", "add", "desk", "--contact"),
        ("owner", "add", "desk", "--callback"),
        ("round", "start"),
        ("db", "backup"),
        ("target", "show"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("text", ["x\udcff", "x\ny"], ids=["bytes", "lines"])
def test_what_is_no_text_is_told(
    small: Watch, arguments: tuple[str, ...], text: str
) -> None:
    watched.add(small.db, A)

    one_line(small(*arguments, text), 2)


class TestUnusableStores:
    @pytest.mark.parametrize(
        ("where", "words"),
        [
            ("no.db", "no store there yet; `ronda target add URL` makes one"),
            ("folder", "folder: "),
            ("text", "--db text: not a database"),
            ("mysql://a.example/x", "neither a file nor postgresql://"),
            ("postgresql://me:secret@127.0.0.1:1/x", "127.0.0.1"),
            ("other.db", "of another program"),
        ],
    )
    @pytest.mark.parametrize("command", ["stats", "db check"])
    def test_one_line_says_why(
        self, tmp_path: Path, where: str, words: str, command: str
    ) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "text").write_text("no database at all\n" * 100)
        with closing(sqlite3.connect(tmp_path / "other.db")) as other:
            other.execute("CREATE TABLE orders (id INTEGER)")
            other.commit()

        line = one_line(Watch(Forked(tmp_path), where)(*command.split()), 2)
        assert words in line
        assert "secret" not in line

    def test_a_store_that_cannot_be_made_is_told(self, ronda: Command) -> None:
        line = one_line(ronda("target", "add", A, "--db", "/proc/x/ronda.db"), 2)

        assert "--db /proc/x/ronda.db: there is no folder /proc/x" in line

    @pytest.mark.parametrize("command", ["stats", "db migrate", "db check"])
    def test_a_store_of_a_newer_ronda_is_left_alone(
        self, watch: Watch, command: str
    ) -> None:
        watched.run(watch.db, "UPDATE ronda_version SET version_num = '9999'")

        line = one_line(watch(*command.split()), 2)
        assert "written by a newer Ronda: use that one" in line

    def test_a_damaged_file_is_told(self, small: Watch) -> None:
        small.json("target", "add", A)
        with Path(small.db).open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * 8192)
        ended = small("db", "check")

        assert ended.code in {1, 2}
        assert re.search("damaged|malformed", ended.out + ended.err)


# -- help ------------------------------------------------------------------------------


def _commands(group: click.Group, path: str = "ronda") -> Iterator[tuple[str, Any]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from _commands(command, f"{path} {name}")


COMMANDS = dict(_commands(program))
OURS = {
    "target": "add list show remove enable disable check ack history",
    "owner": "add list show set remove token notices",
    "register": "",
    "service": "add list show",
    "round": "start list show watch stop",
    "stats": "",
    "db": "migrate check prune backup restore export import",
}


def test_every_command_of_the_store_is_there_in_order() -> None:
    for name, words in OURS.items():
        under = [path.split()[2:] for path in COMMANDS if path.split()[1] == name]
        assert under == [[], *([word] for word in words.split())]


@pytest.mark.parametrize("path", COMMANDS)
def test_every_help_text_has_examples_and_says_what_each_option_does(path: str) -> None:
    command = COMMANDS[path]
    text = command.get_help(click.Context(command, info_name=path))

    assert command.short_help or text
    if path.split()[1] in OURS:
        assert re.search(rf"^    {path}\b", text, re.MULTILINE), "no example"
        assert "Examples:" in text
    for option in command.params:
        assert isinstance(option, click.Argument) or option.help, option


@pytest.mark.parametrize(
    "path",
    [
        path
        for path, command in COMMANDS.items()
        if path.split()[1] in OURS and not isinstance(command, click.Group)
    ],
)
def test_every_command_of_the_store_takes_the_same_options(path: str) -> None:
    flags = {flag for option in COMMANDS[path].params for flag in option.opts}

    assert flags >= {"--json", "--db", "--config", "--no-colour"}
    assert "Ends with 0" in COMMANDS[path].help


def test_help_is_printed_by_every_group(ronda: Command) -> None:
    for name in OURS:
        ended = ronda(name, "--help")
        assert (ended.code, ended.err) == (0, "")
        assert ended.out.startswith(f"Usage: python -m ronda {name}")


def test_a_command_that_is_not_there_is_told_with_the_nearest(ronda: Command) -> None:
    line = one_line(ronda("target", "lits"), 2)

    assert "did you mean list? See 'python -m ronda target --help'" in line
