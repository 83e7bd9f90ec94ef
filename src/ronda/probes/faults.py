"""What libcurl's errors mean: error, system code and phase to a reason code."""

import re
from collections.abc import Callable
from errno import (
    EACCES,
    ECONNREFUSED,
    EHOSTDOWN,
    EHOSTUNREACH,
    ENETDOWN,
    ENETUNREACH,
    EPERM,
)

from ronda.model import GUARDED, ORPHANED, RESTING, VETOED, Answer, Verdict
from ronda.probes.reasons import verdict

# libcurl's codes by number: the table in the docs is made from this one.
CURL_REASONS: dict[int, str] = {
    1: "not_http",  # HTTP/0.9, or bytes that are no HTTP at all
    2: "own_fault",
    3: "url_malformed",
    4: "own_fault",
    5: "proxy_failed",
    6: "dns_no_such_name",
    7: "connect_failed",  # refined by the system's code
    8: "bad_answer",
    9: "ftp_denied",
    10: "ftp_failed",
    11: "ftp_failed",
    12: "ftp_failed",
    13: "ftp_failed",
    14: "ftp_failed",
    15: "ftp_failed",
    16: "http2_error",
    17: "ftp_failed",
    18: "short_body",
    19: "ftp_missing",
    21: "ftp_failed",
    22: "bad_answer",
    23: "own_fault",
    25: "own_fault",
    26: "own_fault",
    27: "own_fault",
    28: "timeout_answer",  # refined by the phase
    30: "ftp_failed",
    31: "ftp_failed",
    33: "bad_answer",
    35: "tls_failed",
    36: "ftp_failed",
    37: "file_missing",  # refined by the system's code
    38: "own_fault",
    39: "own_fault",
    42: "own_fault",
    43: "own_fault",
    45: "own_fault",
    47: "redirect_too_many",
    48: "own_fault",
    49: "own_fault",
    52: "empty_reply",
    53: "own_fault",
    54: "own_fault",
    55: "connection_reset",
    56: "connection_reset",
    58: "own_fault",
    59: "own_fault",
    60: "tls_untrusted",  # refined by the verification code
    61: "bad_encoding",
    63: "bad_answer",
    64: "tls_failed",
    65: "connection_reset",
    66: "own_fault",
    67: "login_denied",
    68: "ftp_missing",
    69: "ftp_denied",
    70: "ftp_failed",
    71: "ftp_failed",
    72: "ftp_failed",
    73: "ftp_failed",
    74: "ftp_failed",
    77: "own_fault",
    78: "ftp_missing",
    79: "ssh_failed",
    80: "tls_failed",
    81: "connect_failed",
    82: "own_fault",
    83: "tls_untrusted",
    84: "ftp_failed",
    85: "bad_answer",
    86: "bad_answer",
    87: "ftp_failed",
    88: "bad_answer",
    89: "own_fault",
    90: "tls_untrusted",
    91: "tls_revoked",
    92: "http2_error",
    93: "own_fault",
    94: "login_denied",
    95: "http2_error",
    96: "http2_error",
    97: "proxy_failed",
    98: "login_denied",
    99: "own_fault",
    100: "bad_answer",  # more headers, or longer ones, than anybody sends
    101: "tls_failed",
    # Not libcurl's, but our own.
    GUARDED: "address_refused",
    RESTING: "host_resting",
    VETOED: "vetoed",
    ORPHANED: "own_fault",
}

# OpenSSL's X509_V_ERR_… numbers.
VERIFY_REASONS: dict[int, str] = {
    2: "tls_incomplete_chain",
    9: "tls_not_yet_valid",
    10: "tls_expired",
    18: "tls_self_signed",
    19: "tls_incomplete_chain",
    20: "tls_incomplete_chain",
    21: "tls_incomplete_chain",
    23: "tls_revoked",
    62: "tls_wrong_name",
    63: "tls_wrong_name",
    64: "tls_wrong_name",
}

# Words of libcurl, or of nghttp2 through it, that no other protocol brings about.
_OF_HTTP2 = re.compile("nghttp2|HTTP/2|frame")
_UNREACHABLE = {EHOSTDOWN, EHOSTUNREACH, ENETDOWN, ENETUNREACH, EACCES, EPERM}


def fault(answer: Answer, url: str = "") -> Verdict:
    """The verdict on a request for a URL that libcurl could not finish."""
    code = _refined(answer, url) or CURL_REASONS.get(answer.error, "own_fault")
    if code.startswith("timeout_"):
        after = f"after {answer.timings.total:.1f} s"
        slow = answer.error_text.startswith("too slow")
        return verdict(code, f"{answer.error_text}, {after}" if slow else after)
    return verdict(code, answer.error_text if code in _UNCLEAR else "")


# Where libcurl's own words add something to ours.
_UNCLEAR = {
    "address_refused",
    "bad_answer",
    "bad_encoding",
    "connect_failed",
    "dns_failed",
    "ftp_failed",
    "host_resting",
    "http2_error",
    "own_fault",
    "proxy_failed",
    "short_body",
    "ssh_failed",
    "tls_failed",
    "tls_untrusted",
}


def _refined(answer: Answer, url: str) -> str | None:
    """A more exact code where libcurl's is too broad."""
    if answer.error == 28 and url.startswith("https:"):
        return _phase(answer, secure=True)
    if answer.error == 2 and url.startswith("sftp:"):
        return "ssh_failed"  # the other side left before keys were agreed on
    if answer.error == GUARDED and url.startswith("file:"):
        return "file_refused"
    refine = _REFINE.get(answer.error)
    return refine(answer) if refine else None


def _unnamed(answer: Answer) -> str | None:
    return "dns_failed" if answer.errno else None  # the name server's own trouble


def _unread(answer: Answer) -> str | None:
    return "file_denied" if answer.errno in {EACCES, EPERM} else None


def _refused(answer: Answer) -> str | None:
    if answer.errno == ECONNREFUSED:
        return "connect_refused"
    return "connect_unreachable" if answer.errno in _UNREACHABLE else None


def died(answer: Answer) -> bool:
    """Whether a kept connection died under the request, or HTTP/2 took it back."""
    return answer.error in {55, 56} and answer.error_text.startswith("Connection died")


def _cut_off(answer: Answer) -> str | None:
    if died(answer):
        return "empty_reply"
    text = answer.error_text
    if "chunk" in text.lower() or "response headers" in text:
        return "bad_answer"
    return "http2_error" if _OF_HTTP2.search(text) else None


def _phase(answer: Answer, secure: bool = False) -> str:
    """Where a request stood when its time ran out."""
    if not answer.reached:
        return "timeout_connect"
    if secure and not answer.timings.tls and not answer.sent_at:
        return "timeout_tls"
    return "timeout_body" if answer.status else "timeout_answer"


def _untrusted(answer: Answer) -> str | None:
    # libcurl compares names itself, after OpenSSL found nothing wrong.
    if "subject name" in answer.error_text:
        return "tls_wrong_name"
    return VERIFY_REASONS.get(answer.verify)


def _odd(answer: Answer) -> str | None:
    # So libcurl calls on a kept connection what is no HTTP on a new one.
    return "not_http" if "status line" in answer.error_text else None


_REFINE: dict[int, Callable[[Answer], str | None]] = {
    6: _unnamed,
    7: _refused,
    8: _odd,
    28: _phase,
    37: _unread,
    55: _cut_off,
    56: _cut_off,
    60: _untrusted,
}
