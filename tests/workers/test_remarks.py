"""What went wrong with ourselves, in words for people."""

import asyncio
from typing import Any

import pytest

from ronda.workers.crew import Crew
from ronda.workers.events import Events
from ronda.workers.remarks import last_line, remarks

FAILED = "failed, and was not called again"


class Told:
    """Anything with some attributes."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


def told(deaths: int = 0, illegal: int = 0, hung: int = 0, **parts: Any) -> list[str]:
    crew = Crew()
    crew.deaths, crew.illegal = deaths, illegal
    quiet = {"watchdog": None, "events": Events(()), "fetch": Told(deaths=0)}
    given: Any = Told(**{**quiet, **parts})
    hangs: Any = Told(count=hung)
    return list(remarks(crew, hangs, given))


class TestRemarks:
    def test_of_a_run_without_trouble_nothing_is_told(self) -> None:
        assert told() == []
        assert told(watchdog=Told(words="")) == []

    @pytest.mark.parametrize(
        ("count", "words"),
        [
            (1, "1 worker died and had to be replaced"),
            (2, "2 workers died and had to be replaced"),
            (1234, "1,234 workers died and had to be replaced"),
        ],
    )
    def test_deaths_are_counted(self, count: int, words: str) -> None:
        assert told(deaths=count) == [words]

    def test_each_kind_of_trouble_has_its_line(self) -> None:
        events = Events(())
        events.failures = {"mine.link_found": "ValueError: x"}
        lines = told(
            1, 2, 3, watchdog=Told(words="the loop was held up"), events=events
        )

        assert lines == [
            "1 worker died and had to be replaced",
            "2 illegal changes of a worker's state",
            "3 requests hung, and had to be given up",
            "the loop was held up",
            f"the plug-in mine.link_found {FAILED}: ValueError: x",
        ]


class TestTheLastLine:
    def test_an_error_is_told_with_where_it_was_raised(self) -> None:
        def fail() -> None:
            raise ValueError("made up")

        with pytest.raises(ValueError, match="made up") as raised:
            fail()

        line = last_line(raised.value)
        assert line.startswith("ValueError: made up (fail, line ")

    def test_one_that_was_never_raised_has_no_place(self) -> None:
        assert last_line(asyncio.CancelledError()) == "CancelledError: "
