"""Plans: tasks in their order, until one finds a fault; all of it pure."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.config import Settings
from ronda.errors import SettingsError
from ronda.frontier.host import Host
from ronda.model import (
    RESTING,
    Answer,
    Ask,
    Done,
    Job,
    NotApplicable,
    Ran,
    Request,
    Service,
    State,
    Target,
    TaskResult,
    Verdict,
    Via,
    Visit,
)
from ronda.probes import Handlers, verdict
from ronda.probes import tasks as table
from ronda.probes.plans import ENDING, SEVERITY, Plans, conclude, cut_short, summed_up
from ronda.probes.program import Program
from ronda.probes.said import Identity
from ronda.probes.task import Asked, Begun, Judged, Row

URL = "http://geo.test/ows?service=WMS"
TARGET = Target(URL, "geo.test")
SERVICE = Service(7, description="Land cover", owner="dgt", type="WMS", version="1.3.0")
OK = Verdict(State.OK, "fine", "it is fine")


def says(name: str, found: Begun, *, kinds: tuple[str, ...] = ()) -> Row:
    """A task that says the same of everybody."""

    def ask(_visit: Visit, _service: Service) -> Begun:
        return found

    def judge(_visit: Visit, _answer: Answer, _now: float) -> Judged:
        raise AssertionError("nothing was asked")

    return Row(name=name, task=Asked(ask, judge), kinds=kinds)


def asks(name: str, *answers: Judged) -> Row:
    """A task that asks, and says of each answer what it is told."""
    left = list(answers)

    def ask(visit: Visit, _service: Service) -> Begun:
        return Request(visit.target.url)

    def judge(_visit: Visit, _answer: Answer, _now: float) -> Judged:
        return left.pop(0)

    return Row(name=name, task=Asked(ask, judge))


def start(*rows: Row) -> Ask | Done:
    return Plans(rows, {}).start(TARGET, SERVICE, 100.0)


def results(step: Ask | Done) -> list[tuple[str, State]]:
    assert step.visit is not None
    assert step.visit.progress is not None
    return [(one.task, one.state) for one in step.visit.progress.results]


def a(state: State) -> Verdict:
    return Verdict(state, f"is_{state}", f"it is {state}")


def test_a_plan_that_asks_nobody_ends_at_once() -> None:
    step = start(says("one", OK), says("two", OK))

    assert isinstance(step, Done)
    assert step.verdict == verdict("tasks_ok", "2 tasks")
    assert results(step) == [("one", State.OK), ("two", State.OK)]


def test_what_does_not_apply_leaves_no_result_and_the_visit_goes_on() -> None:
    step = start(says("one", NotApplicable()), says("two", OK))

    assert results(step) == [("two", State.OK)]


def test_a_warning_goes_on_and_is_the_verdict_in_the_end() -> None:
    step = start(says("one", a(State.WARNING)), says("two", OK))

    assert isinstance(step, Done)
    assert step.verdict == a(State.WARNING)
    assert results(step) == [("one", State.WARNING), ("two", State.OK)]


@pytest.mark.parametrize("state", sorted(ENDING))
def test_a_fault_ends_the_visit_and_later_tasks_say_nothing(state: State) -> None:
    step = start(says("one", OK), says("two", a(state)), says("three", OK))

    assert isinstance(step, Done)
    assert step.verdict == a(state)
    assert results(step) == [("one", State.OK), ("two", state)]


def test_a_fault_of_ours_says_nothing_of_the_target_and_the_visit_goes_on() -> None:
    step = start(says("one", a(State.UNKNOWN)), says("two", OK))

    assert isinstance(step, Done)
    assert step.verdict.state is State.UNKNOWN
    assert results(step) == [("one", State.UNKNOWN), ("two", State.OK)]


def test_no_task_that_applies_is_told() -> None:
    step = start(says("one", NotApplicable()))

    assert isinstance(step, Done)
    assert step.verdict.reason == "no_task"


def test_each_request_is_a_lease_and_the_next_task_another() -> None:
    plans = Plans([asks("one", Done(OK)), asks("two", Done(OK))], {})

    first = plans.start(TARGET, SERVICE, 100.0)
    assert isinstance(first, Ask)
    assert first.visit.progress is not None
    assert first.visit.progress.task == "one"
    second = plans.advance(first.visit, Answer(status=200), 101.0)
    assert isinstance(second, Ask)
    assert second.visit.progress is not None
    assert second.visit.progress.task == "two"
    last = plans.advance(second.visit, Answer(status=200), 102.0)

    assert isinstance(last, Done)
    assert results(last) == [("one", State.OK), ("two", State.OK)]


def test_a_host_that_asks_us_to_wait_is_waited_for_before_the_next_task() -> None:
    plans = Plans([asks("one", Done(OK, hold=30.0)), asks("two", Done(OK))], {})
    first = plans.start(TARGET, SERVICE, 100.0)
    assert isinstance(first, Ask)

    second = plans.advance(first.visit, Answer(status=200), 101.0)

    assert isinstance(second, Ask)
    assert second.hold == 30.0


def test_hops_and_tries_of_a_task_are_its_own_but_its_zone_is_not() -> None:
    plans = Plans([asks("one", Done(OK)), asks("two", Done(OK))], {})
    first = plans.start(TARGET, SERVICE, 100.0)
    assert isinstance(first, Ask)
    public = Request(URL, public=True)
    met = Visit(TARGET, public, "elsewhere.test", attempts=3)
    visit = Visit(
        met.target, met.request, met.host, (), 3, progress=first.visit.progress
    )

    second = plans.advance(visit, Answer(status=200), 101.0)

    assert isinstance(second, Ask)
    assert second.visit.attempts == 1
    assert second.visit.host == "geo.test"
    assert second.visit.request.public


def test_only_tasks_for_the_kind_of_target_are_in_its_plan() -> None:
    rows = [says("all", OK), says("mirrors", OK, kinds=("mirror",))]
    rows.append(Row(name="broken", fault="it is broken"))

    assert Plans(rows, {}).of("service") == ("all",)
    assert Plans(rows, {}).of("mirror") == ("all", "mirrors")
    assert Plans(rows, {"service": ("mirrors",)}).of("service") == ("mirrors",)


def test_a_task_that_raises_is_at_fault_and_not_the_target() -> None:
    def ask(_visit: Visit, _service: Service) -> Begun:
        raise ValueError("oh")

    def judge(_visit: Visit, _answer: Answer, _now: float) -> Judged:
        raise AssertionError

    step = start(Row(name="one", task=Asked(ask, judge)), says("two", OK))

    assert results(step) == [("one", State.UNKNOWN), ("two", State.OK)]


def test_whatever_ends_a_visit_is_the_verdict_of_the_task_under_way() -> None:
    step = start(says("one", OK), asks("two"), says("three", OK))
    assert isinstance(step, Ask)

    found = conclude(step.visit, verdict("robots_disallow"), Answer())

    assert [(one.task, one.reason) for one in found.results] == [
        ("one", "fine"),
        ("two", "robots_disallow"),
    ]
    assert found.over


def test_a_host_that_rests_says_nothing_of_the_target() -> None:
    step = start(says("one", OK), asks("two"))
    assert isinstance(step, Ask)

    found = conclude(step.visit, verdict("host_resting"), Answer(error=RESTING))

    assert found.results[-1].state is State.UNKNOWN


def test_a_visit_that_is_over_is_not_concluded_twice() -> None:
    step = start(says("one", OK))
    assert isinstance(step, Done)
    assert step.visit is not None

    found = conclude(step.visit, step.verdict, Answer())

    assert len(found.results) == 1


def test_a_visit_that_another_process_began_goes_on_without_tasks_it_lacks() -> None:
    theirs = Plans([asks("theirs"), says("ours", OK)], {})
    step = theirs.start(TARGET, SERVICE, 100.0)
    assert isinstance(step, Ask)

    last = Plans([says("ours", OK)], {}).advance(step.visit, Answer(), 101.0)

    assert results(last) == [("ours", State.OK)]


def test_what_was_asked_for_goes_before_what_is_new() -> None:
    plans = Plans([asks("one", Done(OK)), asks("two", Done(OK))], {})
    first = plans.start(TARGET, SERVICE, 100.0)
    assert isinstance(first, Ask)
    second = plans.advance(first.visit, Answer(status=200), 101.0)
    assert isinstance(second, Ask)
    host = Host("geo.test")
    host.add(TARGET, 100)
    host.add(first.visit, 100)
    host.add(Target("http://geo.test/later", "geo.test"), 100)
    host.add(second.visit, 100)

    found = [host.pop(100) for _ in range(4)]

    assert found[0] is second.visit
    assert found[2] is first.visit


def test_a_visit_whose_round_was_stopped_says_nothing_of_what_it_left_out() -> None:
    plans = Plans([says("one", a(State.WARNING)), asks("two")], {})
    step = plans.start(TARGET, SERVICE, 100.0)
    assert isinstance(step, Ask)

    last = cut_short(step.visit)

    assert last.verdict.state is State.UNKNOWN
    assert last.verdict.reason == "round_stopped"
    assert results(last) == [("one", State.WARNING)]


class TestPrograms:
    def row(self) -> Row:
        who = Identity("title", "Has a title")
        return Row(name="title", task=Program("/tasks/title.sh", who, 30.0), timeout=30)

    def test_they_are_run_with_what_is_known_of_the_target(self) -> None:
        step = start(self.row())

        assert isinstance(step, Ask)
        assert step.visit.request.via is Via.PROGRAM
        job = msgspec.json.decode(step.visit.request.payload, type=Job)
        assert job.arguments == ("7|http://geo.test/ows?service=WMS||WMS|1.3.0",)
        assert (job.program, job.folder, job.timeout) == ("/tasks/title.sh", "7", 30.0)

    def test_what_they_say_and_write_is_kept(self) -> None:
        plans = Plans([self.row()], {})
        step = plans.start(TARGET, SERVICE, 100.0)
        assert isinstance(step, Ask)
        said = '{"status": "warning", "code": "no_title", "message": "m", "data": 3}'
        ran = Ran(code=0, output=said, errors="oh", seconds=0.5)

        last = plans.advance(step.visit, Answer(ran=ran), 101.0)

        assert isinstance(last, Done)
        assert last.visit is not None
        assert last.visit.progress is not None
        [found] = last.visit.progress.results
        assert (found.state, found.reason, found.data) == (
            State.WARNING,
            "no_title",
            "3",
        )
        assert found.seconds == 0.5
        assert "oh" in found.output
        assert plans.longest == 30

    def test_what_another_process_began_is_run_as_it_is_here(self) -> None:
        who = Identity("title", "Has a title")
        theirs = Row(name="title", task=Program("/evil", who, 9.0), timeout=9)
        step = Plans([theirs], {}).start(TARGET, SERVICE, 100.0)
        assert isinstance(step, Ask)
        assert b"/evil" in step.visit.request.payload

        ours = Plans([self.row()], {}).restored(step.visit)

        assert b"/tasks/title.sh" in ours.request.payload
        assert b"/evil" not in ours.request.payload

    def test_one_that_was_not_begun_is_judged_by_why(self) -> None:
        plans = Plans([self.row()], {})
        step = plans.start(TARGET, SERVICE, 100.0)
        assert isinstance(step, Ask)

        last = plans.advance(
            step.visit, Answer(error=RESTING, error_text="it rests"), 101.0
        )

        assert isinstance(last, Done)
        assert last.verdict.reason == "host_resting"


class TestBuiltIn:
    @pytest.fixture
    def plans(self) -> Plans:
        return Plans(table.rows(Handlers(Settings())), {})

    def run(self, plans: Plans, url: str, service: Service) -> Ask | Done:
        return plans.start(Target(url, "geo.test"), service, 100.0)

    def test_a_record_whose_address_cannot_be_checked_ends_its_visit(
        self, plans: Plans
    ) -> None:
        step = self.run(plans, "mailto:x@geo.test", SERVICE)

        assert isinstance(step, Done)
        assert step.verdict.reason == "record_uri"

    def test_a_record_without_owner_or_description_is_warned_of(
        self, plans: Plans
    ) -> None:
        step = self.run(plans, URL, Service(1))

        assert results(step) == [("congruence", State.WARNING)]

    @pytest.mark.parametrize(
        ("status", "state"),
        [(200, State.OK), (404, State.BROKEN), (503, State.TEMPORARY)],
    )
    def test_status_codes_are_judged_as_of_any_url(
        self, plans: Plans, status: int, state: State
    ) -> None:
        step = self.run(plans, URL, SERVICE)
        while isinstance(step, Ask):
            step = plans.advance(step.visit, Answer(status=status), 101.0)

        assert results(step)[-1] == ("url_status_codes", state)

    def test_a_redirect_that_leads_to_an_answer_needs_a_hand(
        self, plans: Plans
    ) -> None:
        step = self.run(plans, URL, SERVICE)
        assert isinstance(step, Ask)
        headers = (b"Location: http://new.test/",)
        step = plans.advance(step.visit, Answer(status=302, headers=headers), 101.0)
        assert isinstance(step, Ask)
        assert step.visit.host == "new.test"

        step = plans.advance(step.visit, Answer(status=200), 102.0)

        assert isinstance(step, Done)
        assert step.verdict.reason == "success_after_redirect"
        assert "http://new.test/" in step.verdict.message

    def test_what_the_user_takes_for_good_is_good(self) -> None:
        settings = Settings()
        check = type(settings.check)(accept=("403",))
        handlers = Handlers(type(settings)(check=check))
        plans = Plans(table.rows(handlers), {})
        step = self.run(plans, URL, SERVICE)
        while isinstance(step, Ask):
            step = plans.advance(step.visit, Answer(status=403), 101.0)

        assert step.verdict.state is State.OK


class TestTable:
    def test_a_name_counts_once(self) -> None:
        twice = Row(name="congruence", script="99_again.sh", task=says("x", OK).task)

        rows = table.rows(Handlers(Settings()), [twice])

        assert rows[-1].name == "99_again.sh"
        assert "already" in rows[-1].fault
        assert rows[-1].task is None

    def test_a_plan_may_only_name_tasks_that_can_be_used(self) -> None:
        rows = [says("one", OK), Row(name="two", fault="it hangs")]

        assert table.checked({"service": ("one",)}, rows) == {"service": ("one",)}
        with pytest.raises(SettingsError, match=r"plans\[0\].*'three'.*task list"):
            table.checked({"service": ("three",)}, rows)
        with pytest.raises(SettingsError, match="it hangs"):
            table.checked({"service": ("two",)}, rows)


@given(st.lists(st.sampled_from(list(State)), max_size=8))
def test_the_verdict_is_the_worst_of_the_tasks(states: list[State]) -> None:
    found = [TaskResult(f"t{n}", s, f"is_{s}", "m") for n, s in enumerate(states)]

    verdict_, task = summed_up(found)

    if not states:
        assert verdict_.state is State.UNSUPPORTED
        return
    worst = max(states, key=SEVERITY.index)
    assert verdict_.state is worst
    if worst is not State.OK:
        assert task == f"t{states.index(worst)}"


@given(
    st.lists(
        st.one_of(
            st.just(NotApplicable()), st.sampled_from([a(state) for state in State])
        ),
        max_size=8,
    )
)
def test_a_visit_tells_all_tasks_up_to_the_first_fault(said: list[Begun]) -> None:
    rows = [says(f"t{number}", each) for number, each in enumerate(said)]
    told = []
    for number, each in enumerate(said):
        if isinstance(each, Verdict):
            told.append((f"t{number}", each.state))
            if each.state in ENDING:
                break

    assert results(start(*rows)) == told
