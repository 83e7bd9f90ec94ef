"""Tables in boxes of ASCII, as people read them on a terminal."""

import unicodedata
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ronda import urls
from ronda.model import State

MOST = 60  # characters of a cell, unless its column says otherwise
# ANSI codes: green for what is good, yellow for what needs a hand, red for the rest.
_COLOURS: dict[str, str] = {
    **dict.fromkeys(State, "31"),
    State.OK: "32",
    State.WARNING: "33",
    State.TEMPORARY: "33",
}


class Column(Struct, frozen=True):
    """One column: what stands above it, and how it is set."""

    name: str
    right: bool = False  # as numbers are
    most: int = MOST  # characters; what is longer is cut
    state: bool = False  # its cells are states, which have colours


class Table(Struct, frozen=True):
    """What is shown in a box."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[object, ...], ...] = ()


def boxed(table: Table, mark: str, footer: str, colour: bool = False) -> Iterator[str]:
    """The lines of a table; the mark stands before its title and its footer."""
    rows = [_cells(row, table.columns) for row in table.rows]
    title, end = f"{mark} {clean(table.title)}", f"{mark} {clean(footer)}"
    widths = _widths(table.columns, rows, max(width(title), width(end)))
    inner = sum(widths) + 3 * len(widths) - 1
    edge, line = f"+{'-' * inner}+", f"+{'+'.join('-' * (w + 2) for w in widths)}+"
    yield from (edge, f"|{_centred(title, inner)}|", line)
    yield _row([_padded(c.name, w) for c, w in zip(table.columns, widths, strict=True)])
    yield line
    for row in rows:
        yield _row(_set(row, table.columns, widths, colour))
    if rows:
        yield line
    yield from (f"| {_padded(end, inner - 2)} |", edge)


def clean(text: str, most: int = 1000) -> str:
    """A text from outside as one short line that moves no cursor."""
    return urls.shown(" ".join(text.split()), most)


def width(text: str) -> int:
    """How many places a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(map(_places, text))


def _places(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _cells(row: Sequence[object], columns: Sequence[Column]) -> list[str]:
    pairs = zip(row, columns, strict=True)
    return [clean(str(cell), column.most) for cell, column in pairs]


def _widths(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], least: int
) -> list[int]:
    """As wide as must be; the last column makes room for the title and the footer."""
    heads = [column.name for column in columns]
    widths = [max(map(width, cells)) for cells in zip(heads, *rows, strict=True)]
    widths[-1] += max(0, least + 2 - (sum(widths) + 3 * len(widths) - 1))
    return widths


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _set(
    row: Sequence[str], columns: Sequence[Column], widths: Sequence[int], colour: bool
) -> list[str]:
    found = []
    for cell, column, size in zip(row, columns, widths, strict=True):
        text = _padded(cell, size, right=column.right)
        found.append(painted(text, cell) if colour and column.state else text)
    return found


def _padded(text: str, size: int, *, right: bool = False) -> str:
    room = " " * (size - width(text))
    return room + text if right else text + room


def _centred(text: str, size: int) -> str:
    return _padded(" " * ((size - width(text)) // 2) + text, size)


def painted(text: str, state: str) -> str:
    """A text in the colour of a state; without a colour where it is none."""
    code = _COLOURS.get(state)
    return f"\x1b[{code}m{text}\x1b[0m" if code else text
