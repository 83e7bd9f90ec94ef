"""A frontier whose servers are shared with other processes."""

import random
from math import inf

from ronda import config
from ronda.frontier import Frontier, Limits
from ronda.model import Target

POLITE = Limits(interval=2.0, server_interval=1.0)
A = "127.0.0.1"


def shared(limits: Limits = POLITE, **settings: int) -> Frontier:
    return Frontier(
        lambda _host, _address: limits,
        config.Frontier(**settings),
        random=random.Random(1),
        asks_leave=True,
    )


def target(host: str, number: int = 0) -> Target:
    return Target(f"http://{host}/{number}", host)


def test_even_an_address_is_not_asked_before_leave_was_given():
    frontier = shared()
    frontier.put(target(A), 0.0)

    assert frontier.take(0.0) is None
    assert list(frontier.unresolved()) == [A]
    frontier.resolved(A, A, 0.0)
    assert frontier.take(0.0) is not None


def test_an_address_needs_no_pin_to_itself():
    frontier = shared()
    frontier.put(target(A), 0.0)
    list(frontier.unresolved())
    frontier.resolved(A, A, 0.0)
    taken = frontier.take(0.0)

    assert taken is not None
    assert taken[1].host.pin == ""


def test_what_is_dismissed_is_no_longer_queued():
    frontier = shared()
    frontier.put(target("a.test", 1), 0.0)
    frontier.put(target("a.test", 2), 0.0)
    list(frontier.unresolved())

    assert frontier.dismiss("a.test", 0.0) == [target("a.test", 1), target("a.test", 2)]
    assert frontier.queued == 0
    assert frontier.idle
    assert frontier.dismiss("a.test", 0.0) == []


def test_the_queue_of_a_dismissed_host_is_free_for_another():
    frontier = shared(queue_count=1)
    frontier.put(target("a.test"), 0.0)
    frontier.put(target("b.test"), 0.0)
    assert list(frontier.unresolved()) == ["a.test"]

    frontier.dismiss("a.test", 0.0)

    assert list(frontier.unresolved()) == ["b.test"]


def test_what_waits_outside_is_dismissed_too():
    frontier = shared(queue_count=1)
    frontier.put(target("a.test"), 0.0)
    frontier.put(target("b.test"), 0.0)

    assert frontier.dismiss("b.test", 0.0) == [target("b.test")]
    assert frontier.queued == 1


def test_a_host_that_another_asked_waits_out_its_gap():
    frontier = shared()
    frontier.asked("a.test", 10.0, 0.0, 0.0)
    frontier.put(target("a.test"), 11.0)
    list(frontier.unresolved())
    frontier.resolved("a.test", A, 11.0)

    assert frontier.take(11.9) is None
    assert frontier.take(12.0) is not None


def test_a_host_that_is_known_here_learns_that_another_asked_it():
    frontier = shared()
    frontier.put(target("a.test"), 0.0)
    list(frontier.unresolved())
    frontier.resolved("a.test", A, 0.0)
    frontier.asked("a.test", 5.0, 20.0, 7.0)

    assert frontier.take(19.9) is None
    assert frontier.take(20.0) is not None


def test_a_server_that_another_asked_waits_out_its_gap():
    frontier = shared()
    frontier.asked_at(A, 5.0, 9.0)
    frontier.put(target("a.test"), 5.0)
    list(frontier.unresolved())
    frontier.resolved("a.test", A, 5.0)

    assert frontier.take(8.9) is None
    assert frontier.take(9.0) is not None


def test_an_expired_address_is_looked_for_again_before_the_next_request():
    frontier = shared(Limits())
    frontier.put(target("a.test", 1), 0.0)
    frontier.put(target("a.test", 2), 0.0)
    list(frontier.unresolved())
    frontier.resolved("a.test", A, 0.0, inf)
    assert frontier.take(0.0) is not None

    frontier.expire("a.test", 1.0)
    frontier.expire("unknown.test", 1.0)

    assert frontier.take(1.0) is None
    assert list(frontier.unresolved()) == ["a.test"]


def test_a_server_lives_for_as_long_as_anything_is_remembered_of_it():
    frontier = shared(Limits())
    frontier.put(target(A), 0.0)
    list(frontier.unresolved())

    assert not frontier.lives(A)
    frontier.resolved(A, A, 0.0)
    assert frontier.lives(A)
    taken = frontier.take(0.0)
    assert taken is not None
    frontier.done(taken[0], 1.0)
    assert not frontier.lives(A)


def test_what_was_told_of_hosts_that_were_never_asked_is_forgotten_with_them():
    frontier = shared()
    for number in range(10):
        frontier.asked(f"{number}.test", 0.0, 5.0, 1.0)
    for number in range(5):
        frontier.let_go(f"{number}.test")
    for number in range(5, 10):
        frontier.dismiss(f"{number}.test", 1.0)

    assert frontier._homes.earlier == {}
