"""Logs of our own and of servers are read as they are meant."""

import json
from contextlib import suppress
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.config import Politeness
from ronda.errors import UsageError
from ronda.frontier import Policy
from ronda.frontier.audit import KNOWN, Entry, Kind, Log, LogFormat, audit
from ronda.model import GUARDED, RESTING

NOON = 1_794_787_200.0  # seconds since 1970
NGINX = '$msec $remote_addr $server_addr $host "$request" $status $request_time'
COMBINED = (
    '10.0.0.7 - - [16/Nov/2026:01:00:00 +0100] "GET /a?b HTTP/1.1" 200 612 '
    '"http://r.example/" "Mozilla/5.0 (X11) \\"quoted\\""'
)


# -- our own logs --------------------------------------------------------------------

HEAD = {
    "log": "ronda requests",
    "version": 1,
    "agent": "ronda/0.1.0",
    "started_at": "2026-11-15T23:00:00.000Z",
    "politeness": [{"match": "*", "interval": 1.0}],
}
LINE = {
    "at": 1794787200.123456,
    "seconds": 0.0123,
    "host": "a.example",
    "server": "10.0.0.1",
    "method": "HEAD",
    "url": "http://a.example/x",
    "kind": "page",
    "status": 200,
    "error": 0,
    "gap": 0.2,
    "rule": "interval",
}


def read(*lines: Any, form: str = "") -> tuple[Log, list[Entry]]:
    log = Log("a.log", form=LogFormat.parse(form) if form else None)
    return log, list(log.entries(_bytes(line) for line in lines))


def _bytes(line: Any) -> bytes:
    if isinstance(line, bytes):
        return line
    return (line if isinstance(line, str) else json.dumps(line)).encode() + b"\n"


def words(log: Log) -> list[tuple[int, str]]:
    return [(problem.place.line, problem.message) for problem in log.problems]


def test_a_line_of_ours_is_read_with_its_gap_and_rule() -> None:
    log, (entry,) = read(HEAD, LINE)

    assert entry == Entry(
        at=1794787200.123456,
        seconds=0.0123,
        host="a.example",
        server="10.0.0.1",
        line=2,
        gap=0.2,
        rule="interval",
        asked="HEAD http://a.example/x",
        agent="ronda/0.1.0",
    )
    assert (log.kind, log.resolution) == (Kind.REQUESTS, 1e-6)
    assert log.rows == (Politeness(interval=1.0),)


def test_a_request_without_an_end_was_cut_off() -> None:
    _, (entry,) = read(HEAD, LINE | {"seconds": None})

    assert entry.seconds == inf


@pytest.mark.parametrize("error", [GUARDED, RESTING])
def test_where_nobody_was_asked_there_is_no_request(error: int) -> None:
    log, entries = read(HEAD, LINE | {"error": error})

    assert (entries, log.unreadable) == ([], 0)


def test_a_log_without_its_first_line_is_read_too() -> None:
    log, entries = read(LINE, LINE)

    assert (len(entries), log.kind, log.rows) == (2, Kind.REQUESTS, None)


@pytest.mark.parametrize(
    "line",
    [
        "garbage",
        "{",
        "{}",
        b"\xff\xfe",
        '{"log": "another"}',
        '{"at": "now"}',
        LINE | {"at": -1},
        LINE | {"at": 1e300},
        LINE | {"seconds": -0.1},
        LINE | {"gap": "long"},
        LINE | {"server": "no address"},
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_the_rest_goes_on(line: Any) -> None:
    log, entries = read(HEAD, LINE, line, LINE)

    assert [entry.line for entry in entries] == [2, 4]
    assert log.unreadable == 1
    assert words(log)[0][0] == 3
    assert words(log)[0][1].startswith("not ")


def test_only_the_first_such_lines_are_named() -> None:
    log, _ = read(HEAD, *["garbage"] * 99)

    assert log.unreadable == 99
    assert [number for number, _ in words(log)] == [2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (HEAD | {"version": 2}, "a.log:1: version 2"),
        (HEAD | {"politeness": [{"speed": 1}]}, "a.log:1: .*speed"),
        (HEAD | {"politeness": "none"}, "a.log:1: "),
    ],
)
def test_limits_that_cannot_be_known_are_an_error(head: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read(head, LINE)


def test_two_runs_in_one_file_are_an_error() -> None:
    with pytest.raises(UsageError, match=r"a\.log:3: a second run begins here"):
        read(HEAD, LINE, HEAD, LINE)


# -- access logs ---------------------------------------------------------------------


def test_nginxs_notation_is_understood() -> None:
    line = '1794787200.500 10.0.0.7 10.0.0.1 a.example "GET /x?y HTTP/1.1" 200 0.250'
    log, (entry,) = read(line, form=NGINX)

    assert entry == Entry(
        at=1794787200.25,  # written at the end of the request
        seconds=0.25,
        host="a.example",
        server="10.0.0.1",
        line=1,
        asked="GET a.example/x?y",
        client="10.0.0.7",
    )
    assert (log.kind, log.resolution) == (Kind.ACCESS, 0.001)


@pytest.mark.parametrize(
    ("name", "line", "host"),
    [
        ("common", COMBINED.partition(' "http')[0], ""),
        ("combined", COMBINED, ""),
        ("combined", f'{COMBINED} "10.9.9.9" 0.004', ""),
        ("combined", COMBINED.replace("- -", "- john smith"), ""),
        ("combined", COMBINED.replace("10.0.0.7", "2001:db8::7"), ""),
        ("vhost_combined", f"a.example:443 {COMBINED}", "a.example"),
    ],
)
def test_the_usual_formats_are_recognised(name: str, line: str, host: str) -> None:
    log, (entry,) = read(line)

    assert log._form is KNOWN[name]
    assert (entry.at, entry.seconds, entry.host) == (NOON, None, host)
    assert entry.asked == f"GET {host}/a?b"
    assert log.resolution == 1.0


def test_the_user_agent_of_a_known_format_is_read_with_its_quotes() -> None:
    _, (entry,) = read(COMBINED)

    assert entry.agent == 'Mozilla/5.0 (X11) \\"quoted\\"'


def test_objects_with_nginxs_names_are_understood() -> None:
    line = {
        "msec": 1794787200.5,
        "request_time": "0.250",
        "http_host": "A.Example:8080",
        "server_addr": "::ffff:10.0.0.1",
        "request_method": "GET",
        "request_uri": "/x",
        "http_user_agent": "ronda/0.1.0",
        "upstream": {"any": ["thing"]},
    }
    log, (entry,) = read(line)

    assert (entry.at, entry.seconds) == (1794787200.25, 0.25)
    assert (entry.host, entry.server) == ("a.example", "10.0.0.1")
    assert (entry.asked, entry.agent) == ("GET a.example/x", "ronda/0.1.0")
    assert (log.kind, log.resolution) == (Kind.ACCESS, 0.001)


@pytest.mark.parametrize(
    ("form", "line", "expected"),
    [
        ("$time_iso8601", "2026-11-16T01:00:00+01:00", NOON),
        ("[$time_local]", "[15/Nov/2026:19:00:00 -0500]", NOON),
        ("$time_local|$msec", "01/Jan/1970:00:00:00 +0000|1794787200.000", NOON),
        ("${msec}s", "1794787200.000s", NOON),
    ],
)
def test_every_way_to_write_a_moment_is_read(
    form: str, line: str, expected: float
) -> None:
    _, (entry,) = read(line, form=form)

    assert entry.at == expected


@pytest.mark.parametrize(
    "line",
    [
        "[15/Nob/2026:19:00:00 -0500]",
        "[32/Nov/2026:19:00:00 -0500]",
        "[15/Nov/2026:19:00:00 -9900]",
        "[01/Jan/1960:00:00:00 +0000]",
        "[]",
        "[yesterday]",
        "15/Nov/2026:19:00:00 -0500",
    ],
)
def test_a_line_without_a_moment_cannot_be_read(line: str) -> None:
    log, entries = read(line, form="[$time_local]")

    assert entries == []
    assert log.unreadable == 1


@pytest.mark.parametrize("line", ["2026-11-16T01:00:00", "9999-99-99", "x"])
def test_a_moment_of_no_known_zone_is_none(line: str) -> None:
    log, _ = read(line, form="$time_iso8601")

    assert log.unreadable == 1


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("a.example", "a.example"),
        ("A.EXAMPLE:80", "a.example"),
        ("[::1]:8080", "[::1]"),
        ("[::1]", "[::1]"),
        ("-", ""),
        ("_", ""),
    ],
)
def test_a_host_is_known_by_its_name_without_the_port(written: str, host: str) -> None:
    _, (entry,) = read(f"1.000 {written}", form="$msec $http_host")

    assert entry.host == host


@pytest.mark.parametrize(
    ("written", "server"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("2001:DB8::0:1", "2001:db8::1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("unix:", ""),
        ("-", ""),
    ],
)
def test_a_server_is_known_by_its_address(written: str, server: str) -> None:
    _, (entry,) = read(f"1.000 {written}", form="$msec $server_addr")

    assert entry.server == server


def test_a_variable_ends_where_the_literal_after_it_begins() -> None:
    form = LogFormat.parse('$a - $b [$c] "$d" $e')

    assert form.fields('x-y - z - [w] [v] "u \\" t" r q') == {
        "a": "x-y",
        "b": "z -",
        "c": "w] [v",
        "d": 'u \\" t',
        "e": "r q",
    }


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("", "no .variable"),
        ("plain text", "no .variable"),
        ("$a$b", "between .a and .b"),
    ],
)
def test_a_format_that_cannot_be_read_by_is_an_error(form: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        LogFormat.parse(form)


def test_hostile_lines_take_linear_time() -> None:
    form = LogFormat.parse('$a - $b - $c - "$d" - "$e" - $f - $g - $h [$i]')

    # Were anything tried again from every place, this would take longer than we live.
    assert form.fields(" - " * 20_000 + '"' * 20_000 + "\\" * 20_001) is None


@pytest.mark.parametrize("first", [COMBINED, {"msec": 1.0, "host": "a"}])
def test_a_log_does_not_change_its_kind(first: Any) -> None:
    log, entries = read(first, HEAD, LINE)

    assert (len(entries), log.kind, log.unreadable) == (1, Kind.ACCESS, 2)


# -- anything ------------------------------------------------------------------------

BITS = st.sampled_from(
    [
        *(b"{", b"}", b'"', b"\\", b"[", b"]", b" ", b"-", b"\n", b"\0", b"\xff", b":"),
        COMBINED.encode(),
        json.dumps(LINE).encode(),
        b'{"msec": 1794787200.5, "host": "a"}',
        b'"at": 1e999',
        b"[16/Nov/2026:01:00:00 +0100]",
        b"1794787200.500 ",
        "é".encode(),
    ]
)
LINES = st.lists(st.binary(max_size=40) | st.lists(BITS).map(b"".join), max_size=8)


@given(LINES, st.sampled_from(["", NGINX, "$msec", '"$request"$more', *KNOWN]))
def test_any_bytes_are_read_or_named(lines: list[bytes], form: str) -> None:
    parsed = KNOWN.get(form) or (LogFormat.parse(form) if form else None)
    log = Log("a.log", form=parsed)
    split = [part for line in lines for part in line.split(b"\n")]
    try:
        entries = list(log.entries(split))
    except UsageError:
        return

    assert log.unreadable + len(entries) <= len(split)
    found = audit(entries, Policy([Politeness()]).limits, resolution=log.resolution)
    assert found.requests == len(entries)


@given(st.text(max_size=30), st.text(max_size=60))
def test_any_format_reads_any_line_or_says_why_not(form: str, line: str) -> None:
    with suppress(UsageError):
        LogFormat.parse(f"${form}").fields(line)
