"""Rows of the store as lines of JSON, and lines as rows: strictly, with their names."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from sqlalchemy import Column, Table

from ronda.errors import StoreError
from ronda.model import Result, State
from ronda.store.sql import schema
from ronda.store.sql.evidence import pack, unpack

FORMAT = "ronda store"
VERSION = 2

# In the order in which they can be read: what a row names comes before it. Left out is
# what says nothing elsewhere: the processes, and what is counted anew.
TABLES: tuple[Table, ...] = (
    schema.owner,
    schema.server,
    schema.host,
    schema.target,
    schema.schedule,
    schema.watch,
    schema.label,
    schema.service,
    schema.task_result,
    schema.hour,
    schema.history,
    schema.round_,
    schema.round_result,
    schema.request,
    schema.robots,
    schema.notice,
    schema.batch,
    schema.fact,
)


# What the first version did not have yet.
_ADDED: dict[Column[Any], Any] = {
    schema.schedule.c.was_due: None,
    schema.round_.c.starter: "",
    schema.round_.c.words: "",
    schema.round_.c.stopped_at: None,
    schema.round_.c.window: 0.0,
}


class First(Struct, frozen=True):
    """The first line: what the others are."""

    format: str
    version: int


class Last(Struct, frozen=True, tag_field="table", tag="end"):
    """The last line: without it, the end is missing."""

    lines: int  # before it


_STATES = {
    schema.target.c.state,
    schema.history.c.state,
    schema.history.c.standing,
    schema.task_result.c.state,
    schema.round_result.c.state,
}


def _kind(table: Table) -> type[Struct]:
    """A row of a table; the line names the table and then its columns."""
    fields = [_field(column) for column in table.columns]
    return msgspec.defstruct(
        str(table.name),
        fields,
        frozen=True,
        forbid_unknown_fields=True,
        tag_field="table",
        tag=str(table.name),
    )


def _field(column: Column[Any]) -> Any:
    field = (str(column.name), _type(column))
    return (*field, _ADDED[column]) if column in _ADDED else field


def _type(column: Column[Any]) -> Any:
    kind: Any = column.type.python_type
    if column is schema.history.c.evidence:
        kind = dict[str, Any] | bytes
    elif column in _STATES:
        kind = Literal[tuple(state.value for state in State)]
    elif kind is int:
        kind = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    return kind | None if column.nullable else kind


KINDS = {str(table.name): _kind(table) for table in TABLES}
_union: Any = Last
for _one in KINDS.values():
    _union |= _one
_rows = msgspec.json.Decoder(_union)
_first = msgspec.json.Decoder(First)
_encode = msgspec.json.Encoder().encode
_nothing = Result(url="", verdict=State.UNKNOWN, reason="", message="")
_unsaid: dict[str, Any] = msgspec.to_builtins(_nothing)


def first() -> bytes:
    """The line before all others."""
    return _encode(First(FORMAT, VERSION)) + b"\n"


def last(lines: int) -> bytes:
    """The line after all others."""
    return _encode(Last(lines)) + b"\n"


def writer(table: Table) -> Callable[[tuple[Any, ...]], bytes]:
    """What makes a line of a row of a table."""
    kind = KINDS[table.name]
    names = [column.name for column in table.columns]

    def write(row: tuple[Any, ...]) -> bytes:
        values = dict(zip(names, row, strict=True))
        if table is schema.history:
            values["evidence"] = _told(values)
        return _encode(kind(**values)) + b"\n"

    return write


def is_ours(line: bytes) -> bool:
    """Whether a first line is that of an export that this Ronda can read.

    Raises:
        StoreError: it is one of a newer Ronda.
    """
    try:
        found = _first.decode(line)
    except msgspec.MsgspecError:
        return False
    if found.version > VERSION:
        raise StoreError("written by a newer Ronda: use that one")
    return found.format == FORMAT


def read(line: bytes) -> tuple[str, tuple[Any, ...]] | Last:
    """The name of a table and a row of it, or the end.

    Raises:
        StoreError: it is none of ours.
    """
    try:
        found = _rows.decode(line)
        if isinstance(found, Last):
            return found
        row = msgspec.structs.astuple(found)
        if isinstance(found, KINDS["history"]):
            row = (*row[:-1], _packed(row[-1]))
    except (msgspec.MsgspecError, TypeError, UnicodeDecodeError) as error:
        raise StoreError(str(error)) from None
    return type(found).__name__, row


def _told(values: dict[str, Any]) -> dict[str, Any] | bytes:
    """Evidence with names, for others to read; as it is, if we cannot read it."""
    try:
        found = unpack(
            values["evidence"], url="", state=State.UNKNOWN, reason="", message=""
        )
    except msgspec.MsgspecError:
        return bytes(values["evidence"])
    told = msgspec.to_builtins(found).items()
    return {name: value for name, value in told if value != _unsaid[name]}


def _packed(told: dict[str, Any] | bytes) -> bytes:
    if isinstance(told, bytes):
        return told
    return pack(msgspec.convert(_unsaid | told, Result))
