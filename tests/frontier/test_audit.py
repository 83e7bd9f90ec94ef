"""The judge of an audit finds what is sure, and all of that."""

from collections.abc import Iterable
from itertools import pairwise
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.config import Politeness
from ronda.frontier import Limits, Policy
from ronda.frontier.audit import Audit, Entry, audit

NOON = 1_794_787_200.0  # seconds since 1970
LIMITS = Limits(interval=1.0, per_host=2, server_interval=0.5, per_server=3)
FREE = Limits()


def judged(*entries: Entry, limits: Limits = LIMITS, **how: Any) -> Audit:
    return audit(entries, lambda _host, _server: limits, **how)


def asked(at: float, seconds: float | None = None, **more: Any) -> Entry:
    return Entry(at=NOON + at, seconds=seconds, **{"host": "a.example", **more})


def broken(found: Audit) -> list[tuple[str, int, int]]:
    return [(v.limit, v.first.line, v.second.line) for v in found.violations]


# -- gaps ----------------------------------------------------------------------------


def test_a_gap_as_long_as_its_limit_is_polite() -> None:
    found = judged(asked(0), asked(1), asked(2.5))

    assert found.polite
    assert found.hosts[0].shortest == 1.0


def test_a_short_gap_names_the_two_requests_and_the_limit() -> None:
    found = judged(asked(0, line=2), asked(0.25, line=7))

    (violation,) = found.violations
    assert (violation.key, violation.name) == ("host", "a.example")
    assert (violation.limit, violation.allowed, violation.found) == (
        "interval",
        1,
        0.25,
    )
    assert (violation.first.line, violation.second.line) == (2, 7)
    assert violation.second.at == NOON + 0.25


def test_starts_are_judged_in_their_order_not_in_that_of_the_log() -> None:
    found = judged(asked(4, line=1), asked(2, line=2), asked(3.5, line=3))

    assert broken(found) == [("interval", 3, 1)]


def test_other_hosts_do_not_come_between() -> None:
    found = judged(asked(0, line=1), asked(0.1, host="b.example"), asked(0.2, line=3))

    assert broken(found) == [("interval", 1, 3)]


def test_hosts_that_share_a_server_share_its_interval() -> None:
    pair = (asked(0, server="10.0.0.1"), asked(0.2, host="b", server="10.0.0.1"))

    assert judged(*pair).broken == {"server_interval": 1}
    assert judged(pair[0], asked(0.2, host="b", server="10.0.0.2")).polite


def test_of_two_limits_for_one_server_only_the_looser_is_broken_for_sure() -> None:
    intervals = {"slow": 5.0, "quick": 0.1}
    pair = (asked(0, host="slow", server="::1"), asked(1, host="quick", server="::1"))
    found = audit(pair, lambda host, _: Limits(server_interval=intervals[host]))

    assert found.polite


@pytest.mark.parametrize("rule", ["crawl-delay", "retry-after", "backoff", "adaptive"])
def test_a_lines_own_gap_is_judged_under_the_name_of_its_rule(rule: str) -> None:
    found = judged(asked(0), asked(6, gap=10.0, rule=rule))

    assert found.broken == {rule: 1}
    assert (found.violations[0].allowed, found.violations[0].found) == (10, 6)


def test_a_pair_breaks_the_strictest_limit_and_only_that() -> None:
    assert judged(asked(0), asked(0.5, gap=10.0, rule="adaptive")).broken == {
        "adaptive": 1
    }
    assert judged(asked(0), asked(0.1, gap=0.2, rule="adaptive")).broken == {
        "interval": 1
    }


def test_a_class_breaks_the_interval_of_classes() -> None:
    pair = (asked(0, host="class:isbn"), asked(0.5, host="class:isbn"))

    assert audit(pair, Policy([Politeness()]).limits).broken == {"class-interval": 1}


@pytest.mark.parametrize(
    ("gap", "resolution", "polite"),
    [
        (0.999999, 1e-6, True),
        (0.999998, 1e-6, False),
        (0.999, 0.001, True),
        (0.998, 0.001, False),
        (0.0, 1.0, True),
    ],
)
def test_a_clock_proves_no_more_than_its_step(
    gap: float, resolution: float, polite: bool
) -> None:
    found = judged(asked(0), asked(gap), resolution=resolution)

    assert found.polite is polite
    assert found.resolution == resolution


def test_moments_are_exact_to_the_microsecond() -> None:
    # As floats, many of these gaps are a little shorter than 0.2.
    entries = [Entry(at=round(NOON + i * 0.2, 6), host="a") for i in range(5000)]

    assert audit(entries, lambda *_: Limits(interval=0.2), resolution=0.0).polite


# -- at once -------------------------------------------------------------------------

AT_ONCE = Limits(per_host=2, per_server=3)


def test_too_many_at_once_names_the_one_that_had_to_be_waited_for() -> None:
    entries = (asked(0, 9, line=1), asked(1, 3, line=2), asked(2, 1, line=3))
    found = judged(*entries, limits=AT_ONCE)

    (violation,) = found.violations
    assert (violation.limit, violation.allowed, violation.found) == ("per_host", 2, 3)
    assert (violation.first.line, violation.second.line) == (2, 3)
    assert found.hosts[0].most == 3


def test_one_that_ends_makes_room_for_the_next() -> None:
    found = judged(asked(0, 1), asked(0.5, 0.5), asked(1, 1), limits=AT_ONCE)

    assert found.polite
    assert found.hosts[0].most == 2


def test_a_server_counts_the_requests_to_all_its_hosts() -> None:
    entries = [asked(i, 9, host=f"h{i}", server="10.0.0.1") for i in range(4)]
    found = judged(*entries, limits=AT_ONCE)

    assert found.broken == {"per_server": 1}
    assert found.servers[0].most == 4


def test_what_was_cut_off_counts_to_the_end_of_its_log() -> None:
    cut = (asked(0, inf, line=1), asked(50, inf, line=2))

    assert broken(judged(*cut, asked(99, 1, line=3), limits=AT_ONCE)) == [
        ("per_host", 1, 3)
    ]
    assert judged(*cut, asked(99, 1, log=1), limits=AT_ONCE).polite


def test_where_no_end_is_known_nothing_is_said_of_how_many_were_at_once() -> None:
    found = judged(*(asked(0) for _ in range(9)), limits=AT_ONCE)

    assert found.polite
    assert found.hosts[0].most is None


def test_requests_shorter_than_a_step_of_the_clock_may_not_have_met() -> None:
    entries = [asked(0, 0.9) for _ in range(9)]

    assert judged(*entries, limits=AT_ONCE, resolution=1.0).polite
    assert not judged(*entries, limits=AT_ONCE, resolution=0.001).polite


# -- the whole -----------------------------------------------------------------------


def test_a_tally_holds_what_was_seen_and_what_was_allowed() -> None:
    found = judged(asked(0, 3), asked(1.5, 1), asked(3, 1))

    (tally,) = found.hosts
    assert (tally.requests, tally.violations) == (3, 0)
    assert (tally.shortest, tally.interval) == (1.5, 1.0)
    assert (tally.most, tally.at_once) == (2, 2)
    assert found.servers == ()


def test_where_there_is_no_limit_the_tally_says_so() -> None:
    (tally,) = judged(asked(0, 3), limits=FREE).hosts

    assert (tally.shortest, tally.interval, tally.at_once) == (None, 0.0, None)


def test_what_has_no_key_is_counted_and_not_judged() -> None:
    found = judged(asked(0, host=""), asked(0, host=""))

    assert (found.requests, found.polite, found.hosts) == (2, True, ())


def test_nothing_asked_is_polite() -> None:
    assert judged() == Audit(0, 1e-6, (), (), {}, ())


def test_the_first_violations_by_moment_are_kept_and_all_are_counted() -> None:
    entries = [asked(i / 10, host=f"h{i % 3}", line=i) for i in range(99)]
    every, some = judged(*entries), judged(*entries, keep=5)

    assert len(every.violations) == every.count == some.count == 96
    assert some.violations == every.violations[:5]
    assert [v.second.line for v in some.violations] == [3, 4, 5, 6, 7]


# -- against a slow and obvious version ----------------------------------------------

STEP = 1000  # microseconds
KEYS = {"host": ("interval", "per_host"), "server": ("server_interval", "per_server")}
INTERVALS = {"a": 3.0, "b": 0.002, "c": 0.0}


def _limits(host: str, server: str) -> Limits:
    return Limits(
        interval=INTERVALS[host],
        per_host=1 + len(host + server) % 3,
        server_interval=0.004 if server == "::1" else INTERVALS[host],
        per_server=2,
    )


ENTRIES = st.lists(
    st.builds(
        Entry,
        at=st.integers(0, 12).map(lambda ms: NOON + ms / 1000),
        seconds=st.none() | st.just(inf) | st.integers(0, 9).map(lambda n: n / 1000),
        host=st.sampled_from(["a", "b", "c"]),
        server=st.sampled_from(["", "::1", "10.0.0.1"]),
        gap=st.sampled_from([0.0, 0.003, 0.01]),
        rule=st.just("adaptive"),
        log=st.integers(0, 1),
    ),
    max_size=14,
)


def _micro(seconds: float) -> int:
    return round(seconds * 1_000_000)


def _too_soon(key: str, entries: list[Entry]) -> Iterable[tuple[str, int, int]]:
    for before, after in pairwise(entries):
        rule = KEYS[key][0]
        allowed = getattr(_limits(after.host, after.server), rule)
        if key == "host" and after.gap > allowed:
            allowed, rule = after.gap, after.rule
        if _micro(after.at) - _micro(before.at) + STEP < _micro(allowed):
            yield rule, before.line, after.line


def _too_many(
    key: str, entries: list[Entry], ends: dict[int, float]
) -> Iterable[tuple[str, int, int]]:
    known = [e for e in entries if e.line in ends]
    for i, entry in enumerate(known):
        now = _micro(entry.at)
        under_way = [e for e in known[: i + 1] if ends[e.line] - STEP > now]
        limit = getattr(_limits(entry.host, entry.server), KEYS[key][1])
        if entry in under_way and len(under_way) > limit:
            others = under_way[:-1]
            first = min(others, key=lambda e: (ends[e.line], e.line))
            yield KEYS[key][1], first.line, entry.line


def _obvious(entries: list[Entry]) -> list[tuple[str, int, int]]:
    ends: dict[int, float] = {}
    for e in entries:
        if e.seconds is not None and e.seconds < inf:
            ends[e.line] = _micro(e.at) + _micro(e.seconds)
    for e in entries:
        if e.seconds == inf:
            same = [o for o in entries if o.log == e.log]
            last = max(_micro(o.at) for o in same)
            finite = [ends[o.line] for o in same if o.seconds not in {None, inf}]
            ends[e.line] = max(last, *finite, last) + STEP + 1
    found: list[tuple[str, int, int]] = []
    for key in KEYS:
        for name in {getattr(e, key) for e in entries} - {""}:
            its = sorted((e for e in entries if getattr(e, key) == name), key=_start)
            found += _too_soon(key, its)
            found += _too_many(key, its, ends)
    return sorted(found)


def _start(entry: Entry) -> float:
    return entry.at


@given(ENTRIES)
def test_the_judge_finds_exactly_what_a_slow_and_obvious_one_finds(
    entries: list[Entry],
) -> None:
    numbered = [_numbered(entry, i) for i, entry in enumerate(entries)]
    found = audit(numbered, _limits, resolution=0.001)

    assert sorted(broken(found)) == _obvious(numbered)
    assert found.count == len(found.violations)
    assert sum(t.violations for t in (*found.hosts, *found.servers)) == found.count


@given(ENTRIES, st.integers(0, 5))
def test_keeping_few_violations_keeps_the_first(
    entries: list[Entry], keep: int
) -> None:
    every = audit(entries, _limits, resolution=0.001)
    some = audit(entries, _limits, resolution=0.001, keep=keep)

    assert some.violations == every.violations[:keep]
    assert some.broken == every.broken


def _numbered(entry: Entry, line: int) -> Entry:
    return Entry(
        **{f: getattr(entry, f) for f in entry.__struct_fields__} | {"line": line}
    )


def test_a_lax_neighbour_between_them_hides_nothing() -> None:
    def limits(host: str, _server: str) -> Limits:
        return Limits(server_interval=0.0 if host == "lax" else 10.0)

    entries = [
        asked(0.0, host="a", server="s", line=1),
        asked(0.1, host="lax", server="s", line=2),
        asked(0.2, host="b", server="s", line=3),
    ]
    found = audit(entries, limits)

    assert broken(found) == [("server_interval", 2, 3)]


def test_requests_that_name_nobody_are_counted() -> None:
    found = judged(asked(0.0), asked(5.0, host="", server=""))

    assert (found.polite, found.unjudged) == (True, 1)
