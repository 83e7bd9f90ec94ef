"""Why a host is not asked right now: one rule, and the seconds that are left of it."""

from collections.abc import Callable

import pytest
from test_queues import A, holding, resolve, take, target, visit

from ronda import config
from ronda.config import Politeness
from ronda.frontier import RULES, Frontier, Limits, Policy, Wait

NAME = "a.example"
STRANGER = "93.184.216.34"


def asked_once(limits: Limits, took: float = 0.0) -> Frontier:
    """Two items for a host, of which one was asked at 0 and answered."""
    queue = holding([target(A, n) for n in range(2)], limits)
    queue.done(take(queue, 0.0)[0], took)
    return queue


def by_policy(policy: Policy, host: str = A) -> Frontier:
    queue = Frontier(policy.limits)
    for number in range(2):
        queue.put(target(host, number), 0.0)
    queue.take(0.0)
    return queue


def retry_after() -> Frontier:
    queue = holding([target(A, n) for n in range(2)])
    trans, _ = take(queue, 0.0)
    queue.throttled(trans, 9000.0, 0.0)
    return queue


def backoff() -> Frontier:
    queue = holding([target(A, n) for n in range(2)], Limits(patient=True))
    trans, _ = take(queue, 0.0)
    queue.throttled(trans, 0.0, 0.0)
    queue.done(trans, 0.0)
    return queue


def circuit() -> Frontier:
    queue = holding([target(A)], Limits(failures_to_rest=1, rest=60.0))
    trans, _ = take(queue, 0.0)
    queue.failed(trans, "refused", 0.0)
    queue.done(trans, 0.0)
    return queue


def name() -> Frontier:
    queue = Frontier(lambda _host, _address: Limits())
    queue.put(target(NAME), 0.0)
    return queue


def outside() -> Frontier:
    return holding([target(A), target(NAME)], queue_count=1)


def crowd() -> Frontier:
    items = [target("first.example"), target(NAME)]
    return holding(items, Limits(), hosts_per_server=1)


def crawl_delay() -> Frontier:
    policy = Policy([Politeness(interval=0.0)])
    policy.heed(A, 7.0)
    return by_policy(policy)


def class_interval() -> Frontier:
    return by_policy(Policy([Politeness(class_interval=3.0)]), "class:isbn")


def per_host() -> Frontier:
    queue = holding([target(A, n) for n in range(2)], Limits(per_host=1))
    queue.take(0.0)
    return queue


def two_on_a_server(limits: Limits) -> Frontier:
    queue = holding([target("first.example"), target(NAME)], limits)
    queue.take(0.0)
    queue.take(0.0)
    return queue


def retry() -> Frontier:
    queue = holding([])
    queue.put(visit(A), 0.0, delay=9.0)
    queue.put(visit(A, 2), 0.0, delay=4.0)
    return queue


def asked() -> Frontier:
    queue = holding([target(A)])
    queue.take(0.0)
    return queue


# How each rule comes about; whom it holds, and for how many seconds from 0.
WAYS: dict[str, tuple[Callable[[], Frontier], str, float | None]] = {
    "retry-after": (retry_after, A, 9000.0),
    "backoff": (backoff, A, 1.03),
    "circuit": (circuit, A, 60.0),
    "name": (name, NAME, None),
    "queue": (outside, NAME, None),
    "crowd": (crowd, NAME, None),
    "interval": (lambda: asked_once(Limits(interval=2.0)), A, 2.0),
    "class-interval": (class_interval, "class:isbn", 3.0),
    "adaptive": (lambda: asked_once(Limits(interval=1.0, factor=5.0), 2.0), A, 10.0),
    "crawl-delay": (crawl_delay, A, 7.0),
    "per-host": (per_host, A, None),
    "per-server": (lambda: two_on_a_server(Limits(per_server=1)), NAME, None),
    "server-interval": (
        lambda: two_on_a_server(Limits(server_interval=5.0)),
        NAME,
        5.0,
    ),
    "retry": (retry, A, 4.0),
    "turn": (lambda: holding([target(A)]), A, None),
    "asked": (asked, A, None),
}


def why(queue: Frontier, host: str, now: float = 0.0) -> Wait:
    return queue.why(host, now) or pytest.fail("it waits for nothing")


def test_every_rule_but_those_of_a_run_is_the_frontiers() -> None:
    assert set(WAYS) == set(RULES) - {"robots", "done"}


@pytest.mark.parametrize("rule", WAYS)
def test_a_host_is_told_by_which_rule_it_waits(rule: str) -> None:
    make, host, _ = WAYS[rule]

    assert why(make(), host).rule == rule


@pytest.mark.parametrize("rule", WAYS)
def test_and_for_how_many_seconds_more(rule: str) -> None:
    make, host, seconds = WAYS[rule]
    found = why(make(), host).seconds

    assert found == (seconds if seconds is None else pytest.approx(seconds, abs=0.01))


@pytest.mark.parametrize("rule", [rule for rule, way in WAYS.items() if way[2]])
def test_the_seconds_grow_fewer_as_time_goes_by(rule: str) -> None:
    make, host, seconds = WAYS[rule]
    assert seconds is not None
    later = why(make(), host, seconds - 0.5)

    assert (later.rule, later.seconds) == (rule, pytest.approx(0.5, abs=0.01))


@pytest.mark.parametrize(
    ("rule", "queued", "active"),
    [
        ("name", 1, 0),
        ("queue", 1, 0),
        ("crowd", 1, 0),
        ("interval", 1, 0),
        ("per-host", 1, 1),
        ("retry", 2, 0),
        ("asked", 0, 1),
        ("turn", 1, 0),
    ],
)
def test_how_many_wait_and_are_under_way_is_told(
    rule: str, queued: int, active: int
) -> None:
    make, host, _ = WAYS[rule]
    found = why(make(), host)

    assert (found.queued, found.active) == (queued, active)


@pytest.mark.parametrize("rule", ["crowd", "per-server", "server-interval"])
def test_the_address_that_is_shared_is_told(rule: str) -> None:
    make, host, _ = WAYS[rule]

    assert why(make(), host).address == "10.0.0.1"


def test_who_has_no_server_waits_for_nothing_but_its_turn() -> None:
    assert why(holding([target("mx:a.example")]), "mx:a.example").rule == "turn"


def test_a_host_that_rests_says_why() -> None:
    assert why(circuit(), A).detail == "no connection, refused; left alone for 60 s"
    assert why(retry_after(), A).detail == "it asks us to wait 9,000 s"


def test_a_host_of_which_nothing_is_known_waits_for_nothing() -> None:
    assert holding([]).why(NAME, 0.0) is None


def test_a_host_that_has_nothing_to_do_waits_for_nothing() -> None:
    queue = holding([target(A)], Limits(interval=5.0))
    queue.done(take(queue, 0.0)[0], 0.0)

    assert queue.why(A, 1.0) is None


def test_what_is_to_be_tried_once_more_is_told_though_its_host_was_just_asked() -> None:
    queue = holding([target(A)], Limits(interval=5.0))
    trans, _ = take(queue, 0.0)
    queue.put(visit(A), 0.0, delay=60.0)
    queue.done(trans, 0.0)

    found = why(queue, A, 1.0)
    assert (found.rule, found.seconds, found.queued) == ("retry", 59.0, 1)


def test_a_host_of_a_crowd_that_is_put_again_waits_for_its_name() -> None:
    queue = crowd()
    queue.put(target(NAME, 2), 0.0)

    assert why(queue, NAME).rule == "name"
    resolve(queue)
    assert why(queue, NAME).queued == 2


def test_a_neighbour_may_have_a_longer_gap_to_keep_at_the_server() -> None:
    rows = [
        Politeness(interval=0.0, factor=0.0, server_interval=1.0),
        Politeness(NAME, server_interval=5.0),
    ]
    queue = Frontier(Policy(rows).limits, config.Frontier(), longest=5.0)
    for host in ("first.example", NAME):
        queue.put(target(host), 0.0)
    resolve(queue, STRANGER)
    queue.done(take(queue, 0.0)[0], 0.0)
    queue.take(2.0)

    assert (why(queue, NAME, 2.0).rule, why(queue, NAME, 2.0).seconds) == (
        "server-interval",
        3.0,
    )
