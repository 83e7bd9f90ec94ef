"""Every reason code with its state and words: the table behind all verdicts.

Codes are stable: programs read them. Words are for people and may change.
"""

from http import HTTPStatus

from msgspec import Struct

from ronda.model import State, Verdict

OK, WARNING, TEMPORARY = State.OK, State.WARNING, State.TEMPORARY
BROKEN, BLOCKED, UNKNOWN = State.BROKEN, State.BLOCKED, State.UNKNOWN


class Reason(Struct, frozen=True):
    """What a code stands for."""

    state: State
    words: str


REASONS: dict[str, Reason] = {
    # the way there
    "redirected": Reason(OK, "redirected for now"),
    "moved_permanently": Reason(WARNING, "moved permanently"),
    "redirect_loop": Reason(BROKEN, "redirects in a circle"),
    "redirect_too_many": Reason(BROKEN, "redirects too many times"),
    "redirect_no_location": Reason(BROKEN, "redirects without saying where"),
    "redirect_bad_location": Reason(BROKEN, "redirects to something that is no URL"),
    "redirect_scheme": Reason(BLOCKED, "redirects to a scheme that is not followed"),
    # names and connections
    "dns_no_such_name": Reason(BROKEN, "no such name"),
    "dns_failed": Reason(TEMPORARY, "the name server failed"),
    "connect_refused": Reason(BROKEN, "connection refused"),
    "connect_unreachable": Reason(BROKEN, "host or network unreachable"),
    "connect_failed": Reason(TEMPORARY, "could not connect"),
    "connection_reset": Reason(TEMPORARY, "connection reset by the server"),
    "timeout_connect": Reason(TEMPORARY, "timed out while connecting"),
    "timeout_tls": Reason(TEMPORARY, "timed out in the TLS handshake"),
    "timeout_answer": Reason(TEMPORARY, "timed out waiting for the answer"),
    "timeout_body": Reason(TEMPORARY, "timed out in the middle of the answer"),
    "proxy_failed": Reason(TEMPORARY, "the proxy failed"),
    # certificates
    "tls_expired": Reason(BROKEN, "certificate has expired"),
    "tls_not_yet_valid": Reason(BROKEN, "certificate is not valid yet"),
    "tls_self_signed": Reason(BROKEN, "certificate is self-signed"),
    "tls_wrong_name": Reason(BROKEN, "certificate is for another name"),
    "tls_incomplete_chain": Reason(BROKEN, "certificate chain incomplete or untrusted"),
    "tls_revoked": Reason(BROKEN, "certificate was revoked"),
    "tls_untrusted": Reason(BROKEN, "certificate cannot be verified"),
    "tls_failed": Reason(BROKEN, "TLS handshake failed"),
    "tls_ends_soon": Reason(WARNING, "certificate ends soon"),
    # answers
    "not_modified": Reason(OK, "unchanged since the last time"),
    "empty_reply": Reason(TEMPORARY, "the server closed without answering"),
    "not_http": Reason(BROKEN, "the answer is not HTTP"),
    "bad_answer": Reason(BROKEN, "malformed answer"),
    "short_body": Reason(TEMPORARY, "the answer was cut short"),
    "bad_encoding": Reason(BROKEN, "the body cannot be decoded"),
    "http2_error": Reason(TEMPORARY, "HTTP/2 or HTTP/3 error"),
    "bot_wall": Reason(BLOCKED, "a bot wall answers instead of the page"),
    "slow": Reason(WARNING, "works, but slowly"),
    # fragments
    "fragment_found": Reason(OK, "the anchor exists"),
    "fragment_missing": Reason(BROKEN, "no such anchor on the page"),
    "fragment_unread": Reason(OK, "the page works; its anchors cannot be read"),
    # ftp, sftp
    "ftp_listed": Reason(OK, "directory successfully listed"),
    "ftp_started": Reason(OK, "transfer successfully started"),
    "ftp_missing": Reason(BROKEN, "no such file or directory on the server"),
    "ftp_denied": Reason(BLOCKED, "the server denies access"),
    "ftp_failed": Reason(TEMPORARY, "the FTP dialogue failed"),
    "login_denied": Reason(BLOCKED, "login denied"),
    "ssh_failed": Reason(TEMPORARY, "the SSH dialogue failed"),
    # files
    "file_found": Reason(OK, "file exists"),
    "file_missing": Reason(BROKEN, "no such file"),
    "file_denied": Reason(BLOCKED, "file cannot be read"),
    # mail
    "mail_ok": Reason(OK, "address is well-formed and its domain takes mail"),
    "mail_syntax": Reason(BROKEN, "not a mail address"),
    "mail_refused": Reason(BROKEN, "the domain says it takes no mail"),
    "dns_no_mx": Reason(BROKEN, "the domain has no mail server"),
    "dns_implicit_mx": Reason(
        WARNING, "the domain names no mail server; mail goes to its own address"
    ),
    # not ours to judge, or not asked
    "robots_disallow": Reason(BLOCKED, "robots.txt asks us to stay away"),
    "robots_unreachable": Reason(
        TEMPORARY, "robots.txt cannot be had, so nothing may be asked"
    ),
    "address_refused": Reason(BLOCKED, "address that is not to be asked"),
    "file_refused": Reason(BLOCKED, "files are only for what you named yourself"),
    "host_resting": Reason(TEMPORARY, "the host rests; not asked"),
    "policy_disallowed": Reason(BLOCKED, "disallowed by policy"),
    "vetoed": Reason(BLOCKED, "a plug-in said no"),
    "scheme_unsupported": Reason(State.UNSUPPORTED, "no handler for scheme"),
    "url_malformed": Reason(BROKEN, "not a URL"),
    # tasks of a plan
    "record_complete": Reason(OK, "the record is complete"),
    "record_incomplete": Reason(WARNING, "the record is incomplete"),
    "record_uri": Reason(BROKEN, "the record has no address that can be checked"),
    "success_after_redirect": Reason(WARNING, "answers after a redirect"),
    "round_stopped": Reason(UNKNOWN, "its round was stopped"),
    "tasks_ok": Reason(OK, "all is well"),
    "no_task": Reason(State.UNSUPPORTED, "no task has anything to say of it"),
    # programs that are tasks; they may have codes of their own
    "task_ok": Reason(OK, "the program found nothing wrong"),
    "task_warning": Reason(WARNING, "the program found something odd"),
    "task_temporary": Reason(TEMPORARY, "the program found a fault that may heal"),
    "task_broken": Reason(BROKEN, "the program found it broken"),
    "task_blocked": Reason(BLOCKED, "the program was turned away"),
    "task_refused": Reason(BLOCKED, "the program may not go there"),
    "task_timeout": Reason(TEMPORARY, "the program took too long"),
    "task_error": Reason(UNKNOWN, "the program failed"),
    # plug-ins, and our own fault
    "plugin": Reason(UNKNOWN, "a plug-in's own words"),
    "plugin_failed": Reason(UNKNOWN, "the plug-in failed"),
    "own_fault": Reason(UNKNOWN, "our own fault"),
    "worker_died": Reason(UNKNOWN, "workers died of it"),
}

# Statuses whose verdict is not their class's: (class default in _by_class).
_STATUS: dict[int, State] = {
    300: OK,
    401: BLOCKED,
    402: BLOCKED,
    403: BLOCKED,
    406: BLOCKED,  # how some walls refuse programs
    407: BLOCKED,
    408: TEMPORARY,
    418: BLOCKED,
    421: TEMPORARY,
    423: BLOCKED,
    425: TEMPORARY,
    429: TEMPORARY,
    451: BLOCKED,
    999: BLOCKED,  # a social network's own way to refuse programs
}
# Unofficial ones, and those that Python's versions call by different names.
_ODD_WORDS = {
    413: "Content Too Large",
    414: "URI Too Long",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
    420: "Enhance Your Calm",
    444: "No Response",
    499: "Client Closed Request",
    509: "Bandwidth Limit Exceeded",
    520: "Unknown Error at the Origin",
    521: "Origin Is Down",
    522: "Origin Timed Out",
    523: "Origin Unreachable",
    524: "Origin Timed Out",
    525: "Origin TLS Handshake Failed",
    526: "Origin Certificate Invalid",
    530: "Origin Name Error",
    999: "Request Denied",
}


def http_verdict(status: int) -> Verdict:
    """The verdict on a final HTTP status."""
    return Verdict(_state(status), f"http_{status}", f"{status} {status_words(status)}")


def status_words(status: int) -> str:
    """The phrase of a status, also of the well-known unofficial ones."""
    if status in _ODD_WORDS:
        return _ODD_WORDS[status]
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "(no known meaning)"


def _state(status: int) -> State:
    if status in _STATUS:
        return _STATUS[status]
    match status // 100:
        case 2:
            return OK
        case 3:
            return WARNING
        case 5:
            return TEMPORARY
        case _:
            return BROKEN


def verdict(code: str, detail: str = "") -> Verdict:
    """The verdict of a reason code, its words followed by a detail."""
    reason = REASONS[code]
    words = f"{reason.words}: {detail}" if detail else reason.words
    return Verdict(reason.state, code, words)
