"""What an answer teaches the frontier, and how that changes the next step."""

from dataclasses import dataclass, field
from math import inf

import pytest
from fake_parts import NOBODY, FakeLog, FakeNames, is_public

from fakes import START, FakeClock
from ronda.config import Politeness
from ronda.fetch.names import Address
from ronda.frontier import Frontier, Lease, Policy
from ronda.model import (
    GUARDED,
    Answer,
    Ask,
    Done,
    Hop,
    Request,
    State,
    Target,
    Timings,
    Verdict,
    Visit,
)
from ronda.workers.addresses import Addresses
from ronda.workers.feedback import Feedback

URL = "http://a.test/"
STRANGER, OWN = "93.184.216.34", "10.0.0.1"
GOOD = Done(Verdict(State.OK, "http_200", "200 OK"))
FAULT = Verdict(State.TEMPORARY, "timeout_connect", "timed out while connecting")
BUSY = Verdict(State.TEMPORARY, "http_503", "503 Service Unavailable")


def a_visit(**changes: object) -> Visit:
    """A visit of a page, or of something like it."""
    values: dict[str, object] = {
        "target": Target(URL, "a.test"),
        "request": Request(URL),
        "host": "a.test",
        **changes,
    }
    return Visit(**values)  # type: ignore[arg-type]


@dataclass
class Desk:
    """A frontier with two items for a host, of which one was taken at 1000."""

    address: str = OWN
    others: tuple[str, ...] = ()
    row: Politeness = field(default_factory=lambda: Politeness(failures_to_rest=2))
    log: FakeLog | None = None

    def __post_init__(self) -> None:
        self.clock = FakeClock(1000.0)
        self.frontier = Frontier(Policy([self.row]).limits)
        names = FakeNames({}, inf, self.clock)
        names._known["a.test"] = Address(self.address, others=self.others, until=inf)
        self.addresses = Addresses(names, self.frontier, self.clock, lambda: None)
        self.feedback = Feedback(
            self.frontier, self.addresses, is_public, self.clock, self.log
        )
        self.visit = a_visit()
        self.put()
        self.put()
        list(self.frontier.unresolved())
        self.frontier.resolved("a.test", self.address, 1000.0)
        self.trans, self.lease = self.take()

    def put(self) -> None:
        self.frontier.put(Target(URL, "a.test"), self.clock.now())

    def take(self) -> tuple[int, Lease]:
        return self.frontier.take(self.clock.now()) or pytest.fail("nothing to take")

    def heed(
        self, answer: Answer, step: Ask | Done = GOOD, visit: Visit | None = None
    ) -> Ask | Done:
        self.lease.ended_at = self.clock.now()
        return self.feedback.heed(
            self.trans, self.lease, visit or self.visit, answer, step
        )

    def again(self) -> None:
        """End the lease, and take the next."""
        self.frontier.done(self.trans, self.clock.now())
        self.put()
        self.trans, self.lease = self.take()

    @property
    def rule(self) -> str:
        """By which rule the host waits once the lease has ended."""
        self.frontier.done(self.trans, self.clock.now())
        found = self.frontier.why("a.test", self.clock.now())
        return found.rule if found is not None else ""


class TestTheNextStep:
    def test_a_verdict_stays_a_verdict(self) -> None:
        assert Desk().heed(Answer(status=200)) is GOOD

    def test_a_next_request_stays_one(self) -> None:
        step = Ask(a_visit(), delay=3.0)

        assert Desk().heed(Answer(status=500), step) is step

    def test_where_nobody_is_the_visit_goes_on_at_the_next_address(self) -> None:
        desk = Desk(others=("10.0.0.2",))
        step = desk.heed(NOBODY, Done(FAULT))

        assert step == Ask(desk.visit)
        assert desk.lease.host.pin == "10.0.0.2"

    def test_where_it_was_reached_it_does_not(self) -> None:
        desk = Desk(others=("10.0.0.2",))
        late = Answer(error=28, timings=Timings(connect=0.1))

        assert isinstance(desk.heed(late, Done(FAULT)), Done)
        assert desk.lease.host.pin == OWN

    def test_a_further_try_at_a_host_that_rests_ends_with_the_fault_before_it(
        self,
    ) -> None:
        desk = Desk(row=Politeness(failures_to_rest=1))
        step = desk.heed(NOBODY, Ask(a_visit(attempts=2), 1.0, otherwise=FAULT))

        assert step == Done(FAULT)

    def test_also_when_the_host_asked_for_the_rest(self) -> None:
        again = Ask(a_visit(attempts=2), 1.0, hold=9999.0, otherwise=BUSY)

        assert Desk().heed(Answer(status=503), again) == Done(BUSY)

    def test_one_that_has_no_fault_yet_goes_on(self) -> None:
        desk = Desk(row=Politeness(failures_to_rest=1))
        step = Ask(a_visit())

        assert desk.heed(NOBODY, step) is step


class TestZones:
    def test_a_visit_that_was_at_a_public_address_keeps_to_those(self) -> None:
        step = Desk(STRANGER).heed(Answer(status=302), Ask(a_visit(), delay=2.0))

        assert isinstance(step, Ask)
        assert step.visit.request == Request(URL, public=True)
        assert step.delay == 2.0

    def test_one_that_does_so_already_is_left_as_it_is(self) -> None:
        step = Ask(a_visit(request=Request(URL, public=True)))

        assert Desk(STRANGER).heed(Answer(status=302), step) is step

    def test_one_that_was_at_our_own_need_not(self) -> None:
        step = Ask(a_visit())

        assert Desk(OWN).heed(Answer(status=302), step) is step


class TestTheFrontier:
    def test_a_host_that_asks_us_to_wait_is_held(self) -> None:
        desk = Desk()
        desk.heed(Answer(status=503), Done(BUSY, hold=30.0))

        assert desk.rule == "retry-after"

    def test_one_that_only_asks_us_to_slow_down_is_given_time(self) -> None:
        desk = Desk(STRANGER)
        desk.heed(Answer(status=503), Done(BUSY, hold=0.0))

        assert desk.rule == "backoff"

    def test_one_that_asks_for_too_much_rests(self) -> None:
        desk = Desk()
        desk.heed(Answer(status=503), Done(BUSY, hold=9999.0))

        assert desk.rule == "retry-after"
        assert desk.take()[1].rests

    def test_a_head_that_is_turned_away_is_not_forgotten_before_its_get(self) -> None:
        desk = Desk(STRANGER)
        desk.heed(Answer(status=503), Ask(a_visit(), hold=0.0))
        desk.heed(Answer(status=503), Ask(a_visit()))

        assert desk.frontier.troubled

    def test_one_that_cannot_be_reached_too_often_rests(self) -> None:
        desk = Desk()
        desk.heed(NOBODY, Done(FAULT))
        desk.again()
        desk.heed(NOBODY, Done(FAULT))

        assert desk.rule == "circuit"
        assert desk.take()[1].rests == (
            "2 connections failed in a row, the last: timed out while connecting; "
            "left alone for 60 s"
        )

    @pytest.mark.parametrize(
        ("answer", "step"),
        [
            (Answer(status=200), GOOD),
            (Answer(status=500), Done(BUSY)),
            (Answer(status=503), Done(BUSY, hold=0.0)),
            (Answer(error=60), Done(FAULT)),
            (Answer(error=28, timings=Timings(connect=0.1)), Done(FAULT)),
        ],
    )
    def test_any_answer_shows_that_it_can_be_reached(
        self, answer: Answer, step: Done
    ) -> None:
        desk = Desk()
        desk.heed(NOBODY, Done(FAULT))
        desk.again()
        desk.heed(answer, step)
        desk.again()
        desk.heed(NOBODY, Done(FAULT))

        assert desk.rule != "circuit"

    def test_what_was_refused_by_the_guard_does_not(self) -> None:
        desk = Desk()
        desk.heed(NOBODY, Done(FAULT))
        desk.again()
        desk.heed(Answer(error=GUARDED), Done(FAULT))
        desk.again()
        desk.heed(NOBODY, Done(FAULT))

        assert desk.rule == "circuit"


HOP = Hop("http://b.test/", 302, URL)


class TestTheLog:
    def told(
        self, answer: Answer, visit: Visit | None = None
    ) -> list[dict[str, object]]:
        log = FakeLog()
        desk = Desk(log=log)
        desk.clock.advance(0.25)
        desk.heed(answer, GOOD, visit)
        return log.entries

    def test_a_request_is_told_when_it_has_ended(self) -> None:
        [entry] = self.told(Answer(status=200))

        assert entry == {
            "at": START.timestamp(),
            "seconds": 0.25,
            "host": "a.test",
            "server": OWN,
            "method": "HEAD",
            "url": URL,
            "kind": "page",
            "status": 200,
            "error": 0,
            "gap": 0.0,
            "rule": "",
        }

    @pytest.mark.parametrize(
        ("visit", "kind"),
        [
            (a_visit(), "page"),
            (a_visit(hops=(HOP,)), "hop"),
            (a_visit(request=Request(URL, "GET")), "page"),
            (a_visit(request=Request(URL, "GET", partial=True)), "get"),
            (a_visit(attempts=2), "retry"),
            (a_visit(attempts=2, hops=(HOP,)), "retry"),
            (a_visit(target=Target(URL, "a.test", robots=True)), "robots"),
            (
                a_visit(target=Target(URL, "a.test", robots=True), hops=(HOP,)),
                "robots",
            ),
        ],
    )
    def test_what_it_was_for_is_told(self, visit: Visit, kind: str) -> None:
        [entry] = self.told(Answer(status=200), visit)

        assert entry["kind"] == kind

    def test_a_fault_is_told(self) -> None:
        [entry] = self.told(NOBODY)

        assert (entry["status"], entry["error"]) == (0, 7)

    def test_what_the_guard_refused_was_not_asked(self) -> None:
        assert self.told(Answer(error=GUARDED)) == []

    def test_a_request_that_was_given_up_has_no_end(self) -> None:
        log = FakeLog()
        desk = Desk(log=log)
        desk.feedback.cut_off(desk.lease, desk.visit)

        [entry] = log.entries
        assert (entry["seconds"], entry["status"], entry["error"]) == (None, 0, 0)

    def test_without_a_log_nothing_is_told(self) -> None:
        desk = Desk()
        desk.feedback.cut_off(desk.lease, desk.visit)

        assert desk.heed(Answer(status=200)) is GOOD
