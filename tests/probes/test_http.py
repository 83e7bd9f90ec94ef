"""The way of an http visit, without any network: answers in, steps out."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda import urls
from ronda.config import Check, Crawl, Fetch, Settings
from ronda.model import (
    Answer,
    Ask,
    Certificate,
    Done,
    Request,
    State,
    Target,
    Timings,
    Visit,
)
from ronda.probes import REASONS
from ronda.probes.accept import Accept
from ronda.probes.http import Http, is_bot_wall, retry_after

NOW = datetime(2026, 3, 1, tzinfo=UTC).timestamp()
PAGE = "http://a.test/page"
TARGET = Target(PAGE, "a.test")

LOCATIONS = [
    *(PAGE, "http://a.test/other", "https://b.test/", "/path", "?query", "#part", ""),
    *("//c.test/", "http://[::1", "http://a.test:99999/", "file:///etc/passwd"),
    *("mailto:a@b.test", "javascript:alert(1)", "gopher://a.test/", "http://", "\0"),
    *("http://user:secret@d.test/", "HTTP://A.TEST/page", "ws://a.test/", "http:page"),
]


def handler(check: Check | None = None, fetch: Fetch | None = None) -> Http:
    check = check or Check()
    settings = Settings(check=check, fetch=fetch or Fetch())
    return Http(settings, Accept(check.accept))


def begun(http: Http, target: Target = TARGET) -> Visit:
    return Visit(target, http.begin(target), target.host)


def headers(**values: str) -> tuple[bytes, ...]:
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in values.items()]
    return tuple(line.encode("latin-1", "replace") for line in lines)


def answers() -> st.SearchStrategy[Answer]:
    some_headers = st.builds(
        lambda location, wait: headers(location=location, retry_after=wait),
        st.one_of(
            st.sampled_from(LOCATIONS),
            st.integers(0, 30).map("http://h.test/{}".format),
        ),
        st.one_of(st.sampled_from(["", "0", "1", "9" * 9, "soon"]), st.text()),
    )
    dates = st.sampled_from(["", "2026-03-02T00:00:00Z", "2030-01-01T00:00:00Z"])
    return st.builds(
        Answer,
        status=st.one_of(
            st.sampled_from([200, 301, 302, 307, 308, 404, 405, 429, 503]),
            st.integers(100, 999),
        ),
        error=st.one_of(st.just(0), st.integers(1, 101)),
        error_text=st.sampled_from(["", "Connection died, tried 5 times"]),
        errno=st.sampled_from([0, 111, 101]),
        headers=some_headers,
        certificate=st.none() | st.builds(Certificate, ends_at=dates),
        timings=st.builds(Timings, connect=st.sampled_from([0.0, 0.1])),
    )


class TestTheWay:
    @given(
        came=st.lists(answers(), min_size=1, max_size=40),
        method=st.sampled_from(["auto", "HEAD", "GET"]),
        reads=st.booleans(),
        robots=st.booleans(),
        redirects=st.integers(0, 6),
        retries=st.integers(0, 3),
    )
    def test_whatever_comes_it_ends_soon_and_in_order(
        self,
        came: list[Answer],
        method: str,
        reads: bool,
        robots: bool,
        redirects: int,
        retries: int,
    ) -> None:
        http = handler(
            Check(method=method, max_redirects=redirects, slow=1.0),  # type: ignore[arg-type]
            Fetch(retries=retries),
        )
        visit = begun(http, Target(PAGE, "a.test", reads=reads, robots=robots))
        most = max(redirects, 5) if robots else redirects
        steps = 0
        step: Ask | Done = Ask(visit)
        while isinstance(step, Ask):
            visit = step.visit
            assert urls.scheme(visit.request.url) in {"http", "https"}
            assert visit.host == urls.host(visit.request.url)
            assert len(visit.hops) <= most
            assert visit.attempts <= retries + 1
            assert step.delay >= 0
            assert step.hold is None or step.hold >= 0
            step = http.advance(visit, came[steps % len(came)], NOW)
            steps += 1

        assert steps <= most + retries + 3  # once by GET, once on a new connection
        reason = step.verdict.reason
        assert reason in REASONS or re.fullmatch(r"http_\d{3}", reason)
        assert step.verdict.message
        assert step.hold is None or step.hold >= 0

    @given(retries=st.integers(0, 6))
    def test_gaps_grow_until_the_tries_are_used_up(self, retries: int) -> None:
        http = handler(fetch=Fetch(retries=retries, retry_gap=0.5))
        step: Ask | Done = http.advance(
            Visit(TARGET, Request(PAGE, "GET"), "a.test"), Answer(status=500), NOW
        )
        delays = []
        while isinstance(step, Ask):
            delays.append(step.delay)
            step = http.advance(step.visit, Answer(status=500), NOW)

        assert delays == [0.5 * 2**n for n in range(retries)]
        assert step.verdict.reason == "http_500"

    def test_what_died_on_a_kept_connection_is_asked_again_once_on_a_new_one(
        self,
    ) -> None:
        http = handler()
        died = Answer(error=56, error_text="Connection died, tried 5 times")
        first = http.advance(begun(http), died, NOW)
        assert isinstance(first, Ask)
        second = http.advance(first.visit, died, NOW)

        assert (first.visit.request.fresh, first.delay) == (True, 0)
        assert first.visit.attempts == 1
        assert isinstance(second, Ask)
        assert second.visit.attempts == 2

    def test_a_further_try_is_made_on_a_fresh_connection(self) -> None:
        visit = Visit(TARGET, Request(PAGE, "GET"), "a.test")
        step = handler().advance(visit, Answer(error=56), NOW)

        assert isinstance(step, Ask)
        assert step.visit.request.fresh


class TestHead:
    @pytest.mark.parametrize("status", [400, 403, 404, 405, 410, 500, 501, 503])
    def test_a_refusal_is_not_believed(self, status: int) -> None:
        http = handler()
        step = http.advance(begun(http), Answer(status=status), NOW)

        assert isinstance(step, Ask)
        assert (step.visit.request.method, step.visit.request.partial) == ("GET", True)
        assert (step.visit.attempts, step.delay) == (1, 0)

    @pytest.mark.parametrize("status", [200, 204, 401, 407])
    def test_some_answers_are_believed(self, status: int) -> None:
        http = handler()
        step = http.advance(begun(http), Answer(status=status), NOW)

        assert isinstance(step, Done)
        assert step.verdict.reason == f"http_{status}"

    @pytest.mark.parametrize("error", [1, 8, 28, 52, 56, 92])
    def test_a_fault_after_the_connection_may_be_head_s(self, error: int) -> None:
        http = handler()
        after = Answer(error=error, timings=Timings(connect=0.1))
        before = Answer(error=error)
        step = http.advance(begun(http), after, NOW)

        assert isinstance(step, Ask)
        assert (step.visit.request.method, step.visit.request.fresh) == ("GET", True)
        later = http.advance(begun(http), before, NOW)
        assert isinstance(later, Done) or later.visit.request.method == "HEAD"

    @pytest.mark.parametrize("error", [3, 6, 7, 35, 60])
    def test_a_fault_before_it_is_not(self, error: int) -> None:
        http = handler(fetch=Fetch(retries=0))
        answer = Answer(error=error, timings=Timings(connect=0.1))

        assert isinstance(http.advance(begun(http), answer, NOW), Done)

    @pytest.mark.parametrize(("reads", "fragments"), [(True, False), (False, True)])
    def test_a_page_that_is_read_is_had_by_get_whole(
        self, reads: bool, fragments: bool
    ) -> None:
        http = handler(Check(fragments=fragments), Fetch(body_limit=5000))
        request = http.begin(Target(PAGE, "a.test", reads=reads))

        asked = (request.method, request.body, request.partial)
        assert asked == ("GET", 5000, False)

    def test_what_is_saved_is_had_whole_whatever_its_type(self) -> None:
        saving = Settings(crawl=Crawl(save="there"))
        http = Http(saving, Accept(()))

        for saved in ({"reads": True}, {"rank": 3}):
            assert http.begin(Target(PAGE, "a.test", **saved)).raw
        for checked in ({}, {"rank": 2}, {"rank": 3, "outside": 1}):
            assert http.begin(Target(PAGE, "a.test", **checked)).method == "HEAD"


class TestUnchanged:
    @pytest.mark.parametrize("known", [{"etag": '"1"'}, {"since": "yesterday"}])
    def test_a_page_that_is_as_it_was_is_good(self, known: dict[str, str]) -> None:
        visit = Visit(TARGET, Request(PAGE, "GET", **known), "a.test")
        step = handler().advance(visit, Answer(status=304), NOW)

        assert isinstance(step, Done)
        assert step.verdict.reason == "not_modified"

    def test_who_did_not_ask_whether_it_changed_is_not_told_so(self) -> None:
        visit = Visit(TARGET, Request(PAGE, "GET"), "a.test")
        step = handler().advance(visit, Answer(status=304), NOW)

        assert isinstance(step, Done)
        assert step.verdict.reason != "not_modified"

    def test_another_page_is_not_asked_by_what_is_known_of_the_first(self) -> None:
        visit = Visit(TARGET, Request(PAGE, "GET", etag='"1"', since="x"), "a.test")
        answer = Answer(status=302, headers=headers(location="/other"))
        step = handler().advance(visit, answer, NOW)

        assert isinstance(step, Ask)
        assert (step.visit.request.etag, step.visit.request.since) == ("", "")


class TestRedirects:
    @pytest.mark.parametrize(
        ("location", "there"),
        [
            ("/path", "http://a.test/path"),
            ("other", "http://a.test/other"),
            ("//b.test", "http://b.test/"),
            ("https://b.test/x#part", "https://b.test/x"),
            ("?q=1", "http://a.test/page?q=1"),
            ("  /space  ", "http://a.test/space"),
            ("/caf\u00c3\u00a9", "http://a.test/caf%C3%A9"),  # UTF-8 seen as latin-1
        ],
    )
    def test_a_location_is_seen_from_the_page(self, location: str, there: str) -> None:
        http = handler()
        answer = Answer(status=302, headers=headers(Location=location))
        step = http.advance(begun(http), answer, NOW)

        assert isinstance(step, Ask)
        assert step.visit.request.url == there
        assert step.visit.host == urls.host(there)

    @pytest.mark.parametrize(
        ("location", "reason"),
        [
            ("", "redirect_no_location"),
            ("http://[::1", "redirect_bad_location"),
            ("file:///etc/passwd", "redirect_scheme"),
            ("javascript:alert(1)", "redirect_scheme"),
            ("gopher://a.test/", "redirect_scheme"),
        ],
    )
    def test_one_that_leads_nowhere_is_not_followed(
        self, location: str, reason: str
    ) -> None:
        http = handler()
        answer = Answer(status=302, headers=headers(location=location))
        step = http.advance(begun(http), answer, NOW)

        assert isinstance(step, Done)
        assert step.verdict.reason == reason

    def test_a_circle_is_seen_at_its_first_return(self) -> None:
        http = handler()
        to_b = Answer(status=302, headers=headers(location="/b"))
        to_page = Answer(status=302, headers=headers(location="/page"))
        first = http.advance(begun(http), to_b, NOW)
        assert isinstance(first, Ask)
        second = http.advance(first.visit, to_page, NOW)

        assert isinstance(second, Done)
        assert second.verdict.reason == "redirect_loop"

    @pytest.mark.parametrize(
        ("robots", "most", "followed"),
        [(True, 0, 5), (True, 3, 5), (True, 8, 8), (False, 0, 0), (False, 3, 3)],
    )
    def test_a_robots_txt_is_followed_five_times_at_least(
        self, robots: bool, most: int, followed: int
    ) -> None:
        http = handler(Check(max_redirects=most))
        step: Ask | Done = Ask(begun(http, Target(PAGE, "a.test", robots=robots)))
        hops = -1
        while isinstance(step, Ask):
            hops += 1
            there = headers(location=f"http://h{hops}.test/")
            answer = Answer(status=302, headers=there)
            step = http.advance(step.visit, answer, NOW)

        assert (hops, step.verdict.reason) == (followed, "redirect_too_many")

    def test_passwords_are_not_told(self) -> None:
        http = handler(Check(max_redirects=0))
        answer = Answer(status=301, headers=headers(location="http://u:secret@b.test/"))
        step = http.advance(begun(http), answer, NOW)

        assert isinstance(step, Done)
        assert "secret" not in step.verdict.message


class TestGoodButNotPlain:
    def _last(self, check: Check, answer: Answer) -> tuple[State, str]:
        http = handler(check)
        step = http.advance(begun(http), answer, NOW)
        assert isinstance(step, Done)
        return step.verdict.state, step.verdict.reason

    def test_a_slow_page_is_warned_of(self) -> None:
        slow = Answer(status=200, timings=Timings(total=3.0))

        assert self._last(Check(slow=2.0), slow) == (State.WARNING, "slow")
        assert self._last(Check(slow=4.0), slow) == (State.OK, "http_200")
        assert self._last(Check(), slow) == (State.OK, "http_200")

    def test_a_certificate_that_ends_is_warned_of(self) -> None:
        soon = Answer(
            status=200, certificate=Certificate(ends_at="2026-03-10T00:00:00Z")
        )
        late = Answer(
            status=200, certificate=Certificate(ends_at="2026-09-10T00:00:00Z")
        )

        assert self._last(Check(), soon) == (State.WARNING, "tls_ends_soon")
        assert self._last(Check(certificate_days=5), soon) == (State.OK, "http_200")
        assert self._last(Check(), late) == (State.OK, "http_200")

    def test_a_broken_page_stays_broken_whatever_its_certificate(self) -> None:
        answer = Answer(
            status=404, certificate=Certificate(ends_at="2026-03-02T00:00:00Z")
        )

        assert self._last(Check(method="HEAD"), answer) == (State.BROKEN, "http_404")

    @pytest.mark.parametrize(
        ("accept", "answer", "state"),
        [
            ("404", Answer(status=404), State.OK),
            ("500-599", Answer(status=503), State.OK),
            ("404", Answer(status=410), State.BROKEN),
            ("connect_refused", Answer(error=7, errno=111), State.OK),
            ("403", Answer(status=403, headers=headers(cf_mitigated="x")), State.OK),
            ("bot_wall", Answer(status=999), State.OK),
        ],
    )
    def test_what_the_user_takes_for_good_is_good_and_not_tried_again(
        self, accept: str, answer: Answer, state: State
    ) -> None:
        check = Check(method="GET", accept=(accept,))
        http = handler(check)
        step = http.advance(begun(http), answer, NOW)

        assert isinstance(step, Done)
        assert Accept(check.accept)(step.verdict, answer.status).state is state


class TestRetryAfter:
    @given(st.text())
    def test_no_text_is_too_odd_and_no_wait_negative(self, text: str) -> None:
        assert retry_after(Answer(headers=headers(retry_after=text)), NOW) >= 0

    @given(st.binary())
    def test_no_bytes_are_either(self, value: bytes) -> None:
        assert retry_after(Answer(headers=(b"Retry-After: " + value,)), NOW) >= 0

    @given(st.integers(0, 10**9 - 1))
    def test_seconds_are_taken_as_they_are(self, seconds: int) -> None:
        answer = Answer(headers=headers(retry_after=str(seconds)))

        assert retry_after(answer, NOW) == seconds

    @given(st.integers(-(10**6), 10**6))
    def test_a_date_is_seconds_from_now(self, seconds: int) -> None:
        moment = datetime.fromtimestamp(NOW, UTC) + timedelta(seconds=seconds)
        date = format_datetime(moment, usegmt=True)
        answer = Answer(headers=headers(retry_after=date))

        assert retry_after(answer, NOW) == max(0, seconds)

    @pytest.mark.parametrize("digits", [10, 400])
    def test_a_wait_of_centuries_is_a_number_all_the_same(self, digits: int) -> None:
        answer = Answer(headers=headers(retry_after="9" * digits))

        assert 10**9 < retry_after(answer, NOW) <= 10**10


class TestThrottles:
    GET = Visit(TARGET, Request(PAGE, "GET"), "a.test")

    @pytest.mark.parametrize("status", [429, 503])
    def test_the_host_is_held_as_long_as_it_asks_for(self, status: int) -> None:
        answer = Answer(status=status, headers=headers(retry_after="7"))
        step = handler().advance(self.GET, answer, NOW)

        assert isinstance(step, Ask)
        assert step.hold == 7

    @pytest.mark.parametrize("status", [429, 503])
    def test_the_host_is_slowed_down_though_it_names_no_time(self, status: int) -> None:
        step = handler().advance(self.GET, Answer(status=status), NOW)

        assert isinstance(step, Ask)
        assert step.hold == 0

    @pytest.mark.parametrize("status", [200, 404, 500, 502])
    def test_no_other_answer_holds_it(self, status: int) -> None:
        answer = Answer(status=status, headers=headers(retry_after="7"))
        step = handler().advance(self.GET, answer, NOW)

        assert step.hold is None

    def test_it_is_held_also_when_the_visit_ends(self) -> None:
        answer = Answer(status=429, headers=headers(retry_after="7"))
        step = handler(fetch=Fetch(retries=0)).advance(self.GET, answer, NOW)

        assert isinstance(step, Done)
        assert step.hold == 7

    def test_it_is_held_also_when_the_user_takes_that_for_good(self) -> None:
        answer = Answer(status=429, headers=headers(retry_after="7"))
        step = handler(Check(accept=("429",))).advance(self.GET, answer, NOW)

        assert isinstance(step, Done)
        assert step.hold == 7

    def test_how_long_it_asks_for_is_told(self) -> None:
        answer = Answer(status=503, headers=headers(retry_after="7200"))
        step = handler(fetch=Fetch(retries=0)).advance(self.GET, answer, NOW)

        assert isinstance(step, Done)
        assert step.verdict.message == (
            "503 Service Unavailable; asks us to wait 7,200 s"
        )

    def test_what_the_verdict_is_if_the_host_is_not_asked_again_is_told(self) -> None:
        answer = Answer(status=503, headers=headers(retry_after="7"))
        step = handler().advance(self.GET, answer, NOW)

        assert isinstance(step, Ask)
        assert step.otherwise is not None
        assert step.otherwise.reason == "http_503"
        assert "asks us to wait 7 s" in step.otherwise.message

    def test_head_is_believed_that_we_are_too_many(self) -> None:
        http = handler()
        step = http.advance(begun(http), Answer(status=429), NOW)

        assert isinstance(step, Ask)
        assert (step.visit.request.method, step.hold) == ("HEAD", 0)

    def test_head_is_believed_a_503_that_names_a_time(self) -> None:
        http = handler()
        named = Answer(status=503, headers=headers(retry_after="7"))
        step = http.advance(begun(http), named, NOW)

        assert isinstance(step, Ask)
        assert (step.visit.request.method, step.hold) == ("HEAD", 7)


class TestBotWalls:
    @pytest.mark.parametrize(
        ("status", "header", "wall"),
        [
            (403, {"cf_mitigated": "challenge"}, True),
            (503, {"cf_mitigated": "challenge"}, True),
            (202, {"x_amzn_waf_action": "challenge"}, True),
            (403, {"x_datadome": "protected"}, True),
            (403, {"server": "AkamaiGHost"}, True),
            (999, {}, True),
            (403, {}, False),
            (403, {"server": "cloudflare"}, False),
            (200, {"cf_mitigated": "challenge"}, False),
            (404, {"cf_mitigated": "challenge"}, False),
        ],
    )
    def test_a_wall_is_known_by_its_marks(
        self, status: int, header: dict[str, str], wall: bool
    ) -> None:
        assert is_bot_wall(Answer(status=status, headers=headers(**header))) is wall
