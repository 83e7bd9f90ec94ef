"""What a newcomer is told by the commands over the store, and how they end."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from e2e import watched
from e2e.forks import Forked
from e2e.watched import A, B, C, Watch, one_line

UNSERVED = "No daemon is running: `ronda serve` checks them.\n"
NOWHERE = "https://nowhere.example/"


def damage(path: Path) -> None:
    """Leave only the first page of an SQLite file as it was."""
    with path.open("r+b") as file:
        file.seek(2048)
        file.write(b"\xff" * (path.stat().st_size - 2048))


class TestDamage:
    @pytest.fixture
    def copied(self, small: Watch) -> Watch:
        """A store, and a copy of it."""
        watched.add(small.db, A, B)
        small.json("db", "backup", "copy")
        return small

    def test_what_to_do_about_a_damaged_store_works(self, copied: Watch) -> None:
        damage(Path(copied.db))
        advice = "damaged: move it away, and `ronda db restore BACKUP` makes it anew"

        for arguments in (("target", "list"), ("db", "restore", "copy")):
            line = one_line(copied(*arguments), 2)
            assert line == f"ronda: --db {copied.db}: {advice}\n"
        Path(copied.db).rename(copied.folder / "damaged.db")
        assert copied.json("db", "restore", "copy")["targets"] == 2

    def test_a_damaged_backup_is_told_from_a_damaged_store(self, copied: Watch) -> None:
        damage(copied.folder / "copy")
        new = Watch(copied.command, "new.db")

        line = one_line(new("db", "restore", "copy"), 2)
        assert line.startswith("ronda: copy: this backup is damaged: ")
        assert not (copied.folder / "new.db").exists()

    def test_a_damaged_store_is_not_taken_for_its_backup(self, copied: Watch) -> None:
        with closing(sqlite3.connect(copied.db)) as file:
            sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'target'"
            [page] = file.execute(sql).fetchone()
        with Path(copied.db).open("r+b") as file:
            file.seek((page - 1) * 2048)
            file.write(b"\xff" * 2048)

        line = one_line(copied("db", "backup", "another"), 2)
        assert line.startswith(f"ronda: --db {copied.db}: damaged: move it away")


class TestEvery:
    def test_a_pace_that_was_set_is_shown(self, watch: Watch) -> None:
        watch.json("target", "add", A, "--every", "6h")
        watch.json("target", "add", B)

        assert "every       6 h" in watch("target", "show", A).out
        assert "\nevery" not in watch("target", "show", B).out
        assert watch.json("target", "show", A)["target"]["every"] == 21_600.0
        assert watch.json("target", "show", B)["target"]["every"] is None
        listed = watch.json("target", "list")["targets"]
        assert [one["every"] for one in listed] == [21_600.0, None]

    def test_a_pace_can_be_given_back_to_the_rules(self, watch: Watch) -> None:
        watch.json("target", "add", A, "--every", "6h")
        watch.json("target", "add", A)
        assert watch.json("target", "show", A)["target"]["every"] == 21_600.0

        watch.json("target", "add", A, B, "--every", "rules")

        listed = watch.json("target", "list")["targets"]
        assert [one["every"] for one in listed] == [None, None]

    def test_what_else_may_stand_there_is_told(self, small: Watch) -> None:
        line = one_line(small("target", "add", A, "--every", "never"), 2)

        assert "write 90s, 10m, 6h or 7d, or rules" in line


class TestDisabling:
    def test_a_reason_stays_until_another_is_given(self, watch: Watch) -> None:
        watched.add(watch.db, A, B)
        watch("target", "disable", A, "--why", "rebuilt")

        ended = watch("target", "disable", A, B)
        assert ended.out == "2 of 2 disabled, 1 of them already.\n"
        [first, second] = watch.json("target", "list")["targets"]
        assert (first["why_disabled"], second["why_disabled"]) == ("rebuilt", "")
        assert watch.json("target", "disable", A, "--why", "gone")["already"] == 1
        assert watch.json("target", "show", A)["target"]["why_disabled"] == "gone"


class TestAdvice:
    def test_the_operator_stays_with_or_without_targets(self, watch: Watch) -> None:
        watched.add(watch.db, A)

        for more in ((), ("--force",)):
            line = one_line(watch("owner", "remove", "operator", *more), 2)
            assert line == "ronda: operator runs Ronda, and stays\n"

    @pytest.mark.parametrize("command", [("list",), ("add", A)], ids=["list", "add"])
    def test_a_folder_that_is_missing_is_named(
        self, tmp_path: Path, command: tuple[str, ...]
    ) -> None:
        watch = Watch(Forked(tmp_path), "no/where/x.db")

        line = one_line(watch("target", *command), 2)
        assert line == "ronda: --db no/where/x.db: there is no folder no/where\n"

    def test_whose_a_target_is_is_asked_for(self, watch: Watch) -> None:
        watch.json("owner", "add", "desk")
        watch.json("target", "add", A, "--owner", "desk")

        ended = watch("target", "remove", A)
        words = "operator does not watch it; see --owner and --everybody"
        assert (ended.code, ended.out) == (1, f"0 of 1 removed: {words}.\n")
        ended = watch("target", "ack", A)
        words = "operator does not watch it; see --owner"
        assert (ended.code, ended.out) == (1, f"0 of 1 acknowledged: {words}.\n")

    def test_what_is_near_does_not_take_the_place_of_advice(self, watch: Watch) -> None:
        watch.json("owner", "add", "newsroom")
        watched.add(watch.db, "https://a.example/articles/one")

        line = one_line(watch("target", "show", "https://a.example/articles/ona"), 1)
        advice = "`ronda target add` watches it, `ronda target list` shows all"
        near = "did you mean https://a.example/articles/one?"
        assert line.endswith(f"not watched; {advice}; {near}\n")
        line = one_line(watch("target", "list", "--owner", "newsrom"), 1)
        advice = "`ronda owner add newsrom` makes one"
        assert line.endswith(f"; {advice}; did you mean newsroom?\n")

    def test_the_address_is_not_resolved_before_the_first_check(
        self, watch: Watch
    ) -> None:
        watched.add(watch.db, A)

        assert "server      not resolved yet\n" in watch("target", "show", A).out
        assert watch.json("target", "show", A)["server"] is None

    def test_a_state_of_another_version_is_told_in_one_line(self, seen: Watch) -> None:
        watched.run(seen.db, "UPDATE target SET state = 'asleep' WHERE state = 'ok'")

        for arguments in (("list",), ("show", A), ("history", A)):
            line = one_line(seen("target", *arguments), 2)
            assert "the state 'asleep' is not known: " in line
            assert "damaged, or written by a newer Ronda" in line

    def test_so_is_a_state_of_the_past(self, seen: Watch) -> None:
        watched.run(seen.db, "UPDATE history SET standing = 'asleep'")

        line = one_line(seen("target", "history", A), 2)
        assert "the state 'asleep' is not known: " in line


class TestServed:
    def test_that_nobody_checks_is_told(self, watch: Watch) -> None:
        watched.add(watch.db, A)

        assert watch("target", "check", A).out == f"1 of 1 due now.\n{UNSERVED}"
        watch("target", "disable", A)
        assert watch("target", "enable", A).out == f"1 of 1 enabled.\n{UNSERVED}"
        told = watch("register", "-", "--owner", "operator", stdin=f"{B}\n".encode())
        assert told.out.endswith(f"operator: 1 new.\n{UNSERVED}")
        told = watch("register", "-", "--owner", "operator", stdin=f"{B}\n".encode())
        assert told.out.endswith("operator: 0 new.\n")

    def test_that_nobody_checks_is_not_told_of_nothing(self, seen: Watch) -> None:
        assert seen("target", "check", A).out == "0 of 1 due now.\n"
        assert seen("target", "remove", A).out == "1 of 1 removed.\n"


class TestEnds:
    def test_nothing_is_said_of_nothing_added(self, small: Watch) -> None:
        ended = small("target", "add", "--file", "/nonexistent")

        assert (ended.code, ended.out) == (2, "")
        assert ended.err == "/nonexistent: no such file\n"

    def test_to_unregister_what_is_not_watched_finds_nothing(
        self, watch: Watch
    ) -> None:
        watched.add(watch.db, A)
        remove = ("register", "-", "--owner", "operator", "--remove")

        ended = watch(*remove, stdin=f"{B}\n".encode())
        assert (ended.code, ended.out) == (1, "operator: 0 removed.\n")
        assert watch(*remove, stdin=f"{A}\n{B}\n".encode()).code == 0

    def test_some_that_are_watched_are_enough(self, watch: Watch) -> None:
        watched.add(watch.db, A)
        ended = watch("target", "disable", A, NOWHERE)

        assert (ended.code, ended.out) == (0, "1 of 2 disabled.\n")
        assert f"{NOWHERE}: not watched; " in ended.err

    @pytest.mark.parametrize(
        "arguments",
        [("target", "list"), ("target", "list", "--json"), ("target", "add", "--help")],
        ids=" ".join,
    )
    def test_a_reader_who_goes_away_is_no_failure(
        self, small: Watch, arguments: tuple[str, ...]
    ) -> None:
        watched.add(small.db, A, B, C)
        reader, writer = os.pipe()
        os.close(reader)
        db = () if "--help" in arguments else ("--db", small.db)
        with small.command.start(*arguments, *db, stdout=writer) as process:
            os.close(writer)
            _, said = process.communicate()

        assert (process.returncode, said) == (0, b"")
