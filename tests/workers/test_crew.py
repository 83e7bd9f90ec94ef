"""The crew: deaths, the lives of a request, and when another worker makes no sense."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda.workers.crew import LIVES, Crew, Fate, Glimpse, Member
from ronda.workers.states import Role, WorkerState

S = WorkerState
ROLES = st.sampled_from(Role)


def at_work(crew: Crew, on: str = "", role: Role = Role.FETCHER) -> Member:
    """A new worker with something in its hands."""
    member = crew.enlist(role, 0.0)
    member.become(S.WAITING, 0.0)
    if on:
        member.become(S.BEFORE_WORK, 0.0, on)
    return member


def finish(crew: Crew, member: Member, now: float = 1.0) -> None:
    """Go through one cycle to its end."""
    member.become(S.WORKING, now)
    crew.finished(member, now)
    member.become(S.WAITING, now)


class TestTheRoll:
    def test_each_is_named_after_its_role_and_number(self) -> None:
        crew = Crew()
        roles = [Role.FETCHER, Role.CRAWLER, Role.FETCHER, Role.WORKER]

        names = [crew.enlist(role, 0.0).name for role in roles]

        assert names == ["fetcher 1", "crawler 1", "fetcher 2", "worker 1"]

    def test_no_name_is_ever_given_twice(self) -> None:
        crew = Crew(strict=True)
        for _ in range(5):
            crew.buried(at_work(crew), 1.0)

        assert crew.enlist(Role.FETCHER, 2.0).name == "fetcher 6"
        assert len(crew.members) == 1

    def test_those_of_one_role_are_told(self) -> None:
        crew = Crew()
        for role in Role:
            crew.enlist(role, 0.0)

        assert [member.name for member in crew.of(Role.CRAWLER)] == ["crawler 1"]

    @settings(deadline=None)
    @given(st.lists(ROLES))
    def test_everybody_is_in_one_role(self, roles: list[Role]) -> None:
        crew = Crew()
        for role in roles:
            crew.enlist(role, 0.0)

        of_all = [member for role in Role for member in crew.of(role)]
        assert sorted(m.name for m in of_all) == sorted(m.name for m in crew.members)


class TestWork:
    def test_one_who_has_finished_has_empty_hands_and_sleeps(self) -> None:
        crew = Crew(strict=True)
        member = at_work(crew, "http://a.test/")
        member.hands = "a page"
        member.become(S.WORKING, 2.0)

        crew.finished(member, 3.0)

        assert (member.state, member.since, member.cycles) == (S.SLEEPING, 3.0, 1)
        assert (member.on, member.hands) == ("", None)

    def test_what_a_worker_is_on_stays_until_it_is_told_otherwise(self) -> None:
        member = at_work(Crew(strict=True), "http://a.test/")
        member.become(S.DOWNLOADING, 2.0)

        assert member.on == "http://a.test/"

    def test_a_glimpse_says_what_since_when_and_on_what(self) -> None:
        crew = Crew(strict=True)
        at_work(crew, "http://a.test/")
        done = at_work(crew, "http://b.test/", Role.CRAWLER)
        finish(crew, done, 4.0)

        assert crew.glimpses(10.0, str.upper) == (
            Glimpse("fetcher 1", Role.FETCHER, S.BEFORE_WORK, 10.0, "HTTP://A.TEST/"),
            Glimpse("crawler 1", Role.CRAWLER, S.WAITING, 6.0, "", 1),
        )

    def test_a_glimpse_shows_a_url_as_it_is_unless_told_how(self) -> None:
        crew = Crew()
        at_work(crew, "http://a.test/")

        assert crew.glimpses(0.0)[0].on == "http://a.test/"


class TestDeath:
    def test_the_dead_are_off_the_roll_and_counted(self) -> None:
        crew = Crew(strict=True)
        dead, alive = at_work(crew, "x"), at_work(crew, "y")

        assert crew.buried(dead, 5.0) is Fate.AGAIN
        assert (dead.state, dead.since) == (S.DIED, 5.0)
        assert crew.members == [alive]
        assert crew.deaths == 1

    def test_a_request_has_three_lives(self) -> None:
        crew = Crew(strict=True)
        fates = [crew.buried(at_work(crew, "x"), 1.0) for _ in range(3)]

        assert fates == [Fate.AGAIN, Fate.AGAIN, Fate.GIVEN_UP]

    def test_and_whoever_comes_back_to_it_later_has_them_anew(self) -> None:
        crew = Crew(strict=True)
        others = [at_work(crew, "y") for _ in range(9)]
        fates = [crew.buried(at_work(crew, "x"), 1.0) for _ in range(6)]

        assert fates == [Fate.AGAIN, Fate.AGAIN, Fate.GIVEN_UP] * 2
        assert len(crew.members) == len(others)

    def test_of_what_was_finished_nothing_is_remembered(self) -> None:
        crew = Crew(strict=True)
        for number in range(10):
            crew.buried(at_work(crew, f"{number}"), 1.0)
            finish(crew, at_work(crew, f"{number}"))

        assert crew._killed == {}

    def test_it_is_the_same_request_whatever_role_dies_of_it(self) -> None:
        crew = Crew(strict=True)
        fates = [crew.buried(at_work(crew, "x", role), 1.0) for role in Role]

        assert fates[-1] is Fate.GIVEN_UP

    @settings(deadline=None)
    @given(st.permutations(["a"] * 3 + ["b"] * 2 + ["c"]))
    def test_lives_are_counted_for_each(self, deaths: list[str]) -> None:
        crew = Crew(strict=True)
        for _ in range(9):
            at_work(crew, "others")
        given_up = [
            on for on in deaths if crew.buried(at_work(crew, on), 1.0) is Fate.GIVEN_UP
        ]

        assert given_up == ["a"]


class TestALostCrew:
    @pytest.mark.parametrize("size", [1, 2, 10])
    def test_it_is_lost_when_each_died_in_vain_as_often_as_a_request_may_kill(
        self, size: int
    ) -> None:
        crew = Crew(strict=True)
        for _ in range(size - 1):
            at_work(crew)
        fates = [crew.buried(at_work(crew), 1.0) for _ in range(LIVES * size + 1)]

        assert fates == [Fate.AGAIN] * (LIVES * size) + [Fate.LOST_CREW]

    @settings(deadline=None)
    @given(st.lists(st.booleans(), max_size=200), st.integers(1, 5))
    def test_never_while_somebody_finishes_something(
        self, deaths: list[bool], size: int
    ) -> None:
        """Against the obvious: a count of deaths that every finished cycle clears."""
        crew = Crew(strict=True)
        good = [at_work(crew) for _ in range(size)]
        in_vain = 0
        for number, dies in enumerate(deaths):
            if dies:
                in_vain += 1
                fate = crew.buried(at_work(crew), 1.0)
                lost = in_vain > LIVES * (size + 1)
                assert fate is (Fate.LOST_CREW if lost else Fate.AGAIN)
            else:
                in_vain = 0
                member = good[number % size]
                member.become(S.BEFORE_WORK, 1.0, "x")
                finish(crew, member)
        assert crew.deaths == sum(deaths)
