"""Targets that wait on disk."""

from collections import deque
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda.model import Target
from ronda.store import Overflow

numbers = st.integers(-(2**40), 2**40)
flags = st.booleans()
targets = st.builds(
    Target,
    url=st.text(),
    host=st.text(),
    reads=flags,
    public=flags,
    depth=numbers,
    outside=numbers,
    rank=numbers,
)


@pytest.fixture
def overflow() -> Iterator[Overflow]:
    opened = Overflow()
    yield opened
    opened.close()


@settings(deadline=None)  # files on a busy machine
@given(st.lists(targets | st.integers(0, 5)))
def test_targets_come_out_as_they_were_in_the_order_they_went_in(
    steps: list[Target | int],
) -> None:
    overflow, waiting = Overflow(), deque[Target]()
    for step in steps:
        if isinstance(step, Target):
            overflow.push(step)
            waiting.append(step)
        else:
            taken = [waiting.popleft() for _ in range(min(step, len(waiting)))]
            assert overflow.pop(step) == taken
        assert len(overflow) == len(waiting)

    assert overflow.pop(len(steps) + 1) == list(waiting)
    overflow.close()


def test_a_target_larger_than_what_is_read_at_once_comes_out(
    overflow: Overflow,
) -> None:
    large = [Target(f"http://a.test/{'x' * 100_000}{n}", "a.test") for n in range(5)]
    for target in large:
        overflow.push(target)

    assert [overflow.pop(1)[0] for _ in large] == large


def test_space_is_used_again_once_it_is_empty(overflow: Overflow) -> None:
    for _ in range(3):
        for number in range(1000):
            overflow.push(Target(f"http://a.test/{number}", "a.test"))
        assert overflow.pop(600)[-1].url == "http://a.test/599"
        size = overflow._file.size
        assert overflow.pop(600)[-1].url == "http://a.test/999"

        assert overflow._file.size == 0
        assert overflow._file.read(0, 1) == b""
        assert size < 60_000


def test_none_come_out_of_none(overflow: Overflow) -> None:
    assert overflow.pop(3) == []
