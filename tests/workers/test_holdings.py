import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.model import Place, Request, Standing, Target, Visit
from ronda.store.sql.values import Claimed, Due, Pace, Queued
from ronda.workers.holdings import Holdings


def due(number: int, server: int = 1, host: str = "a.test") -> Due:
    return Due(number, f"http://{host}/{number}", server, Standing())


def claimed(
    server: int, *targets: Due, address: str = "", hosts: tuple[str, ...] = ("a.test",)
) -> Claimed:
    where = address or f"127.0.0.{server}"
    return Claimed(server, where, Pace(), dict.fromkeys(hosts, Pace()), targets)


def nobody(_address: str) -> bool:
    return False


def test_a_target_is_under_way_once():
    holdings = Holdings(10)

    assert holdings.take(claimed(1, due(1), due(2))) == [due(1), due(2)]
    assert holdings.add(1, [due(2), due(3)]) == [due(3)]
    assert holdings.under_way == 3


def test_what_has_ended_may_come_again():
    holdings = Holdings(10)
    holdings.take(claimed(1, due(1)))

    assert holdings.end("http://a.test/1") == (due(1), 0)
    assert holdings.end("http://a.test/1") is None
    assert holdings.add(1, [due(1)]) == []  # in the store it is due still
    holdings.written([(due(1), 0)])
    assert holdings.add(1, [due(1)]) == [due(1)]


def test_nothing_is_added_to_a_server_that_was_let_go():
    holdings = Holdings(10)

    assert holdings.add(1, [due(1)]) == []


def test_a_server_is_let_go_when_nothing_is_left_to_do():
    holdings = Holdings(10)
    holdings.take(claimed(1, due(1)))
    holdings.may_have_more(1, more=False)

    assert holdings.let_go(nobody) == []
    holdings.end("http://a.test/1")
    assert holdings.let_go(nobody) == []  # its result is not written yet
    holdings.written([(due(1), 0)])
    assert holdings.let_go(lambda address: address == "127.0.0.1") == []
    assert [holding.id for holding in holdings.let_go(nobody)] == [1]
    assert holdings.holds("127.0.0.1") is None
    assert not holdings.is_home("a.test", "127.0.0.1")


def test_a_server_that_may_have_more_is_kept():
    holdings = Holdings(10)
    holdings.take(claimed(1, due(1)))
    holdings.end("http://a.test/1")

    assert holdings.let_go(nobody) == []


def test_a_server_is_hungry_when_half_of_it_is_done():
    holdings = Holdings(4)
    holdings.take(claimed(1, *(due(n) for n in range(4))))

    assert holdings.hungry() == []
    holdings.end("http://a.test/0")
    holdings.end("http://a.test/1")
    assert holdings.hungry() == [(1, 2, [2, 3, 0, 1])]
    holdings.written([(due(0), 0)])
    assert holdings.hungry() == [(1, 2, [2, 3, 1])]
    holdings.may_have_more(1, more=False)
    assert holdings.hungry() == []


def test_a_host_that_moves_takes_along_what_is_under_way():
    holdings = Holdings(10)
    first = claimed(
        1, due(1), due(2, host="b.test"), hosts=("a.test", "b.test"), address="name:a"
    )
    holdings.take(first)

    holdings.take(claimed(2))

    assert holdings.is_home("a.test", "127.0.0.2")
    assert holdings.is_home("b.test", "name:a")
    assert holdings.servers[1].under_way == {2: "http://b.test/2"}
    assert holdings.servers[2].under_way == {1: "http://a.test/1"}
    ended = holdings.end("http://a.test/1")
    assert ended is not None
    assert ended[0].server == 2


def test_a_visit_that_was_handed_over_is_carried_on_once():
    holdings = Holdings(10)
    holdings.take(claimed(1))
    target = Target("http://a.test/1", "a.test")
    visit = Visit(target, Request("http://b.test/"), "b.test")
    queued = Queued(7, visit, due(1))

    assert holdings.carry_on(queued)
    assert not holdings.carry_on(queued)
    assert holdings.end("http://a.test/1") == (due(1), 7)
    assert not holdings.carry_on(queued)
    holdings.written([(due(1), 7)])
    assert not holdings.carry_on(queued)  # as the store was when it was asked
    holdings.looks()
    assert holdings.carry_on(queued)


def test_a_visit_for_a_server_that_is_not_held_is_not_carried_on():
    visit = Visit(Target("http://a.test/1", "a.test"), Request("http://b.test/"), "b")

    assert not Holdings(10).carry_on(Queued(7, visit, due(1)))


def test_to_a_book_only_what_is_under_way_is_known():
    holdings = Holdings(10)
    holdings.take(claimed(1, due(1)))

    assert "http://a.test/1" in holdings
    assert holdings.note("http://a.test/1", Place(""))
    assert not holdings.note("http://other.test/", Place(""))
    assert holdings.know("http://a.test/1")
    assert holdings.places("http://a.test/1") == ()
    assert len(holdings) == 1
    holdings.end("http://a.test/1")
    assert len(holdings) == 1


@pytest.mark.parametrize("busy", [True, False])
def test_all_are_busy_when_each_has_something_under_way(busy: bool):
    holdings = Holdings(10)
    holdings.take(claimed(1, due(1)))
    if not busy:
        holdings.take(claimed(2, hosts=()))

    assert holdings.all_busy is busy


@given(
    st.lists(
        st.tuples(st.sampled_from("taegm"), st.integers(1, 3), st.integers(1, 12)),
        max_size=60,
    )
)
def test_both_sides_always_agree_on_what_is_under_way(steps):
    holdings = Holdings(4)
    for what, server, number in steps:
        host = f"h{number % 4}.test"
        if what == "t":
            holdings.take(claimed(server, due(number, server, host), hosts=(host,)))
        elif what == "a":
            holdings.add(server, [due(number, server, host)])
        elif what == "e":
            holdings.end(f"http://{host}/{number}")
        elif what == "g":
            holdings.let_go(nobody)
        else:
            holdings.may_have_more(server, more=False)

        held = [u for s in holdings.servers.values() for u in s.under_way.values()]
        assert sorted(held) == sorted(set(held))
        assert len(held) == holdings.under_way


def test_a_server_that_gets_an_address_is_found_by_it():
    holdings = Holdings(10)
    holdings.take(claimed(1, due(1), address="name:a.test"))

    holdings.take(claimed(1, address="127.0.0.9"))

    assert holdings.holds("127.0.0.9") == 1
    assert holdings.holds("name:a.test") is None
    assert holdings.is_home("a.test", "127.0.0.9")
    assert holdings.under_way == 1
