"""Everything out of one store and into another, whichever engine they are of."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from sqlalchemy import func, insert, select, update

from ronda.errors import StoreError
from ronda.store.sql import schema, transfer
from ronda.store.sql.engines import Database
from ronda.store.sql.transfer import Transfer
from servers.databases import POSTGRESQL, SQLITE, Databases
from stores import NOW, Rows, contents, everything, fill

Edit = Callable[[list[dict[str, Any]]], object]


@pytest.fixture
def exported(databases: Databases, tmp_path: Path) -> list[bytes]:
    """The lines of a store with something of everything."""
    with _store(databases, SQLITE, tmp_path / "exported.db") as database:
        fill(database, everything())
        return _export(database)


def test_an_export_says_what_it_is_and_where_it_ends(database: Database) -> None:
    fill(database, everything())
    lines = [json.loads(line) for line in _export(database)]

    assert lines[0] == {"format": "ronda store", "version": 2}
    assert lines[-1] == {"table": "end", "lines": len(lines) - 1}
    tables = {line["table"] for line in lines[1:-1]}
    assert tables == {table.name for table in schema.metadata.sorted_tables} - {
        "process",
        "tally",
        "text_part",
    }


def test_evidence_can_be_read_by_others(database: Database) -> None:
    fill(database, everything())
    lines = [json.loads(line) for line in _export(database)]

    evidence = next(line for line in lines if line.get("task") == "url")["evidence"]
    assert evidence["status"] == 200
    assert evidence["timings"]["total"] == 0.5
    assert evidence["hops"][0]["to"] == "http://a.test/"


def test_what_was_loaded_is_exported_the_same(
    database: Database, exported: list[bytes]
) -> None:
    rows = Transfer(database).load(io.BytesIO(b"".join(exported)), "x")

    assert rows == len(exported) - 2
    assert _export(database) == exported


def test_an_export_of_the_first_version_is_read(
    database: Database, exported: list[bytes]
) -> None:
    """It has no services, and says less of rounds and of when targets are due."""
    added = {"was_due", "starter", "words", "stopped_at", "window"}
    new = {"service", "task_result", "round_result"}
    rows = [json.loads(line) for line in exported[1:-1]]
    told = [
        {name: value for name, value in row.items() if name not in added}
        for row in rows
        if row["table"] not in new
    ]
    first, last = json.loads(exported[0]), json.loads(exported[-1])
    told = [first | {"version": 1}, *told, last | {"lines": len(told) + 1}]
    lines = b"".join(json.dumps(line).encode() + b"\n" for line in told)

    Transfer(database).load(io.BytesIO(lines), "x")

    again = [json.loads(line) for line in _export(database)[1:-1]]
    assert again == [row for row in rows if row["table"] not in new]


def test_new_rows_are_numbered_after_those_that_were_loaded(
    database: Database, exported: list[bytes]
) -> None:
    Transfer(database).load(io.BytesIO(b"".join(exported)), "x")

    with database.writing() as connection:
        made = connection.execute(
            insert(schema.owner).values(name="new", added_at=NOW)
        ).inserted_primary_key
        assert made is not None
        assert made[0] == 4


def test_tallies_are_counted_anew(database: Database, exported: list[bytes]) -> None:
    Transfer(database).load(io.BytesIO(b"".join(exported)), "x")

    with database.reading() as connection:
        rows = connection.execute(select(schema.tally)).all()
    assert {tuple(row) for row in rows} == {
        (0, "ok", 1),
        (0, "broken", 1),
        (1, "ok", 1),
        (2, "ok", 1),
        (2, "broken", 1),
    }


def test_what_was_held_is_inherited_elsewhere(
    database: Database, exported: list[bytes]
) -> None:
    Transfer(database).load(io.BytesIO(b"".join(exported)), "x")

    with database.reading() as connection:
        held = select(schema.server.c.holder, schema.server.c.inherited).order_by("id")
        assert connection.execute(held).all() == [(None, False), (None, True)]
        assert connection.scalars(select(schema.batch.c.holder)).all() == [None]
        processes = select(func.count()).select_from(schema.process)
        assert connection.scalar(processes) == 0


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(contents())
def test_from_engine_to_engine_and_back_nothing_changes(
    databases: Databases, tmp_path_factory: pytest.TempPathFactory, rows: Rows
) -> None:
    folder = tmp_path_factory.mktemp("transfer")
    with (
        _store(databases, SQLITE, folder / "1") as first,
        _store(databases, POSTGRESQL, folder) as second,
        _store(databases, SQLITE, folder / "3") as third,
    ):
        fill(first, rows)
        lines = _export(first)
        Transfer(second).load(io.BytesIO(b"".join(lines)), "first")
        assert _export(second) == lines

        Transfer(third).load(io.BytesIO(b"".join(_export(second))), "second")
        assert _export(third) == lines


def test_rows_that_others_write_meanwhile_are_not_in_it(database: Database) -> None:
    fill(database, everything())
    before = _export(database)

    class Busy(io.BytesIO):
        """While it is written, the store changes."""

        def write(self, data: Any, /) -> int:
            if self.tell():  # not yet at the first line
                with database.writing() as connection:
                    connection.execute(update(schema.fact).values(value="new"))
            return super().write(data)

    to = Busy()
    Transfer(database).export(to)
    assert to.getvalue().splitlines(keepends=True)[1:-1] == before[1:-1]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda lines: lines.pop(), "cut short"),
        (lambda lines: lines.pop(-2), "lines should be before it"),
        (lambda lines: lines.pop(0), "line 1: not an export of Ronda's"),
        (lambda lines: lines.__setitem__(0, {}), "line 1: not an export of Ronda's"),
        (lambda lines: lines[0].update(version=3), "line 1: written by a newer Ronda"),
        (
            lambda lines: lines[3].update(table="tables"),
            "line 4: Invalid value 'tables'",
        ),
        (lambda lines: lines[3].pop("name"), "line 4: Object missing required field"),
        (lambda lines: lines[3].update(name=3), "line 4: Expected `str`, got `int`"),
        (lambda lines: lines[3].update(id=2**64), "line 4: "),
        (lambda lines: lines[3].update(colour=3), "unknown field `colour`"),
        (lambda lines: lines[3].update(name="Zoë"), "lines 2 to 4: "),
        (lambda lines: _first(lines, "target").update(state="fine"), "'fine'"),
        (lambda lines: _first(lines, "target").update(host_id=77), "lines 9 to 10: "),
        (lambda lines: _first(lines, "watch").update(target_id=9), "watch of a target"),
        (
            lambda lines: _first(lines, "watch").update(owner_id=9),
            "watched by an owner",
        ),
        (lambda lines: _first(lines, "schedule").update(server_id=9), "at a server"),
        (lambda lines: _first(lines, "request").update(visit="?"), "Invalid base64"),
        (
            lambda lines: _first(lines, "history").update(evidence={"hops": 1}),
            "Expected `array`, got `int`",
        ),
    ],
    ids=[
        "end",
        "missing",
        "headless",
        "header",
        "newer",
        "table",
        "column",
        "type",
        "number",
        "unknown",
        "double",
        "state",
        "reference",
        "target",
        "owner",
        "server",
        "bytes",
        "evidence",
    ],
)
def test_what_is_wrong_is_told_in_one_line_and_nothing_is_loaded(
    database: Database, exported: list[bytes], edit: Edit, words: str
) -> None:
    lines = [json.loads(line) for line in exported]
    edit(lines)
    source = io.BytesIO(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    before = _export(database)

    with pytest.raises(StoreError) as caught:
        Transfer(database).load(source, "file.jsonl")

    assert str(caught.value).startswith("file.jsonl: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert _export(database) == before


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"\xff\xfe", b"[" * 100_000, b"{}\n", b'{"format": "ronda store"'],
    ids=["empty", "line", "bytes", "deep", "object", "cut"],
)
def test_what_is_no_export_is_refused(database: Database, data: bytes) -> None:
    with pytest.raises(StoreError, match="line 1: not an export of Ronda's"):
        Transfer(database).load(io.BytesIO(data), "x")


@pytest.mark.parametrize(
    "data", [b"\xff\xfe\n", b"[" * 100_000 + b"\n", b'{"table": "owner"', b"\n"]
)
def test_a_line_that_is_none_is_told(
    database: Database, exported: list[bytes], data: bytes
) -> None:
    with pytest.raises(StoreError, match="x: line 2: ") as caught:
        Transfer(database).load(io.BytesIO(exported[0] + data), "x")

    assert len(str(caught.value)) < 200


def test_a_line_without_end_is_given_up(
    database: Database, exported: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "LONGEST", 1000)
    source = io.BytesIO(exported[0] + b'{"table": "' + b"x" * 5000)

    with pytest.raises(StoreError, match="line 2: too long"):
        Transfer(database).load(source, "x")


@pytest.mark.parametrize("table", ["target", "owner", "robots"])
def test_a_store_that_is_not_empty_is_refused(
    database: Database, exported: list[bytes], table: str
) -> None:
    rows = everything()
    kept = {
        "target": (schema.server, schema.host, schema.target),
        "owner": (schema.owner,),
        "robots": (schema.robots,),
    }
    fill(database, {one: rows[one] for one in kept[table]})

    with pytest.raises(StoreError, match="not empty, there is something in"):
        Transfer(database).load(io.BytesIO(b"".join(exported)), "x")


@contextmanager
def _store(databases: Databases, engine: str, path: Path) -> Iterator[Database]:
    with databases.fresh(engine, path) as where:
        database = Database(where)
        yield database
        database.close()


def _export(database: Database) -> list[bytes]:
    to = io.BytesIO()
    number = Transfer(database).export(to)
    lines = to.getvalue().splitlines(keepends=True)
    assert number == len(lines)
    return lines


def _first(lines: list[dict[str, Any]], table: str) -> dict[str, Any]:
    return next(line for line in lines if line.get("table") == table)
