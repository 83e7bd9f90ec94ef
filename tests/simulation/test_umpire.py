"""The umpire sees what those see who are asked, and calls every rule that is broken."""

import pytest

from ronda.frontier import Limits
from ronda.model import Answer, Timings
from ronda.simulation.umpire import MOST, Asked, Start, Umpire

HOST, SERVER = "h1.example", "23.0.0.1"
REACHED = Timings(connect=0.1)


class Game(Umpire):
    """An umpire, and the hosts it sees, which all live on one server."""

    def __init__(self, **limits: float) -> None:
        found = Limits(**limits)  # type: ignore[arg-type]
        super().__init__(lambda _host, _address: found)
        self._seen: dict[str, Asked] = {}

    def begun(self, at: float, host: str = HOST) -> Start:
        return self.start(self._seen.setdefault(host, Asked()), host, SERVER, at)

    def asked(self, at: float, end: float, host: str = HOST) -> Start:
        start = self.begun(at, host)
        self.end(start, end)
        return start


def test_a_gap_that_is_kept_is_not_called() -> None:
    judge = Game(interval=1.0, server_interval=1.0)

    judge.asked(0.0, 0.2)
    judge.asked(1.0, 1.2)

    assert judge.broken == []
    assert judge.under_way == 0


@pytest.mark.parametrize("limits", [{"interval": 1.0}, {"server_interval": 1.0}])
def test_a_gap_that_is_not_kept_is_called(limits: dict[str, float]) -> None:
    judge = Game(**limits)

    judge.asked(0.0, 0.2)
    judge.asked(0.9, 1.0)

    assert judge.broken == [f"at 0.900: {HOST} at {SERVER} is asked 0.100 s early"]


def test_the_gap_of_a_server_counts_for_all_its_hosts() -> None:
    judge = Game(server_interval=1.0)

    judge.asked(0.0, 0.2)
    judge.asked(0.5, 0.6, host="h2.example")

    assert len(judge.broken) == 1


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"per_host": 1}, f"{HOST} is asked 2"),
        ({"per_server": 1}, f"{SERVER} is asked 2"),
    ],
)
def test_too_many_at_once_are_called(limits: dict[str, float], words: str) -> None:
    judge = Game(**limits)

    judge.begun(0.0)
    judge.begun(5.0)

    assert judge.broken == [f"at 5.000: {words} times at once"]


def test_a_slow_answer_makes_the_gap_longer() -> None:
    judge = Game(factor=2.0, ceiling=5.0)

    judge.asked(0.0, 2.0)
    judge.asked(3.0, 9.0)
    judge.asked(9.5, 9.6)

    assert judge.broken == [f"at 3.000: {HOST} at {SERVER} is asked 1.000 s early"]


def test_a_crawl_delay_holds_once_it_was_told() -> None:
    judge = Game(crawl_delay_limit=10.0)

    judge.delays(judge.asked(0.0, 0.1), 60.0)
    judge.asked(9.0, 9.1)

    assert judge.broken == [f"at 9.000: {HOST} at {SERVER} is asked 1.000 s early"]


@pytest.mark.parametrize(
    ("headers", "wait"), [((b"Retry-After: 30\r\n",), 30.0), ((), 1.0)]
)
def test_who_asks_us_to_slow_down_is_left_alone(
    headers: tuple[bytes, ...], wait: float
) -> None:
    judge = Game()
    answer = Answer(status=429, headers=headers, timings=REACHED)

    judge.answered(judge.asked(0.0, 0.5), answer, 0.5, tired=True)
    judge.asked(0.5, 0.6)  # in the same moment: it cannot have been heard yet
    judge.asked(wait, wait + 0.1)
    judge.asked(wait + 0.5, wait + 0.6)

    assert len(judge.broken) == 1


def test_who_cannot_be_reached_rests() -> None:
    judge = Game(failures_to_rest=2, rest=60.0)
    refused = Answer(error=7)

    judge.answered(judge.asked(0.0, 0.5), refused, 0.5, tired=True)
    judge.answered(judge.asked(1.0, 1.5), refused, 1.5, tired=True)
    judge.answered(judge.asked(61.6, 61.7), Answer(timings=REACHED), 61.7, tired=True)
    judge.answered(judge.asked(62.0, 62.5), refused, 62.5, tired=True)
    judge.asked(63.0, 63.1)
    assert judge.broken == []

    judge.answered(judge.asked(64.0, 64.5), refused, 64.5, tired=True)
    judge.asked(70.0, 70.1)
    assert len(judge.broken) == 1


def test_a_host_that_is_asked_elsewhere_is_called() -> None:
    judge = Game()

    judge.misled(HOST, "", 2.0)

    assert judge.broken == [f"at 2.000: {HOST} is asked at no address"]


def test_no_more_is_told_than_anybody_reads() -> None:
    judge = Game(interval=1.0)

    for _ in range(100):
        judge.asked(0.0, 0.0)

    assert len(judge.broken) == MOST
