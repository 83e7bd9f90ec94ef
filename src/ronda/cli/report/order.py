"""Results in an order that does not depend on who answered first.

A run may have a million results, so what does not fit in a batch is sorted on disk.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from heapq import merge
from tempfile import TemporaryFile
from typing import IO, Any, TypeVar

import msgspec
from msgspec import Struct

from ronda.model import Place, Result, State

BATCH = 20_000  # rows held in memory, about 25 MB

Item = TypeVar("Item")
Key = tuple[Any, ...]


class Row(Struct, frozen=True):
    """A result at one of the places where its link stands."""

    place: Place
    result: Result


def by_url(results: Iterable[Result]) -> Iterator[Result]:
    """Results in the order of their URLs."""
    return in_order(results, Result, result_key)


def by_place(
    results: Iterable[Result], *, ok: bool, batch: int = BATCH
) -> Iterator[Row]:
    """One row a place, in the order of documents, lines and columns.

    Args:
        results: what was found.
        ok: whether links that work are wanted too.
        batch: rows held in memory.
    """
    wanted = (r for r in results if ok or r.verdict is not State.OK)
    rows = (Row(place, r) for r in wanted for place in places(r))
    return in_order(rows, Row, _row_key, batch)


def places(result: Result) -> tuple[Place, ...]:
    """Where a link stands; one that stands nowhere came from the command line."""
    return result.found_in or (Place(""),)


def place_key(place: Place) -> Key:
    """The order of places."""
    return place.document, place.line, place.column, place.text, place.tag


def result_key(result: Result) -> Key:
    """The order of results."""
    return result.url, result.checked_at, result.reason, result.message


def _row_key(row: Row) -> Key:
    return (*place_key(row.place), *result_key(row.result))


def in_order(
    items: Iterable[Item],
    kind: type[Item],
    key: Callable[[Item], Key],
    batch: int = BATCH,
) -> Iterator[Item]:
    """Items sorted by a key, with no more than a batch of them in memory."""
    with ExitStack() as files:
        runs: list[IO[bytes]] = []
        held: list[Item] = []
        for item in items:
            held.append(item)
            if len(held) == batch:
                held.sort(key=key)
                runs.append(_spill(held, files.enter_context(TemporaryFile())))
                held = []
        held.sort(key=key)
        yield from merge(held, *(_read(run, kind) for run in runs), key=key)


def _spill(items: Iterable[Any], file: IO[bytes]) -> IO[bytes]:
    encode = msgspec.json.Encoder().encode
    file.writelines(encode(item) + b"\n" for item in items)
    file.seek(0)
    return file


def _read(file: IO[bytes], kind: type[Item]) -> Iterator[Item]:
    return map(msgspec.json.Decoder(kind).decode, file)
