"""Every request needs a reason."""

from ronda.model import Answer, Request
from ronda.simulation.ledger import SOON, Ledger

URL = "https://h1.example/1"
ROBOTS = "https://h1.example/robots.txt"


def test_what_is_named_may_be_asked_for_once() -> None:
    ledger = Ledger()
    ledger.want(URL)
    ledger.want(URL)

    ledger.ask(Request(URL), 1.0)
    assert ledger.broken == []

    ledger.ask(Request(URL), 2.0)
    assert ledger.broken == [f"at 2.000: HEAD {URL} for the 2. time, without a reason"]


def test_what_nobody_named_may_not_be_asked_for() -> None:
    ledger = Ledger()

    ledger.ask(Request(URL), 1.0)

    assert len(ledger.broken) == 1


def test_a_fault_is_a_reason_to_ask_again_but_a_lasting_answer_is_not() -> None:
    ledger = Ledger()
    ledger.want(URL)

    ledger.ask(Request(URL), 1.0)
    ledger.answered(Request(URL), Answer(status=404), "")
    ledger.ask(Request(URL, "GET"), 2.0)
    assert ledger.broken == []

    ledger.answered(Request(URL, "GET"), Answer(status=404), "")
    ledger.ask(Request(URL, "GET"), 3.0)
    assert len(ledger.broken) == 1


def test_a_redirect_is_a_reason_to_ask_for_where_it_leads() -> None:
    ledger = Ledger()

    ledger.answered(Request("https://h2.example/"), Answer(status=301), URL)
    ledger.ask(Request(URL), 1.0)

    assert ledger.broken == []


def test_a_request_that_killed_its_worker_may_be_made_again() -> None:
    ledger = Ledger()
    ledger.want(URL)

    ledger.ask(Request(URL), 1.0)
    ledger.failed(URL)
    ledger.ask(Request(URL), 2.0)

    assert ledger.broken == []


def test_rules_may_be_asked_for_again_after_a_while() -> None:
    ledger = Ledger()

    ledger.ask(Request(ROBOTS), 1.0)
    ledger.ask(Request(ROBOTS), 1.0 + SOON)
    assert ledger.broken == []

    ledger.ask(Request(ROBOTS), 2.0 + SOON)
    assert len(ledger.broken) == 1


def test_links_of_a_page_that_need_not_be_read_are_allowed_but_not_wanted() -> None:
    ledger = Ledger(lambda page: page != URL)

    ledger.read(URL, ["https://h2.example/", "https://h2.example/"])
    ledger.read("https://h3.example/", ["https://h4.example/"])
    ledger.ask(Request("https://h2.example/"), 1.0)

    assert ledger.wanted == {"https://h4.example/"}
    assert ledger.allowed == {"https://h2.example/"}
    assert ledger.broken == []
