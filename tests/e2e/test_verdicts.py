"""Every row of the verdict table, produced by a real server through the command line.

One run checks a list of URLs with the same options; `ROWS` says what must come of each.
"""

import os
from collections.abc import Callable
from typing import NamedTuple

import pytest

from e2e.command import Ended
from e2e.world import World
from ronda import urls
from ronda.model import State
from ronda.probes import REASONS, http_verdict
from servers.process import HOST, require

OK, WARNING, TEMPORARY = State.OK, State.WARNING, State.TEMPORARY
BROKEN, BLOCKED, UNKNOWN = State.BROKEN, State.BLOCKED, State.UNKNOWN
FEW_FILES = 20  # descriptors: enough to start, too few for the connections wanted


class Row(NamedTuple):
    """A URL, how it is checked, and what must come of it."""

    run: str
    reason: str
    state: State
    url: Callable[[World], str]


def _nginx(path: str = "/page.html", **where: str) -> Callable[[World], str]:
    return lambda w: w.nginx.url(path, **where)


def _rude(path: str) -> Callable[[World], str]:
    return lambda w: w.rude.url(path)


def _ftp(path: str, **who: str) -> Callable[[World], str]:
    return lambda w: w.ftp.url(path, **who)


def _text(url: str) -> Callable[[World], str]:
    return lambda _: url


ROWS = (
    # the way there
    Row("plain", "redirected", OK, _nginx("/redirect/302/page.html")),
    Row("plain", "moved_permanently", WARNING, _nginx("/redirect/301/page.html")),
    Row("plain", "redirect_loop", BROKEN, _nginx("/loop/a")),
    Row("plain", "redirect_loop", BROKEN, _nginx("/self")),
    Row("plain", "redirect_too_many", BROKEN, _nginx("/chain-long/1")),
    Row("plain", "redirect_no_location", BROKEN, _rude("/redirect-empty")),
    Row("plain", "redirect_bad_location", BROKEN, _rude("/redirect-bad")),
    Row("plain", "redirect_scheme", BLOCKED, _rude("/redirect-file")),
    Row("plain", "redirect_scheme", BLOCKED, _rude("/redirect-gopher")),
    # names and connections
    Row("plain", "dns_no_such_name", BROKEN, _text("http://nowhere.ronda.test/")),
    Row("plain", "dns_no_such_name", BROKEN, _text("http://no-address.ronda.test/")),
    Row("plain", "dns_failed", TEMPORARY, _text("http://broken.ronda.test/")),
    Row("plain", "connect_refused", BROKEN, lambda w: w.rude.refused_url()),
    Row("plain", "connect_unreachable", BROKEN, lambda w: w.rude.unreachable_url()),
    Row("few files", "connect_failed", TEMPORARY, _rude("/hang?last")),
    Row("plain", "connection_reset", TEMPORARY, _rude("/reset")),
    Row("plain", "timeout_connect", TEMPORARY, lambda w: w.rude.full_url()),
    Row("plain", "timeout_tls", TEMPORARY, lambda w: w.rude.tls_url("silent")),
    Row("plain", "timeout_answer", TEMPORARY, _rude("/hang")),
    Row("plain", "timeout_body", TEMPORARY, _rude("/slow-headers")),
    Row("whole", "timeout_body", TEMPORARY, _rude("/slow-body")),
    Row("socks", "proxy_failed", TEMPORARY, _nginx("/empty")),
    Row("no proxy", "proxy_failed", TEMPORARY, _nginx("/empty")),
    # certificates
    Row("plain", "tls_expired", BROKEN, _nginx(port="expired")),
    Row("plain", "tls_not_yet_valid", BROKEN, _nginx(port="not_yet_valid")),
    Row(
        "plain",
        "tls_self_signed",
        BROKEN,
        _nginx(port="self_signed", host="localhost"),
    ),
    Row("plain", "tls_wrong_name", BROKEN, _nginx(port="wrong_name")),
    Row("plain", "tls_incomplete_chain", BROKEN, _nginx(port="incomplete")),
    Row("plain", "tls_untrusted", BROKEN, lambda w: w.odd("clients", "https")),
    Row("plain", "tls_failed", BROKEN, lambda w: w.rude.tls_url("alert")),
    Row("plain", "tls_failed", BROKEN, lambda w: w.rude.tls_url("plain")),
    Row("plain", "tls_failed", BROKEN, lambda w: w.rude.tls_url("old")),
    Row("plain", "tls_failed", BROKEN, lambda w: w.rude.tls_url("cut")),
    Row("plain", "tls_failed", BROKEN, lambda w: w.rude.tls_url("reset")),
    Row("plain", "tls_ends_soon", WARNING, _nginx(port="ending")),
    Row("insecure", "http_200", OK, _nginx(port="self_signed")),
    Row("insecure", "http_200", OK, _nginx(port="wrong_name")),
    Row("insecure", "http_200", OK, _nginx(port="expired")),
    # answers
    Row("plain", "http_200", OK, _nginx()),
    Row("plain", "http_200", OK, _nginx(port="good")),
    Row("plain", "http_200", OK, _nginx(port="http2")),
    Row("plain", "http_200", OK, _nginx(port="tls12")),
    Row("plain", "http_200", OK, _nginx(host="www.ronda.test")),
    Row("plain", "http_200", OK, _nginx(host="alias.ronda.test", port="good")),
    Row("plain", "http_200", OK, _nginx(host="six.ronda.test")),
    Row("plain", "http_200", OK, _nginx(host="[::1]")),
    Row("plain", "http_200", OK, _nginx(host="xn--mnchen-3ya.ronda.test")),
    Row("plain", "empty_reply", TEMPORARY, _rude("/empty-reply")),
    Row("plain", "not_http", BROKEN, _rude("/garbage")),
    Row("plain", "not_http", BROKEN, _rude("/http09")),
    Row("plain", "bad_answer", BROKEN, _rude("/no-colon-header")),
    Row("plain", "bad_answer", BROKEN, _rude("/double-length")),
    Row("whole", "bad_answer", BROKEN, _rude("/bad-chunk")),
    Row("plain", "bad_answer", BROKEN, _rude("/endless-headers")),
    Row("plain", "bad_answer", BROKEN, _rude("/big-header")),
    Row("plain", "bad_answer", BROKEN, _rude("/flood-1xx")),
    Row("whole", "short_body", TEMPORARY, _rude("/short-body")),
    Row("fragments", "bad_encoding", BROKEN, _rude("/bad-gzip")),
    Row("plain", "http2_error", TEMPORARY, lambda w: w.odd("http2", "https")),
    Row("plain", "bot_wall", BLOCKED, _rude("/challenge")),
    Row("plain", "bot_wall", BLOCKED, _nginx("/challenge")),
    Row("plain", "bot_wall", BLOCKED, _rude("/status/999")),
    Row("whole", "http_200", OK, _rude("/endless-body")),
    Row("slow", "slow", WARNING, lambda w: w.odd("hesitant")),
    Row("slow", "http_200", OK, _nginx()),
    Row("accept", "http_404", OK, _nginx("/status/404")),
    Row("accept", "http_404", OK, _nginx("/redirect-404")),
    Row("accept", "tls_expired", OK, _nginx(port="expired")),
    Row("accept", "http_410", BROKEN, _nginx("/status/410")),
    Row("accept all", "fragment_missing", OK, _nginx("/page.html#nowhere")),
    Row("accept all", "ftp_missing", OK, _ftp("/nowhere.txt")),
    Row("accept all", "mail_syntax", OK, _text("mailto:nobody")),
    Row("accept all", "file_missing", OK, lambda w: w.file("nowhere.txt")),
    # fragments
    Row("fragments", "fragment_found", OK, _nginx("/page.html#part")),
    Row("fragments", "fragment_found", OK, _nginx("/page.html#old-style")),
    Row("fragments", "fragment_missing", BROKEN, _nginx("/page.html#nowhere")),
    Row("fragments", "fragment_unread", OK, _nginx("/file.bin#page=2")),
    Row("fragments", "http_404", BROKEN, _nginx("/status/404#part")),
    # ftp, sftp
    Row("plain", "ftp_listed", OK, _ftp("/folder/")),
    Row("plain", "ftp_listed", OK, _ftp("/empty-folder/")),
    Row("plain", "ftp_listed", OK, lambda w: w.ftps.url("/folder/")),
    Row("plain", "ftp_listed", OK, lambda w: w.ssh.url("/folder/")),
    Row("plain", "ftp_started", OK, _ftp("/hello.txt")),
    Row("plain", "ftp_started", OK, _ftp("/empty.txt")),
    Row("plain", "ftp_started", OK, _ftp("/a%20name%20with%20spaces.txt")),
    Row("plain", "ftp_started", OK, _ftp("/folder/file.bin", user="ronda")),
    Row("plain", "ftp_started", OK, lambda w: w.ftps.url()),
    Row("plain", "ftp_started", OK, lambda w: w.ftps.explicit_url()),
    Row("plain", "ftp_started", OK, lambda w: w.ssh.url()),
    Row("plain", "ftp_missing", BROKEN, _ftp("/nowhere.txt")),
    Row("plain", "ftp_missing", BROKEN, lambda w: w.ssh.url("/nowhere.txt")),
    Row("plain", "ftp_denied", BLOCKED, _ftp("/closed-folder/")),
    Row("plain", "ftp_failed", TEMPORARY, lambda w: w.odd("ftp", "ftp", "/a.txt")),
    Row("plain", "login_denied", BLOCKED, _ftp("/a.txt", user="ronda", password="no")),
    Row("no key", "login_denied", BLOCKED, lambda w: w.ssh.url()),
    Row("plain", "ssh_failed", TEMPORARY, lambda w: w.ssh.url("/folder")),
    Row("plain", "ssh_failed", TEMPORARY, lambda w: w.odd("ssh", "sftp")),
    # files
    Row("plain", "file_found", OK, lambda w: w.file("there.txt")),
    Row("plain", "file_found", OK, lambda w: w.file("")),
    Row("plain", "file_missing", BROKEN, lambda w: w.file("nowhere.txt")),
    Row("no root", "file_denied", BLOCKED, lambda w: w.file("closed.txt")),
    # mail
    Row("plain", "mail_ok", OK, _text("mailto:a@mail.ronda.test")),
    Row("plain", "mail_ok", OK, _text("mailto:a@mail.ronda.test?subject=Hi")),
    Row("plain", "mail_syntax", BROKEN, _text("mailto:nobody")),
    Row("plain", "mail_refused", BROKEN, _text("mailto:a@null-mx.ronda.test")),
    Row("plain", "dns_no_mx", BROKEN, _text("mailto:a@no-address.ronda.test")),
    Row("plain", "dns_implicit_mx", WARNING, _text("mailto:a@no-mx.ronda.test")),
    Row("plain", "dns_no_such_name", BROKEN, _text("mailto:a@nowhere.ronda.test")),
    Row("plain", "dns_failed", TEMPORARY, _text("mailto:a@broken.ronda.test")),
    # not ours to judge, or not asked
    Row("robots", "robots_disallow", BLOCKED, _nginx("/private/page.html")),
    Row("robots", "robots_disallow", BLOCKED, _nginx("/redirect-private")),
    Row("robots", "http_200", OK, _nginx("/page.html")),
    Row("robots", "http_200", OK, _rude("/ok?robots")),
    Row("robots", "robots_unreachable", TEMPORARY, lambda w: w.odd("no robots")),
    Row("robots", "connect_refused", BROKEN, lambda w: w.rude.refused_url("/robots")),
    Row("plain", "address_refused", BLOCKED, _text("http://169.254.169.254/")),
    Row("robots", "address_refused", BLOCKED, _text("http://169.254.169.254/robots")),
    Row("plain", "policy_disallowed", BLOCKED, _text("file://elsewhere/share")),
    Row("plugins", "policy_disallowed", BLOCKED, _text("said://forbidden/ok")),
    Row(
        "plain", "scheme_unsupported", State.UNSUPPORTED, _text("gopher://ronda.test/")
    ),
    Row("plain", "url_malformed", BROKEN, _ftp("/a%0Ab")),
    # plug-ins, and our own fault
    Row("plugins", "plugin", OK, _text("said://h/ok")),
    Row("plugins", "plugin", WARNING, _text("said://h/warning")),
    Row("plugins", "plugin", TEMPORARY, _text("said://h/temporary_unavailable")),
    Row("plugins", "plugin", BROKEN, _text("said://h/unavailable")),
    Row("plugins", "plugin", State.UNSUPPORTED, _text("said://h/unsupported_protocol")),
    Row("plugins", "plugin", UNKNOWN, _text("said://h/None")),
    Row("plugins", "plugin", OK, _text("whole://h/well")),
    Row("plugins", "plugin_failed", UNKNOWN, _text("said://h/nonsense")),
    Row("plugins", "plugin_failed", UNKNOWN, _text("odd://h/raises")),
    Row("plugins", "plugin_failed", UNKNOWN, _text("odd://h/no-pair")),
    Row("plugins", "own_fault", UNKNOWN, _text("whole://h/advance")),
    Row("plugins", "plugin_failed", UNKNOWN, _text("whole://h/begin")),
    Row("plugins", "plugin_failed", UNKNOWN, _text("whole://h/allow")),
    Row("plugins", "plugin_failed", UNKNOWN, _text("whole://h/classify")),
    Row("plugins", "plugin_failed", UNKNOWN, _text("gone://h/x")),
    Row("plugins", "plugin_failed", UNKNOWN, _text("odd://h/no-words")),
    Row("plugins", "plugin_failed", UNKNOWN, _text("odd://h/number")),
    Row("plugins", "plugin_failed", UNKNOWN, _text("odd://h/list")),
)

# Reasons that no server can bring about.
NOT_FROM_A_SERVER = {
    "tls_revoked": "needs a list of revoked certificates, and there is no way to "
    "give one; test_faults.py has the code",
    "file_refused": "needs a page that names a file: test_guard.py",
    "host_resting": "needs many links to one host: test_politeness.py",
    "not_modified": "needs a second crawl: test_crawl_again.py",
    "vetoed": "needs a plug-in that says no: test_crawl_plugins.py",
    "worker_died": "needs a fault of ours: workers/test_foreman.py",
    **dict.fromkeys(
        (code for code in REASONS if code.startswith(("task_", "tasks_", "record_"))),
        "is of a task in a plan: probes/test_plans.py, test_said.py, test_services.py",
    ),
    "success_after_redirect": "is of a task in a plan: test_services.py",
    "no_task": "is of a plan: probes/test_plans.py",
    "round_stopped": "is of a visit in a round: test_services.py",
}
RUNS = tuple(dict.fromkeys(row.run for row in ROWS))


def _check(world: World, run: str, urls_: list[str]) -> Ended:
    """One run of the command line over the URLs of its rows."""
    options = list(world.options)
    env: dict[str, str] = {"PYTHONPATH": world.plugins}
    prefix: tuple[str, ...] = ()
    if run != "robots":
        options.append("--no-robots")
    match run:
        case "whole":
            options += ["--method", "GET"]
        case "fragments":
            options += ["--fragments"]
        case "slow":
            options += ["--slow", "0.5"]
        case "insecure":
            options += ["--insecure"]
        case "accept":
            options += ["--accept", "404,tls_expired"]
        case "accept all":
            codes = {row.reason for row in ROWS if row.run == run}
            options += ["--fragments", "--accept", ",".join(codes)]
        case "socks":
            env["http_proxy"] = f"socks5h://{HOST}:{world.ports['socks']}"
        case "no proxy":
            env["http_proxy"] = world.rude.refused_url("")
        case "plain":
            options += ["--ssh-key", str(world.ssh.key)]
        case "few files":
            prefix = (require("prlimit"), f"--nofile={FEW_FILES}")
            urls_ = [world.rude.url(f"/hang?{n}") for n in range(FEW_FILES)] + urls_
        case "no root":
            prefix = without_privileges()
    return world.ronda.json(*options, urls=urls_, env=env, prefix=prefix)


def without_privileges() -> tuple[str, ...]:
    """What lets root be refused by a file's mode like anybody else."""
    if os.geteuid():
        return ()
    lost = "-dac_override,-dac_read_search"
    return (require("setpriv"), f"--bounding-set={lost}", "--inh-caps=-all")


class TestTheTable:
    @pytest.mark.parametrize("run", RUNS)
    def test_every_row_comes_from_a_real_server(self, world: World, run: str) -> None:
        rows = {
            urls.without_credentials(urls.normalise(row.url(world))): row
            for row in ROWS
            if row.run == run
        }
        ended = _check(world, run, [r.url(world) for r in rows.values()])

        assert ended.out, ended.err
        found = ended.results
        assert {url: (found[url]["reason"], found[url]["verdict"]) for url in rows} == {
            url: (row.reason, row.state) for url, row in rows.items()
        }

    def test_every_reason_has_a_row(self) -> None:
        produced = {row.reason for row in ROWS if not row.reason.startswith("http_")}

        assert produced == set(REASONS) - set(NOT_FROM_A_SERVER)

    def test_the_state_of_a_reason_is_that_of_the_table(
        self,
    ) -> None:
        stated = {
            (row.reason, row.state)
            for row in ROWS
            if row.reason != "plugin" and not row.reason.startswith("http_")
            if not row.run.startswith("accept")
        }

        assert stated == {(code, REASONS[code].state) for code, _ in stated}


class TestStatuses:
    def test_every_status_has_its_verdict(self, world: World) -> None:
        paths = {world.nginx.url(f"/status/{code}"): code for code in range(200, 600)}
        ended = world.ronda.json(*world.options, "--no-robots", urls=list(paths))

        found = {
            paths[url]: (result["verdict"], result["reason"])
            for url, result in ended.results.items()
        }
        assert found == {code: _expected(code) for code in range(200, 600)}

    @pytest.mark.parametrize(
        ("state", "codes"),
        [
            (OK, (200, 204, 206, 300)),
            (BLOCKED, (401, 403, 407, 451)),
            (BROKEN, (400, 404, 410)),
            (TEMPORARY, (408, 425, 429, 500, 502, 503, 504, 520)),
        ],
    )
    def test_the_statuses_people_care_about_have_the_state_they_expect(
        self, state: State, codes: tuple[int, ...]
    ) -> None:
        assert {http_verdict(code).state for code in codes} == {state}


def _expected(code: int) -> tuple[str, str]:
    if code in {301, 308}:
        return "warning", "moved_permanently"
    if code in {302, 303, 307}:
        return "ok", "redirected"
    if code == 416:  # to the range we asked for: there is something, but it is empty
        return "ok", "http_200"
    found = http_verdict(code)
    return found.state, found.reason
