"""How a round would go: told before anybody is asked."""

import os
from itertools import pairwise

import pytest

from ronda.config import Fetch, Politeness, Settings
from ronda.errors import RondaError
from ronda.model import Found, Place, Visit
from ronda.simulation import Forecast, Progress, Question, Traits, foretell
from ronda.simulation.fates import LATE
from ronda.simulation.forecast import merged
from ronda.simulation.processes import Tell, share_out
from ronda.simulation.share import simulate
from ronda.simulation.stage import Stage, Trial

GOOD = Traits(seed=3, hosts=10, servers=10, urls=500, skew=0, errors=0.0, redirects=0.0)


def settings(**fetch: int) -> Settings:
    row = Politeness(interval=1.0, server_interval=0.0, factor=0.0)
    return Settings(politeness=(row,), fetch=Fetch(**fetch))  # type: ignore[arg-type]


def told(question: Question) -> Forecast:
    heard: list[Forecast | Progress] = []
    simulate((question, 0), heard.append)
    assert isinstance(heard[-1], Forecast)
    return heard[-1]


def test_a_round_takes_as_long_as_its_largest_host_has_gaps() -> None:
    found = told(Question(traits=GOOD, settings=settings(concurrency=100)))

    assert found.urls == 500
    assert found.broken == ()
    # 51 requests, robots.txt with them, at least a second from one to the next.
    assert found.seconds >= 50
    assert found.holders[0].ends_at == pytest.approx(found.seconds, abs=0.01)
    assert all(a.ends_at >= b.ends_at for a, b in pairwise(found.holders))
    assert found.ended_by(0.5) < found.ended_by(0.9) <= found.seconds


def test_few_workers_make_it_longer_and_are_busy() -> None:
    slow = told(Question(traits=GOOD, settings=settings(concurrency=1)))
    fast = told(Question(traits=GOOD, settings=settings(concurrency=100)))

    assert slow.seconds > fast.seconds
    assert slow.utilisation > 0.9 > fast.utilisation


def test_the_same_question_has_the_same_answer() -> None:
    question = Question(traits=GOOD, settings=settings())

    first, second = told(question), told(question)

    assert (first.seconds, first.holders) == (second.seconds, second.holders)


def test_shares_are_put_together() -> None:
    parts = [
        Forecast(
            seconds=5.0, urls=2, requests=3, marks=((1.0, 1), (5.0, 1)), workers=1
        ),
        Forecast(
            seconds=9.0, urls=2, requests=2, marks=((8.0, 1), (9.0, 1)), workers=1
        ),
    ]

    found = merged(parts)

    assert (found.seconds, found.urls, found.requests, found.workers) == (9.0, 4, 5, 2)
    assert [found.ended_by(share) for share in (0.25, 0.5, 1.0)] == [1.0, 5.0, 9.0]


def test_processes_share_a_round() -> None:
    question = Question(traits=GOOD, settings=settings(), processes=2)

    *_, found = foretell(question)

    assert isinstance(found, Forecast)
    assert found.urls == 500
    assert found.workers == settings().fetch.concurrency
    assert found.memory > 0


def die(share: int, tell: Tell) -> None:
    tell(share)
    os._exit(9)


def test_a_process_that_dies_is_noticed_at_once() -> None:
    with pytest.raises(RondaError, match="has died"):
        list(share_out(die, [1]))


def test_a_slow_last_page_with_10_000_links_does_not_end_the_round_early() -> None:
    web = Traits(hosts=2, urls=2, errors=0.0, redirects=0.0, links=3334)
    asked: list[str] = []

    def watch(visit: Visit) -> None:
        asked.append(visit.target.url)

    late = f"https://h0.example{LATE}"
    quick = Settings(politeness=(Politeness(interval=0.0, factor=0.0),))
    stage = Stage(Trial(traits=web, settings=quick), watch)
    run = stage.play([Found(late, Place("list"), reads=True)])

    assert len(asked) == len(set(asked)) == 10_003
    assert asked[0] == late
    assert run.account.summary().left == 0
