"""Mail addresses: their syntax, and what a name server says of their domain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda import urls
from ronda.config import Fetch
from ronda.errors import UrlError
from ronda.model import Answer, Ask, Done, Target, Via, Visit
from ronda.probes import REASONS
from ronda.probes.mailto import Mailto

NOW = 0.0


TAKEN = Answer(names=("mx.test",))


def judged(url: str, answer: Answer = TAKEN, retries: int = 0) -> Ask | Done:
    mailto = Mailto(Fetch(retries=retries))
    target = Target(urls.normalise(url), "mx:")
    visit = Visit(target, mailto.begin(target), "mx:")
    return mailto.advance(visit, answer, NOW)


def reason(url: str, answer: Answer = TAKEN) -> str:
    """The reason in the end; every domain of the link has the same answer."""
    step = judged(url, answer)
    while isinstance(step, Ask):
        step = Mailto(Fetch(retries=0)).advance(step.visit, answer, NOW)
    return step.verdict.reason


@pytest.mark.parametrize(
    "address",
    [
        "a@b.test",
        "first.last@b.test",
        "a+tag@b.test",
        "a@sub.sub.b.test",
        "o'neill@b.test",
        "a_b@b.test",
        "%61@b.test",
        "a@B.TEST",
        "a@xn--mnchen-3ya.test",
        "a@münchen.test",
        "a@b.test?subject=Hello%20there&cc=c@d.test",
        "a@b.test,c@d.test",
        "a@b.test#part",
    ],
)
def test_an_address_may_look_like_this(address: str) -> None:
    assert reason(f"mailto:{address}") == "mail_ok"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "nobody",
        "@b.test",
        "a@",
        "a@b",  # nobody writes to a top-level domain
        "a b@b.test",
        "a@@b.test",
        "a..b@b.test",
        ".a@b.test",
        "a.@b.test",
        "a@b..test",
        "a@-b.test",
        "a@b.test.",
        "a@b test",
        "a@[::1]",
        f"{'a' * 65}@b.test",
        f"a@{'b' * 64}.test",
        f"a@{'b.' * 130}test",
        "a@b.test,nonsense",
        "a%0Ab@b.test",
    ],
)
def test_an_address_may_not_look_like_this(address: str) -> None:
    assert reason(f"mailto:{address}") == "mail_syntax"


def test_a_link_may_leave_the_address_to_the_reader() -> None:
    assert reason("mailto:?subject=x") == "mail_ok"


def test_addresses_may_stand_in_the_query_too() -> None:
    assert reason("mailto:?subject=x&to=nonsense") == "mail_syntax"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(names=("mx1.test", "mx2.test")), "mail_ok"),
        (Answer(names=(".",)), "mail_refused"),
        (Answer(address="127.0.0.1"), "dns_implicit_mx"),
        (Answer(), "dns_no_mx"),
        (Answer(error=6), "dns_no_such_name"),
        (Answer(error=6, errno=3), "dns_failed"),
    ],
)
def test_the_name_server_decides_on_the_domain(answer: Answer, code: str) -> None:
    assert reason("mailto:a@b.test", answer) == code


def test_a_name_server_that_fails_is_asked_again() -> None:
    step = judged("mailto:a@b.test", Answer(error=6, errno=3), retries=1)

    assert isinstance(step, Ask)
    assert (step.visit.attempts, step.visit.request.url) == (2, "b.test")


def test_the_domain_is_asked_for_in_ascii() -> None:
    request = Mailto(Fetch()).begin(Target(urls.normalise("mailto:a@MÜNCHEN.test"), ""))

    assert (request.via, request.url) == (Via.MX, "xn--mnchen-3ya.test")


@given(st.text(max_size=200))
def test_any_text_is_judged(text: str) -> None:
    try:
        url = urls.normalise(f"mailto:{text}")
    except UrlError:
        return

    assert reason(url) in REASONS
