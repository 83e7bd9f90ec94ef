"""Files that came with the claims."""

import pytest

from fakes import FakeClock
from ronda.workers import robotshelf
from ronda.workers.robotshelf import RobotsShelf

A, B, C = "http://a.test", "http://b.test", "http://c.test"


def unheard(_authority: str, _body: bytes) -> None:
    """Nobody keeps it."""


def test_a_file_grows_older_here() -> None:
    clock = FakeClock()
    shelf = RobotsShelf(unheard, clock)
    shelf.fill({A: (b"rules", 100.0)})
    clock.advance(7.0)

    assert shelf.get(A) == (b"rules", 107.0)
    assert shelf.get(B) is None


@pytest.mark.parametrize(("limit", "most"), [("MOST", 2), ("MOST_BYTES", 10)])
def test_of_too_many_or_too_large_ones_the_newest_are_kept(
    limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robotshelf, limit, most)
    shelf = RobotsShelf(unheard, FakeClock())
    shelf.fill({A: (b"rules", 0.0), B: (b"rules", 0.0)})
    shelf.fill({A: (b"again", 0.0)})
    shelf.fill({C: (b"rules", 0.0)})

    kept = {authority for authority in (A, B, C) if shelf.get(authority)}
    assert kept == {A, C}


def test_what_is_put_there_is_told() -> None:
    kept: dict[str, bytes] = {}
    RobotsShelf(kept.__setitem__, FakeClock()).put(A, b"rules")

    assert kept == {A: b"rules"}
