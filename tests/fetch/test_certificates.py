"""Where trust is found, and what a certificate says."""

from pathlib import Path

import pycurl
import pytest

from fakes import FakeClock
from ronda.fetch.certificates import UNUSED, Certificates, _facts, _moment, ca_file


def test_the_setting_comes_before_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/environment.pem")

    assert ca_file("/setting.pem") == "/setting.pem"
    assert ca_file("") == "/environment.pem"


def test_the_system_s_own_is_taken_where_nothing_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)

    found = ca_file("")
    assert not found or Path(found).is_file()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Nov 15 12:00:00 2026 GMT", "2026-11-15T12:00:00Z"),
        ("Jan  5 01:02:03 2030 GMT", "2030-01-05T01:02:03Z"),
        ("Dec 31 23:59:59 9999 GMT", "9999-12-31T23:59:59Z"),
    ],
)
def test_openssl_s_dates_are_read(text: str, moment: str) -> None:
    assert _moment(text) == moment


def test_the_facts_are_taken_from_libcurl_s_pairs() -> None:
    found = _facts(
        (
            (b"Subject", b"CN = a.test"),
            (b"Issuer", b"CN = authority"),
            (b"Start date", b"Nov 15 12:00:00 2026 GMT"),
            (b"Expire date", b"Nov 15 12:00:00 2027 GMT"),
            (b"X509v3 Subject Alternative Name", b"DNS:a.test, IP Address:127.0.0.1"),
        )
    )

    assert (found.subject, found.issuer) == ("CN = a.test", "CN = authority")
    assert found.names == ("a.test", "127.0.0.1")
    assert found.starts_at < found.ends_at


def test_missing_facts_are_empty() -> None:
    found = _facts(())

    assert (found.subject, found.ends_at, found.names) == ("", "", ())


def test_a_name_that_is_no_utf_8_is_told_as_well_as_can_be() -> None:
    pairs = ((b"Subject", b"CN = caf\xe9"),)

    assert _facts(pairs).subject == "CN = caf\ufffd"


class FakeCurl:
    """A handle whose answer came over a new connection, or over one that was kept."""

    def __init__(self, *, new: bool) -> None:
        self.new = new

    def getinfo(self, what: int) -> int:
        assert what == pycurl.NUM_CONNECTS
        return int(self.new)

    def getinfo_raw(self, what: int) -> object:
        assert what == pycurl.INFO_CERTINFO
        return [((b"Subject", b"CN = a.test"),)] if self.new else []


NEW, KEPT = FakeCurl(new=True), FakeCurl(new=False)


class TestWhatServersShowed:
    def test_over_a_kept_connection_it_is_what_was_shown_at_first(self) -> None:
        certificates = Certificates()
        first = certificates.of(NEW, "https://a.test/1")

        assert first is not None
        assert certificates.of(KEPT, "https://a.test/2") is first
        assert certificates.of(KEPT, "https://a.test:444/") is None

    def test_it_is_known_while_the_connection_is_used(self) -> None:
        clock = FakeClock()
        certificates = Certificates(clock.now)
        first = certificates.of(NEW, "https://a.test/")
        for _ in range(10):
            clock.advance(UNUSED - 1)
            assert certificates.of(KEPT, "https://a.test/") is first

    def test_it_is_forgotten_when_no_connection_can_be_left(self) -> None:
        clock = FakeClock()
        certificates = Certificates(clock.now)
        for number in range(100):
            certificates.of(NEW, f"https://h{number}.test/")
            clock.advance(UNUSED / 10)

        assert len(certificates._seen) + len(certificates._before) <= 20
