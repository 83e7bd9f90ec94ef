from ronda.model import Result, Standing, State
from ronda.store.sql.values import Due, Entry, Pace
from ronda.workers.turns import Turns


def entry(number: int) -> Entry:
    url = f"http://a.test/{number}"
    due = Due(number, url, 1, Standing())
    result = Result(url=url, verdict=State.OK, reason="http_200", message="200 OK")
    return Entry(due=due, result=result, at=1.0, standing=Standing(), next_due=2.0)


def test_a_turn_takes_all_there_is():
    turns = Turns()
    turns.entries += [entry(1), entry(2)]
    turns.hosts["a.test"] = Pace(1.0, 2.0)
    turns.servers[1] = Pace(1.0, 2.0)
    turns.robots["http://a.test"] = b""

    assert turns
    turn = turns.cut(10)
    assert turn.entries == (entry(1), entry(2))
    assert turn.hosts == {"a.test": Pace(1.0, 2.0)}
    assert turn.servers == {1: Pace(1.0, 2.0)}
    assert turn.robots == {"http://a.test": b""}
    assert not turns


def test_of_too_many_results_the_rest_is_for_the_next_turn():
    turns = Turns()
    turns.entries += [entry(n) for n in range(5)]

    assert [len(turns.cut(2).entries) for _ in range(3)] == [2, 2, 1]
    assert not turns


def test_turns_are_numbered():
    turns = Turns()

    assert [turns.cut(1).number for _ in range(3)] == [1, 2, 3]
