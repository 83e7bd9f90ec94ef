"""CSV and TSV: the column that holds the URLs, by its name or by what is in it."""

import csv
from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

from ronda import config
from ronda.model import Link, Place, Problem
from ronda.targets.encoding import decoded
from ronda.targets.source import Readable, folded

_SAMPLE = 50  # rows by which a column without a name is told
_DELIMITERS = ",;\t|"
_NONE = "\x1f"  # of a table with one column: the commas in its URLs are their own


class _Row(NamedTuple):
    line: int  # where it begins
    cells: list[str]


class _Column(NamedTuple):
    number: int  # from 0
    is_named: bool  # the first row is names, not URLs


def read(
    stream: Readable, document: str, options: config.Check
) -> Iterator[Link | Problem]:
    """The URLs of a table, from the column that the settings name."""
    rows = _rows(decoded(stream.read()), document)
    sample = list(islice(rows, _SAMPLE))
    yield from (row for row in sample if isinstance(row, Problem))
    first = [row for row in sample if isinstance(row, _Row)]
    column = _column(first, options.column)
    if column:
        wanted = chain(first[column.is_named :], rows)
        yield from _links(wanted, column.number, document)
    elif first:
        yield _unknown(first[0], document, options.column)


def _links(
    rows: Iterator[_Row | Problem], index: int, document: str
) -> Iterator[Link | Problem]:
    for row in rows:
        if isinstance(row, Problem):
            yield row
        elif len(row.cells) > index and (url := row.cells[index].strip()):
            yield Link(url, Place(document, row.line))


def _rows(text: str, document: str) -> Iterator[_Row | Problem]:
    """The rows that are not empty; a row that cannot be read is a problem."""
    reader = csv.reader(_lines(text), delimiter=_delimiter(text))
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Problem(Place(document, line), f"not a row of a table: {error}")
            continue
        if any(cells):
            yield _Row(line, cells)


def _lines(text: str) -> Iterator[str]:
    """Line by line: a file object over the text would take four times its memory."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _delimiter(text: str) -> str:
    """The mark that the first line has most of."""
    head = text.lstrip("\n").partition("\n")[0]
    best = max(_DELIMITERS, key=head.count)
    return best if best in head else _NONE


def _column(rows: list[_Row], name: str) -> _Column | None:
    """Three cases: the header has the name; one column holds URLs; neither."""
    names = [cell.strip().casefold() for cell in rows[0].cells] if rows else []
    if name.strip().casefold() in names:
        return _Column(names.index(name.strip().casefold()), is_named=True)
    looks = [index for index in range(len(names)) if _holds_urls(rows, index)]
    if len(looks) != 1:
        return None
    index = looks[0]
    return _Column(index, is_named="://" not in names[index])


def _holds_urls(rows: list[_Row], index: int) -> bool:
    """Whether a column's values are URLs; its first cell may be a name."""
    values = [row.cells[index] for row in rows if len(row.cells) > index]
    values = [value for value in values[len(rows) > 1 :] if value.strip()]
    return bool(values) and all("://" in value for value in values)


def _unknown(header: _Row, document: str, name: str) -> Problem:
    names = folded(", ".join(header.cells))
    message = f"no column '{name}'; the columns are: {names}; name one with --column"
    return Problem(Place(document, header.line), message)
