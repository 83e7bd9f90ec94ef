"""robots.txt before pages."""

import pytest
from fake_parts import MISSING, OK, POLITE, Play, found, moved, page

from ronda.model import Answer, Request, Target, Verdict, Visit
from ronda.workers.gate import Gate

A, B = "http://a.test/", "http://b.test/"
RULES = Answer(status=200, body=b"User-agent: *\nDisallow: /private\n")


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


class TestAlone:
    def test_those_who_wait_are_let_go_together(self) -> None:
        gate = Gate("ronda/1")
        first, second = Target(f"{A}1", "a.test"), Target(f"{A}private", "a.test")
        question = gate.check(first)

        assert isinstance(question, Visit)
        assert question.target.robots
        assert question.request == Request(
            f"{A}robots.txt", "GET", body=question.request.body, raw=True
        )
        assert gate.check(second) is False
        (one, allowed), (other, refused) = gate.learn(question.target, RULES)
        assert (one, allowed) == (first, True)
        assert other is second
        assert isinstance(refused, Verdict)
        assert "/private" in refused.message
        assert gate.check(Target(f"{A}3", "a.test")) is True

    @pytest.mark.parametrize(
        ("agent", "allowed"), [("ronda/1", False), ("other/2 (+x)", True)]
    )
    def test_we_are_known_by_our_product_name(self, agent: str, allowed: bool) -> None:
        gate = Gate(agent)
        question = gate.check(Target(A, "a.test"))
        assert isinstance(question, Visit)
        rules = Answer(status=200, body=b"User-agent: Ronda\nDisallow: /\n")
        [(_, passed)] = gate.learn(question.target, rules)

        assert (passed is True) is allowed
