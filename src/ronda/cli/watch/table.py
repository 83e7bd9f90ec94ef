"""Rows in columns, and facts in lines, for a terminal."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from ronda.cli.report.safe import safe_text
from ronda.cli.report.style import BOLD, COLOURS, GREY, Style
from ronda.model import State
from ronda.urls import shown

GAP = "  "
_NEVER = 1_000_000  # characters that no text has: it is not cut


class Column(Struct, frozen=True):
    """One column: what stands above it, and how it is set."""

    name: str
    right: bool = False  # as numbers are
    most: int = _NEVER  # characters


def lines(
    columns: Sequence[Column], rows: Iterable[Sequence[str]], style: Style
) -> Iterator[str]:
    """A head and the rows, each column as wide as it must be; the last is not padded.

    A cell that is the name of a state has its colour.
    """
    cells = [
        [safe(text, column.most) for text, column in zip(row, columns, strict=True)]
        for row in rows
    ]
    head = [column.name for column in columns]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    widths[-1] *= columns[-1].right
    yield style.paint(GAP.join(_set(head, columns, widths)).rstrip(), BOLD)
    for row in cells:
        padded = _set(row, columns, widths)
        painted = [_painted(c, t, style) for c, t in zip(row, padded, strict=True)]
        yield GAP.join(painted).rstrip()


def facts(pairs: Iterable[tuple[str, str]], style: Style) -> Iterator[str]:
    """What is known, a line each; what is empty is left out."""
    known = [(name, safe(text)) for name, text in pairs if text]
    width = max((len(name) for name, _ in known), default=0)
    for name, text in known:
        title = style.paint(name.ljust(width), GREY)
        yield f"{title}{GAP}{_painted(text, text, style)}"


def safe(text: str, most: int = _NEVER) -> str:
    """A text from outside: one line, no passwords, nothing that moves the cursor."""
    return shown(safe_text(text), most)


def _set(
    row: Sequence[str], columns: Sequence[Column], widths: Sequence[int]
) -> list[str]:
    return [
        text.rjust(width) if column.right else text.ljust(width)
        for text, column, width in zip(row, columns, widths, strict=True)
    ]


def _painted(cell: str, padded: str, style: Style) -> str:
    try:
        return style.paint(padded, COLOURS[State(cell)])
    except ValueError:
        return padded
