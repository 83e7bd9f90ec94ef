"""What libcurl's errors mean."""

from errno import EACCES, ECONNREFUSED, EHOSTUNREACH, EINVAL, ENETUNREACH

import pycurl
import pytest

from ronda.model import GUARDED, RESTING, Answer, State, Timings
from ronda.probes import REASONS
from ronda.probes.faults import CURL_REASONS, VERIFY_REASONS, fault

# Numbers that libcurl has not used for years, or for protocols that we do not speak.
UNUSED = {20, 24, 29, 32, 34, 40, 41, 44, 46, 50, 51, 57, 62, 75, 76}
ALL = {
    value
    for name, value in vars(pycurl).items()
    if name.startswith("E_") and not name.startswith("E_MULTI") and 0 < value < 1000
}


def reason(**answer: object) -> str:
    return fault(Answer(**answer)).reason  # type: ignore[arg-type]


class TestTheTable:
    def test_every_error_of_libcurl_has_a_row(self) -> None:
        assert (ALL | set(range(1, 102))) - set(CURL_REASONS) == UNUSED

    def test_every_row_leads_to_a_reason(self) -> None:
        assert {*CURL_REASONS.values(), *VERIFY_REASONS.values()} <= set(REASONS)

    @pytest.mark.parametrize("error", range(1, 130))
    def test_any_error_has_a_verdict_in_words(self, error: int) -> None:
        found = fault(Answer(error=error, error_text="libcurl's words"))

        assert found.reason in REASONS
        assert found.state is REASONS[found.reason].state
        assert found.state is not State.OK
        assert found.message.startswith(REASONS[found.reason].words)


class TestFinerReasons:
    @pytest.mark.parametrize(
        ("errno", "code"),
        [
            (ECONNREFUSED, "connect_refused"),
            (EHOSTUNREACH, "connect_unreachable"),
            (ENETUNREACH, "connect_unreachable"),
            (EINVAL, "connect_failed"),
            (0, "connect_failed"),
        ],
    )
    def test_why_there_was_no_connection(self, errno: int, code: str) -> None:
        assert reason(error=7, errno=errno) == code

    def test_a_name_server_that_fails_is_not_a_missing_name(self) -> None:
        assert reason(error=6) == "dns_no_such_name"
        assert reason(error=6, errno=2) == "dns_failed"

    @pytest.mark.parametrize(
        ("timings", "status", "code"),
        [
            (Timings(name=0.1), 0, "timeout_connect"),
            (Timings(connect=0.1), 0, "timeout_answer"),
            (Timings(connect=0.1, tls=0.2), 0, "timeout_answer"),
            (Timings(connect=0.1, first_byte=0.3), 200, "timeout_body"),
        ],
    )
    def test_where_it_stood_when_its_time_was_over(
        self, timings: Timings, status: int, code: str
    ) -> None:
        assert reason(error=28, timings=timings, status=status) == code

    def test_a_timeout_says_how_long_it_was(self) -> None:
        found = fault(Answer(error=28, timings=Timings(total=12.34)))

        assert "12.3 s" in found.message

    @pytest.mark.parametrize(
        ("verify", "code"),
        [
            (9, "tls_not_yet_valid"),
            (10, "tls_expired"),
            (18, "tls_self_signed"),
            (20, "tls_incomplete_chain"),
            (21, "tls_incomplete_chain"),
            (23, "tls_revoked"),
            (62, "tls_wrong_name"),
            (26, "tls_untrusted"),
            (0, "tls_untrusted"),
        ],
    )
    def test_what_is_wrong_with_a_certificate(self, verify: int, code: str) -> None:
        assert reason(error=60, verify=verify) == code

    def test_libcurl_s_own_word_on_names_is_heard(self) -> None:
        text = "SSL: no alternative certificate subject name matches target host name"

        assert reason(error=60, error_text=text) == "tls_wrong_name"

    def test_a_file_that_is_closed_is_not_missing(self) -> None:
        assert reason(error=37) == "file_missing"
        assert reason(error=37, errno=EACCES) == "file_denied"

    def test_a_bad_chunk_is_the_server_s(self) -> None:
        text = "Illegal or missing hexadecimal sequence in chunked-encoding"

        assert reason(error=56, error_text=text) == "bad_answer"
        assert reason(error=56, error_text="Recv failure") == "connection_reset"


class TestOurOwn:
    """Errors that are not libcurl's."""

    def test_the_guard_says_why(self) -> None:
        found = fault(Answer(error=GUARDED, error_text="10.0.0.1 is private"))

        assert (found.state, found.reason) == (State.BLOCKED, "address_refused")
        assert found.message.endswith(": 10.0.0.1 is private")

    def test_a_refused_file_is_no_address(self) -> None:
        found = fault(Answer(error=GUARDED, error_text="a file"), "file:///a")

        assert (found.state, found.reason) == (State.BLOCKED, "file_refused")

    def test_a_host_that_rests_may_be_asked_later(self) -> None:
        found = fault(Answer(error=RESTING, error_text="5 connections failed"))

        assert (found.state, found.reason) == (State.TEMPORARY, "host_resting")
        assert found.message.endswith(": 5 connections failed")
