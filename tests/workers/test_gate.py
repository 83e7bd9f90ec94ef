"""robots.txt before pages."""

import asyncio
from itertools import pairwise
from math import inf

import pytest
from fake_parts import (
    MISSING,
    OK,
    POLITE,
    FakeLog,
    FakeShelf,
    Play,
    found,
    moved,
    page,
    until,
    with_check,
)

from ronda.config import Guard as GuardSettings
from ronda.fetch import Guard
from ronda.model import GUARDED, RESTING, Answer, Hop, Request, Target, Verdict, Visit
from ronda.workers.delays import Heed, unheeded
from ronda.workers.gate import DAY, MONTH, SOON, Gate, Passed
from ronda.workers.run import Run

A, B = "http://a.test/", "http://b.test/"
PUBLIC, OTHER_PUBLIC = "93.184.216.34", "93.184.216.35"
RULES = Answer(status=200, body=b"User-agent: *\nDisallow: /private\n")
OLD_RULES = b"User-agent: *\nDisallow: /old\n"
REFUSED = Answer(error=GUARDED, error_text="10.0.0.1 is private")


def play(*urls: str, robots: Answer | list[Answer], **more: object) -> Play:
    replies = {f"{A}robots.txt": robots, **more.pop("replies", {})}  # type: ignore[dict-item]
    return Play(found(*urls), replies, settings=POLITE, **more)  # type: ignore[arg-type]


class TestInARun:
    def test_the_rules_decide_page_by_page(self) -> None:
        done = play(A, f"{A}private/x", robots=RULES)

        assert done.reasons == {A: "http_200", f"{A}private/x": "robots_disallow"}
        assert f"{A}private/x" not in done.fetch.urls

    def test_a_host_is_asked_for_its_rules_once_and_first(self) -> None:
        done = play(*(f"{A}{n}" for n in range(30)), robots=RULES)

        assert done.fetch.urls[0] == f"{A}robots.txt"
        assert done.fetch.urls.count(f"{A}robots.txt") == 1
        assert len(done.reasons) == 30
        assert f"{A}robots.txt" not in done.reasons

    def test_every_authority_has_rules_of_its_own(self) -> None:
        done = play(A, "http://a.test:81/", "https://a.test/", robots=RULES)

        asked = [url for url in done.fetch.urls if url.endswith("robots.txt")]
        assert sorted(asked) == [
            "http://a.test/robots.txt",
            "http://a.test:81/robots.txt",
            "https://a.test/robots.txt",
        ]

    @pytest.mark.parametrize("status", [401, 403, 404, 410])
    def test_a_host_without_rules_forbids_nothing(self, status: int) -> None:
        done = play(f"{A}private/x", robots=Answer(status=status))

        assert done.reasons == {f"{A}private/x": "http_200"}

    @pytest.mark.parametrize("status", [500, 503, 429])
    def test_rules_that_cannot_be_had_forbid_everything(self, status: int) -> None:
        done = play(A, f"{A}x", robots=Answer(status=status))

        assert set(done.reasons.values()) == {"robots_unreachable"}
        assert set(done.fetch.urls) == {f"{A}robots.txt"}

    def test_rules_that_fail_once_are_asked_for_again(self) -> None:
        done = play(A, robots=[Answer(status=503), RULES])

        assert done.reasons == {A: "http_200"}
        assert done.fetch.urls.count(f"{A}robots.txt") == 2

    @pytest.mark.parametrize(
        ("answer", "code"),
        [
            (Answer(error=7, errno=111), "connect_refused"),
            (Answer(error=60, verify=10), "tls_expired"),
            (Answer(error=28), "timeout_connect"),
        ],
    )
    def test_pages_share_the_fault_of_a_host_that_cannot_be_reached(
        self, answer: Answer, code: str
    ) -> None:
        done = play(A, f"{A}x", robots=answer)

        assert done.reasons == {A: code, f"{A}x": code}
        assert set(done.fetch.urls) == {f"{A}robots.txt"}

    def test_a_name_that_is_missing_is_told_as_such(self) -> None:
        done = play(A, robots=OK, addresses={"a.test": Answer(error=6)})

        assert done.reasons == {A: "dns_no_such_name"}
        assert done.fetch.asked == []

    def test_rules_may_have_moved(self) -> None:
        done = play(
            f"{A}private/x",
            robots=moved(f"{B}rules"),
            replies={f"{B}rules": RULES},
        )

        assert done.reasons == {f"{A}private/x": "robots_disallow"}

    def test_a_redirect_is_held_against_the_rules_of_where_it_leads(self) -> None:
        done = play(
            B,
            robots=RULES,
            replies={B: moved(f"{A}private/x"), f"{B}robots.txt": MISSING},
        )

        assert done.reasons == {B: "robots_disallow"}
        assert f"{A}private/x" not in done.fetch.urls

    def test_robots_txt_itself_may_be_checked(self) -> None:
        done = play(f"{A}robots.txt", robots=RULES)

        assert done.reasons == {f"{A}robots.txt": "http_200"}

    def test_other_schemes_have_no_rules(self) -> None:
        done = Play(found("mailto:a@b.test"), settings=POLITE)

        assert not any("robots" in url for url in done.fetch.urls)

    def test_the_links_of_a_page_are_held_against_the_rules_too(self) -> None:
        done = Play(
            found(A, reads=True),
            {A: page('<a href="/private/x">'), f"{A}robots.txt": RULES},
            settings=POLITE,
        )

        assert done.reasons[f"{A}private/x"] == "robots_disallow"

    def test_pages_share_a_fault_that_looks_like_a_connection_that_died(self) -> None:
        died = Answer(error=56, error_text="Connection died, tried 5 times")
        done = play(A, f"{A}x", robots=died)

        assert done.reasons == {A: "empty_reply", f"{A}x": "empty_reply"}

    def test_rules_that_moved_to_a_dead_host_are_not_the_pages_fault(self) -> None:
        dead = Answer(error=7, errno=111)
        done = play(A, robots=moved(f"{B}rules"), replies={f"{B}rules": dead})

        assert done.reasons == {A: "robots_unreachable"}
        assert A not in done.fetch.urls

    def test_rules_that_moved_to_a_missing_name_are_not_the_pages_fault(self) -> None:
        done = play(A, robots=moved(f"{B}rules"), addresses={"b.test": Answer(error=6)})

        assert done.reasons == {A: "robots_unreachable"}

    @pytest.mark.parametrize("most", [0, 10])
    def test_rules_may_move_five_times_whatever_is_set(self, most: int) -> None:
        ways = {f"{B}{n}": moved(f"http://h{n + 1}.test/") for n in range(1)}
        ways |= {
            f"http://h{n}.test/": moved(f"http://h{n + 1}.test/") for n in range(1, 4)
        }
        done = Play(
            found(f"{A}private/x"),
            {
                f"{A}robots.txt": moved(f"{B}0"),
                **ways,
                "http://h4.test/": RULES,
            },
            settings=with_check(POLITE, max_redirects=most),
        )

        assert done.reasons == {f"{A}private/x": "robots_disallow"}

    def test_rules_are_asked_for_without_the_credentials_of_the_page(self) -> None:
        done = play("http://user:secret@a.test/", robots=RULES)

        assert done.fetch.urls == [f"{A}robots.txt", "http://user:secret@a.test/"]

    def test_the_rules_of_strangers_are_kept_for_runs_to_come(self) -> None:
        shelf = FakeShelf()
        play(
            A,
            B,
            robots=RULES,
            replies={f"{B}robots.txt": RULES},
            addresses={"a.test": PUBLIC, "b.test": "127.0.0.1"},
            shelf=shelf,
        )

        assert shelf.files == {"http://a.test": (RULES.body, 0.0)}

    def test_rules_of_an_earlier_run_need_no_request(self) -> None:
        shelf = FakeShelf({"http://a.test": (RULES.body, 100.0)})
        done = play(A, f"{A}private/x", robots=MISSING, shelf=shelf)

        assert done.reasons == {A: "http_200", f"{A}private/x": "robots_disallow"}
        assert done.fetch.urls == [A]

    def test_a_crawl_delay_is_kept_from_the_first_page_on(self) -> None:
        delayed = Answer(status=200, body=b"User-agent: *\nCrawl-delay: 0.05\n")
        log = FakeLog()
        done = play(*(f"{A}{n}" for n in range(3)), robots=delayed, log=log)

        assert len(done.reasons) == 3
        starts = sorted(entry["at"] for entry in log.entries)
        assert min(then - first for first, then in pairwise(starts)) >= 0.0499

    def test_what_is_refused_to_a_strangers_link_is_asked_for_the_operator(
        self,
    ) -> None:
        inside = "http://inside.test/"
        known, first_waits = asyncio.Event(), asyncio.Event()

        async def second(_: Request) -> Answer:
            await first_waits.wait()
            return page(f'<a href="{inside}2">')

        async def both_wait(run: Run) -> None:
            gate = run._entrance.gate
            assert gate is not None
            await until(lambda: gate.pending("inside.test") == 1)
            first_waits.set()
            await until(lambda: gate.pending("inside.test") == 2)
            known.set()

        done = Play(
            found(A, B, reads=True),
            {A: page(f'<a href="{inside}1">'), B: second},
            settings=POLITE,
            addresses={"a.test": PUBLIC, "inside.test": "10.0.0.1"},
            guard=Guard(GuardSettings()),
            held_names={"inside.test": known},
            watch=both_wait,
        )

        assert done.reasons[f"{inside}1"] == "address_refused"
        assert done.reasons[f"{inside}2"] == "http_200"
        assert f"{inside}1" not in done.fetch.urls


def asked(gate: Gate, item: Target, now: float = 0.0) -> Visit:
    """The visit that a gate wants to be made first."""
    question = gate.check(item, now)
    assert isinstance(question, Visit)
    return question


def learnt(
    gate: Gate, question: Visit, answer: Answer, now: float = 0.0, keep: bool = False
) -> list[Passed]:
    return [passed for _, passed in gate.learn(question, answer, now, keep=keep)]


def target(path: str = "", *, public: bool = False) -> Target:
    return Target(f"{A}{path}", "a.test", public=public)


def knowing(answer: Answer, shelf: FakeShelf | None = None) -> Gate:
    """A gate that was answered at 0."""
    gate = Gate("ronda/1", shelf)
    learnt(gate, asked(gate, target()), answer)
    return gate


class TestAlone:
    def test_those_who_wait_are_let_go_together(self) -> None:
        gate = Gate("ronda/1")
        first, second = target("1"), target("private")
        question = asked(gate, first)

        assert gate.check(second, 0.0) is False
        (one, allowed), (other, refused) = gate.learn(question, RULES, 0.0)
        assert (one, allowed) == (first, True)
        assert other is second
        assert isinstance(refused, Verdict)
        assert "/private" in refused.message
        assert gate.check(target("3"), 0.0) is True

    def test_the_file_is_asked_for_by_get_and_whatever_its_type(self) -> None:
        question = asked(Gate("ronda/1"), target("1"))

        assert question.target.robots
        assert question.request == Request(
            f"{A}robots.txt", "GET", body=question.request.body, raw=True
        )

    def test_who_waits_is_counted_by_host(self) -> None:
        gate = Gate("ronda/1")
        for url in (A, f"{A}x", "https://a.test/", B):
            gate.check(Target(url, url.split("/")[2]), 0.0)

        assert (gate.pending("a.test"), gate.pending("b.test")) == (3, 1)
        assert gate.pending("c.test") == 0

    @pytest.mark.parametrize(
        ("agent", "allowed"), [("ronda/1", False), ("other/2 (+x)", True)]
    )
    def test_we_are_known_by_our_product_name(self, agent: str, allowed: bool) -> None:
        gate = Gate(agent)
        rules = Answer(status=200, body=b"User-agent: Ronda\nDisallow: /\n")
        [passed] = learnt(gate, asked(gate, target()), rules)

        assert (passed is True) is allowed

    @pytest.mark.parametrize(
        "url", ["http://user:secret@a.test/x", "http://user@a.test/x"]
    )
    def test_no_credentials_are_sent_for_it(self, url: str) -> None:
        question = asked(Gate("ronda/1"), Target(url, "a.test"))

        assert question.request.url == question.target.url == f"{A}robots.txt"

    def test_with_and_without_credentials_the_rules_are_the_same(self) -> None:
        gate = knowing(RULES)
        secret = Target("http://user:secret@a.test/private", "a.test")

        assert isinstance(gate.check(secret, 0.0), Verdict)

    def test_what_may_go_to_public_addresses_only_asks_there_only(self) -> None:
        assert asked(Gate("ronda/1"), target(public=True)).request.public
        assert not asked(Gate("ronda/1"), target()).request.public


class TestHowLong:
    def test_rules_are_held_for_a_day(self) -> None:
        gate = knowing(RULES)

        assert gate.check(target(), DAY - 1) is True
        assert isinstance(gate.check(target(), DAY), Visit)

    def test_that_there_are_none_is_held_for_a_day_too(self) -> None:
        gate = knowing(MISSING)

        assert gate.check(target(), DAY - 1) is True
        assert isinstance(gate.check(target(), DAY), Visit)

    @pytest.mark.parametrize(
        "answer", [Answer(status=503), Answer(error=7), Answer(error=18)]
    )
    def test_rules_that_could_not_be_had_are_asked_for_again_soon(
        self, answer: Answer
    ) -> None:
        gate = knowing(answer)

        assert gate.check(target(), SOON - 1) is not True
        assert not isinstance(gate.check(target(), SOON - 1), Visit)
        assert isinstance(gate.check(target(), SOON), Visit)

    def test_new_rules_take_the_place_of_old_ones(self) -> None:
        gate = knowing(RULES)
        learnt(gate, asked(gate, target(), DAY), MISSING, DAY)

        assert gate.check(target("private"), DAY) is True

    def test_the_hosts_are_told_whose_rules_have_ended(self) -> None:
        gate = knowing(RULES)

        assert gate.ends_at == DAY
        assert gate.ended(DAY - 1) == set()
        assert gate.ended(DAY) == {"a.test"}
        assert gate.ends_at == inf


class TestWhatIsForgotten:
    """A daemon meets hosts without end."""

    DELAYED = Answer(status=200, body=b"User-agent: *\nCrawl-delay: 7\n")
    ANSWERS = (RULES, MISSING, Answer(status=503), Answer(error=7), DELAYED)

    def met(
        self, attic: dict[str, bytes], heed: Heed = unheeded, rounds: int = 1
    ) -> Gate:
        """A gate that met hosts of each kind, in one day after the other."""
        gate = Gate("ronda/1", heed=heed, attic=attic)
        for day in range(rounds):
            now = day * DAY
            gate.ended(now)
            for number, answer in enumerate(self.ANSWERS * 4):
                host = f"{number}.day{day}.test"
                question = asked(gate, Target(f"http://{host}/", host), now)
                learnt(gate, question, answer, now)
        return gate

    def test_of_a_host_that_is_not_met_again_nothing_is_left(self) -> None:
        attic: dict[str, bytes] = {}
        delays: dict[str, float] = {}
        gate = self.met(attic, delays.__setitem__)
        gate.ended(SOON)
        assert len(attic) == len(gate._known) == 12  # those who have rules, or none
        gate.ended(DAY)
        gate.ended(2 * DAY)

        assert (attic, gate._known, gate._ends) == ({}, {}, [])
        assert len(gate._delays) == 0
        assert set(delays.values()) == {0.0}

    def test_after_a_month_no_more_is_known_than_after_two_days(self) -> None:
        attic: dict[str, bytes] = {}
        gate = self.met(attic, rounds=30)

        assert len(gate._known) == len(gate._ends) == 20
        assert len(attic) == 12
        assert len(gate._delays) == 8

    def test_a_delay_is_kept_while_the_rules_are_asked_for_anew(self) -> None:
        delays: dict[str, float] = {}
        gate = Gate("ronda/1", heed=delays.__setitem__)
        learnt(gate, asked(gate, target()), self.DELAYED)
        gate.ended(DAY)
        assert delays == {"a.test": 7.0}
        learnt(gate, asked(gate, target(), DAY), self.DELAYED, DAY)
        gate.ended(2 * DAY)

        assert delays == {"a.test": 7.0}

    def test_rules_that_can_no_longer_be_had_are_not_kept(self) -> None:
        attic: dict[str, bytes] = {}
        gate = Gate("ronda/1", attic=attic)
        learnt(gate, asked(gate, target()), RULES)
        learnt(gate, asked(gate, target(), DAY), Answer(status=503), DAY)

        assert attic == {}
        gate.ended(DAY)
        assert isinstance(gate.check(target(), DAY), Verdict)


class TestCrawlDelay:
    def heard(self, body: bytes, shelf: FakeShelf | None = None) -> dict[str, float]:
        delays: dict[str, float] = {}
        gate = Gate("ronda/1", shelf, delays.__setitem__)
        question = gate.check(Target("http://a.test:81/", "a.test"), 0.0)
        if isinstance(question, Visit):
            learnt(gate, question, Answer(status=200, body=body))
        return delays

    def test_it_is_told_for_the_host(self) -> None:
        body = b"User-agent: *\nCrawl-delay: 7\n"

        assert self.heard(body) == {"a.test": 7.0}

    def test_that_for_us_goes_before_that_for_all(self) -> None:
        body = b"User-agent: *\nCrawl-delay: 7\nUser-agent: ronda\nCrawl-delay: 2\n"

        assert self.heard(body) == {"a.test": 2.0}

    @pytest.mark.parametrize(
        "body", [b"", b"User-agent: *\nCrawl-delay: 0\n", b"Crawl-delay: soon\n"]
    )
    def test_none_is_told_where_there_is_none(self, body: bytes) -> None:
        assert self.heard(body) == {}

    def test_it_is_told_for_rules_of_an_earlier_run_too(self) -> None:
        body = b"User-agent: *\nCrawl-delay: 7\n"
        shelf = FakeShelf({"http://a.test:81": (body, 60.0)})

        assert self.heard(b"", shelf) == {"a.test": 7.0}

    def test_of_several_ports_the_longest_holds_until_it_is_taken_back(self) -> None:
        heard: list[float] = []
        gate = Gate("ronda/1", None, lambda _host, delay: heard.append(delay))
        other = Target("http://a.test:81/", "a.test")
        for item, seconds, now in (
            (target(), b"5", 0.0),
            (other, b"2", 0.0),
            (target(), b"0", DAY),
        ):
            rules = b"User-agent: *\nCrawl-delay: " + seconds
            answer = Answer(status=200, body=rules)
            learnt(gate, asked(gate, item, now), answer, now)

        assert heard == [5.0, 5.0, 2.0]


class TestTheShelf:
    def of_age(self, age: float) -> FakeShelf:
        return FakeShelf({"http://a.test": (OLD_RULES, age)})

    def test_a_file_younger_than_a_day_is_used(self) -> None:
        gate = Gate("ronda/1", self.of_age(DAY - 10))

        assert isinstance(gate.check(target("old"), 0.0), Verdict)
        assert gate.check(target("new"), 0.0) is True

    def test_it_is_used_only_until_it_is_a_day_old(self) -> None:
        shelf = self.of_age(DAY - 10)
        gate = Gate("ronda/1", shelf)
        assert gate.check(target(), 0.0) is True
        shelf.grow(10.0)

        assert gate.check(target(), 9.0) is True
        assert isinstance(gate.check(target(), 10.0), Visit)

    def test_an_older_one_is_asked_for_again(self) -> None:
        gate = Gate("ronda/1", self.of_age(DAY))

        assert isinstance(gate.check(target("old"), 0.0), Visit)

    @pytest.mark.parametrize(
        "answer", [Answer(status=503), Answer(error=7), Answer(error=RESTING)]
    )
    def test_an_older_one_stands_in_for_one_that_cannot_be_had(
        self, answer: Answer
    ) -> None:
        gate = knowing(answer, self.of_age(MONTH - 10))

        assert isinstance(gate.check(target("old"), 0.0), Verdict)
        assert gate.check(target("new"), 0.0) is True
        assert isinstance(gate.check(target(), SOON), Visit)

    @pytest.mark.parametrize("answer", [MISSING, RULES])
    def test_it_does_not_stand_in_for_one_that_can_be_had(self, answer: Answer) -> None:
        gate = knowing(answer, self.of_age(MONTH - 10))

        assert gate.check(target("old"), 0.0) is True

    @pytest.mark.parametrize("age", [MONTH, inf])
    def test_nor_when_it_is_too_old(self, age: float) -> None:
        gate = knowing(Answer(status=503), self.of_age(age))

        passed = gate.check(target(), 0.0)
        assert isinstance(passed, Verdict)
        assert passed.reason == "robots_unreachable"

    def test_garbage_forbids_nothing(self) -> None:
        shelf = FakeShelf({"http://a.test": (b"\0\xff" * 100, 0.0)})

        assert Gate("ronda/1", shelf).check(target(), 0.0) is True

    @pytest.mark.parametrize("keep", [True, False])
    def test_a_file_is_kept_when_it_is_a_strangers(self, keep: bool) -> None:
        shelf = FakeShelf()
        gate = Gate("ronda/1", shelf)
        learnt(gate, asked(gate, target()), RULES, keep=keep)

        assert ("http://a.test" in shelf.files) is keep

    @pytest.mark.parametrize("answer", [MISSING, Answer(status=503), Answer(error=7)])
    def test_what_is_no_file_is_not_kept(self, answer: Answer) -> None:
        shelf = FakeShelf()
        gate = Gate("ronda/1", shelf)
        learnt(gate, asked(gate, target()), answer, keep=True)

        assert shelf.files == {}


class TestStrangers:
    def test_what_is_refused_to_one_is_refused_to_the_next(self) -> None:
        gate = Gate("ronda/1")
        learnt(gate, asked(gate, target(public=True)), REFUSED)

        assert gate.check(target("x", public=True), 0.0) == REFUSED

    def test_the_operators_own_item_asks_again(self) -> None:
        gate = Gate("ronda/1")
        learnt(gate, asked(gate, target(public=True)), REFUSED)

        assert not asked(gate, target("x")).request.public

    def test_one_that_waited_with_strangers_is_told_to_ask_again(self) -> None:
        gate = Gate("ronda/1")
        question = asked(gate, target(public=True))
        gate.check(target("x"), 0.0)

        assert learnt(gate, question, REFUSED) == [REFUSED, False]

    def test_what_is_refused_to_the_operator_is_not_asked_for_ever(self) -> None:
        gate = Gate("ronda/1")
        question = asked(gate, target())
        gate.check(target("x"), 0.0)

        assert learnt(gate, question, REFUSED) == [REFUSED, REFUSED]
        assert gate.check(target("y"), 0.0) == REFUSED

    def test_rules_that_the_operator_was_given_hold_for_strangers_too(self) -> None:
        gate = knowing(RULES)

        assert isinstance(gate.check(target("private", public=True), 0.0), Verdict)

    def test_other_faults_are_the_same_to_all(self) -> None:
        gate = Gate("ronda/1")
        fault = Answer(error=7)
        learnt(gate, asked(gate, target(public=True)), fault)

        assert gate.check(target("x"), 0.0) == fault


class TestMoved:
    HOPS = (Hop(f"{A}robots.txt", 302, f"{B}rules"),)

    def passed(self, answer: Answer) -> Passed:
        gate = Gate("ronda/1")
        question = asked(gate, target())
        there = Request(f"{B}rules", "GET")
        after = Visit(question.target, there, "b.test", self.HOPS)
        [passed] = learnt(gate, after, answer)
        return passed

    @pytest.mark.parametrize("error", [6, 7, 28, 60, GUARDED, RESTING])
    def test_a_fault_of_where_it_moved_to_is_not_the_pages_own(
        self, error: int
    ) -> None:
        passed = self.passed(Answer(error=error, error_text="words"))

        assert isinstance(passed, Verdict)
        assert passed.reason == "robots_unreachable"

    def test_the_rules_found_there_are_those_of_the_first_host(self) -> None:
        assert self.passed(RULES) is True

    def test_a_redirect_that_leads_nowhere_is_no_file(self) -> None:
        assert self.passed(Answer(status=302)) is True
