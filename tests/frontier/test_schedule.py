"""When a target is checked again, and what is told of it."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import astuple, fields, replace

from ronda.config import Intervals
from ronda.frontier.intervals import DAY, HOUR, MINUTE, NEVER
from ronda.frontier.schedule import (
    FAILING,
    FAILURES,
    GOOD,
    Outcome,
    Rules,
    after,
)
from ronda.model import Standing, State, Verdict

OK, WARNING = State.OK, State.WARNING
TEMPORARY, BROKEN, BLOCKED = State.TEMPORARY, State.BROKEN, State.BLOCKED
UNSUPPORTED, UNKNOWN = State.UNSUPPORTED, State.UNKNOWN
NOW = 1_800_000_000.0
PLAIN = Rules(jitter=0.0)
OPERATOR = "operator"
untimed = settings(deadline=None)


def verdict(state: State, reason: str = "") -> Verdict:
    return Verdict(state, reason or f"{state}_code", f"it is {state}")


def chain(
    *found: State, rules: Rules = PLAIN, start: Standing | None = None
) -> list[Outcome]:
    """Checks one after another, each when it is due."""
    standing, now, outcomes = start or Standing(), NOW, []
    for state in found:
        outcome = after(standing, verdict(state), now, rules)
        outcomes.append(outcome)
        standing = outcome.standing
        now = outcome.next_due if outcome.next_due is not None else now + DAY
    return outcomes


def states(outcomes: list[Outcome]) -> list[State]:
    return [outcome.standing.state for outcome in outcomes]


def gap(outcome: Outcome) -> float:
    assert outcome.next_due is not None
    return outcome.next_due - outcome.standing.last_check_at


# -- the state ------------------------------------------------------------------------


@pytest.mark.parametrize("state", [OK, WARNING, UNSUPPORTED])
@pytest.mark.parametrize("before", list(State))
def test_what_is_good_or_unsupported_is_believed_at_once(before, state):
    standing = Standing(before, last_check_at=NOW - DAY, failures=7)
    found = after(standing, verdict(state), NOW, PLAIN).standing

    assert (found.state, found.failures) == (state, 0)


@pytest.mark.parametrize("state", sorted(FAILING))
@pytest.mark.parametrize("before", [OK, WARNING, UNSUPPORTED, UNKNOWN])
def test_a_failure_changes_the_state_only_once_it_is_confirmed(before, state):
    first, second = chain(state, state, start=Standing(before))

    assert (first.standing.state, first.notices) == (before, ())
    assert gap(first) >= PLAIN.confirm_gap
    assert (second.standing.state, second.notices) == (state, ("change",))


def test_failures_of_different_kinds_confirm_each_other():
    assert states(chain(OK, TEMPORARY, BROKEN)) == [OK, OK, BROKEN]


def test_from_one_failing_state_to_another_no_confirmation_is_needed():
    found = chain(OK, BROKEN, BROKEN, TEMPORARY, BLOCKED)

    assert states(found) == [OK, OK, BROKEN, TEMPORARY, BLOCKED]


@pytest.mark.parametrize("confirm", [1, 2, 3, 5])
def test_as_many_failures_are_needed_as_are_set(confirm):
    rules = replace(PLAIN, confirm=confirm)

    found = states(chain(OK, *[BROKEN] * confirm, rules=rules))
    assert found == [OK] * confirm + [BROKEN]


def test_a_failure_that_comes_too_soon_confirms_nothing():
    first = after(Standing(OK), verdict(BROKEN), NOW, PLAIN).standing
    soon = after(first, verdict(BROKEN), NOW + 59.9, PLAIN)
    in_time = after(soon.standing, verdict(BROKEN), NOW + 120.0, PLAIN)

    assert (soon.standing.state, soon.standing.failures) == (OK, 1)
    assert soon.next_due == NOW + 59.9 + 60.0
    assert (in_time.standing.state, in_time.standing.failures) == (BROKEN, 2)


def test_a_confirmation_at_the_very_moment_it_is_due_counts():
    rules = replace(PLAIN, confirm_gap=0.1)  # which no float is

    assert states(chain(OK, BROKEN, BROKEN, rules=rules))[-1] is BROKEN


def test_failures_that_a_fault_of_ours_separates_are_still_in_a_row():
    assert states(chain(OK, BROKEN, UNKNOWN, BROKEN)) == [OK, OK, OK, BROKEN]


def test_an_unsupported_check_between_two_failures_separates_them():
    assert states(chain(OK, BROKEN, UNSUPPORTED, BROKEN))[-1] is UNSUPPORTED


def test_the_reason_is_that_of_the_last_check_whatever_the_state():
    for outcome, state in zip(
        chain(OK, BROKEN, UNKNOWN, OK), [OK, BROKEN, UNKNOWN, OK], strict=True
    ):
        assert outcome.standing.reason == f"{state}_code"
        assert outcome.standing.message == f"it is {state}"


def test_a_reason_that_changes_alone_is_no_change():
    start = Standing(OK, "fine", "all is well", NOW - DAY, NOW - 9 * DAY)
    found = after(start, verdict(OK, "redirected"), NOW, PLAIN)

    assert found.standing.reason == "redirected"
    assert found.standing.last_change_at == NOW - 9 * DAY
    assert found.notices == ()


@pytest.mark.parametrize("state", [OK, WARNING, UNSUPPORTED])
def test_the_first_result_is_told(state):
    [found] = chain(state)

    assert found.notices == ("change",)
    assert found.standing.last_change_at == NOW


# -- when it is next ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "seconds"),
    [
        (OK, DAY),
        (WARNING, DAY),
        (TEMPORARY, 10 * MINUTE),
        (BROKEN, 6 * HOUR),
        (BLOCKED, DAY),
        (UNSUPPORTED, 7 * DAY),
        (UNKNOWN, 10 * MINUTE),
    ],
)
def test_every_state_has_its_time(state, seconds):
    rules = replace(PLAIN, confirm=1)

    assert gap(chain(state, rules=rules)[0]) == seconds


@pytest.mark.parametrize(
    ("state", "minutes"),
    [
        (TEMPORARY, [10, 20, 40, 80, 160, 320, 360, 360]),
        (BROKEN, [360, 720, 1440, 2880, 5760, 10080, 10080]),
        (OK, [1440, 1440, 1440]),
        (BLOCKED, [1440, 1440, 1440]),
    ],
)
def test_times_of_what_does_not_work_grow_and_have_a_longest(state, minutes):
    found = chain(*[state] * len(minutes), rules=replace(PLAIN, confirm=1))

    assert [gap(outcome) / MINUTE for outcome in found] == minutes


def test_a_change_begins_with_the_first_time_again():
    found = chain(*[TEMPORARY] * 6, BROKEN, BROKEN, TEMPORARY)

    assert gap(found[-2]) == 2 * PLAIN.broken
    assert gap(found[-1]) == PLAIN.temporary


def test_a_first_time_above_the_longest_holds():
    rules = replace(PLAIN, confirm=1, temporary=DAY)

    assert [gap(outcome) for outcome in chain(TEMPORARY, TEMPORARY, rules=rules)] == [
        DAY,
        DAY,
    ]


@pytest.mark.parametrize("state", [OK, WARNING])
def test_the_time_of_a_target_goes_before_the_rules_while_it_is_good(state):
    found = after(Standing(), verdict(state), NOW, PLAIN, every=90.0)

    assert gap(found) == 90.0


@pytest.mark.parametrize("state", [TEMPORARY, BROKEN, BLOCKED, UNSUPPORTED, UNKNOWN])
def test_the_time_of_a_target_does_not_hold_while_it_is_not_good(state):
    rules = replace(PLAIN, confirm=1)

    with_it = after(Standing(), verdict(state), NOW, rules, every=90.0)
    assert with_it == after(Standing(), verdict(state), NOW, rules)


def test_a_confirmation_comes_soon_and_never_too_soon():
    rules = Rules(jitter=0.5)
    soon, late = (
        after(Standing(OK), verdict(BROKEN), NOW, rules, draw=draw)
        for draw in (0.0, 1.0)
    )

    assert (gap(soon), gap(late)) == (60.0, 90.0)


# -- our own faults -------------------------------------------------------------------


@untimed
@given(st.sampled_from(sorted(State)), st.integers(0, 9), st.integers(0, 9))
def test_a_fault_of_ours_changes_only_what_is_said_of_the_last_check(
    state, failures, repeats
):
    rules = replace(PLAIN, failures_to_disable=1)
    start = Standing(state, "a", "b", NOW - DAY, NOW - DAY, failures, repeats)
    found = after(start, verdict(UNKNOWN, "own_fault"), NOW, rules)

    assert found.notices == ()
    assert found.standing == replace(
        start, reason="own_fault", message="it is unknown", last_check_at=NOW
    )


def test_the_same_fault_of_ours_is_tried_less_often_each_time():
    found = chain(OK, *[UNKNOWN] * 9, OK, UNKNOWN)

    minutes = [round(gap(outcome) / MINUTE) for outcome in found]
    assert minutes[1:10] == [10, 20, 40, 80, 160, 320, 360, 360, 360]
    assert minutes[-1] == 10


def test_another_fault_of_ours_is_tried_again_soon():
    start = Standing(OK, "own_fault", "", NOW - HOUR)
    found = after(start, verdict(UNKNOWN, "plugin_failed"), NOW, PLAIN)

    assert gap(found) == PLAIN.unknown


# -- disabled -------------------------------------------------------------------------

MIRROR = replace(PLAIN, failures_to_disable=4)


def test_a_target_is_disabled_after_its_failures_and_told_so_once():
    found = chain(OK, *[TEMPORARY] * 6, rules=MIRROR)

    assert [outcome.standing.enabled for outcome in found] == [True] * 4 + [False] * 3
    assert [outcome.notices for outcome in found] == [
        *(("change",), (), ("change",), ()),
        *(("disabled",), (), ()),
    ]
    assert found[4].standing.why_disabled == FAILURES


def test_a_disabled_target_is_still_looked_at_but_seldom():
    found = chain(OK, *[TEMPORARY] * 6, rules=MIRROR)

    assert [gap(outcome) for outcome in found[4:]] == [7 * DAY] * 3


@pytest.mark.parametrize("state", [OK, WARNING])
def test_a_good_check_enables_again_and_tells(state):
    found = chain(OK, *[BROKEN] * 5, state, rules=MIRROR)[-1]

    assert (found.standing.enabled, found.standing.why_disabled) == (True, "")
    assert found.notices == ("change", "enabled")
    assert gap(found) == DAY


@pytest.mark.parametrize("state", [UNSUPPORTED, UNKNOWN, BLOCKED])
def test_only_a_good_check_enables_again(state):
    found = chain(OK, *[BROKEN] * 5, state, rules=MIRROR)[-1]

    assert not found.standing.enabled
    assert found.next_due is not None


def test_faults_of_ours_do_not_disable():
    found = chain(OK, *[BROKEN] * 3, *[UNKNOWN] * 9, rules=MIRROR)

    assert found[-1].standing.enabled
    assert chain(BROKEN, rules=MIRROR, start=found[-1].standing)[0].notices == (
        "disabled",
    )


def test_a_target_is_not_disabled_by_failures_that_are_not_confirmed():
    rules = replace(PLAIN, confirm=3, failures_to_disable=1)
    found = chain(OK, BROKEN, BROKEN, BROKEN, rules=rules)

    assert [outcome.standing.enabled for outcome in found] == [True, True, True, False]
    assert found[-1].notices == ("change", "disabled")


def test_without_a_number_nothing_is_ever_disabled():
    found = chain(OK, *[BROKEN] * 2000)

    assert found[-1].standing.enabled
    assert gap(found[-1]) == 7 * DAY


@pytest.mark.parametrize("state", sorted(State))
def test_what_a_person_disabled_stays_so_and_is_not_checked(state):
    start = Standing(BROKEN, failures=9, enabled=False, why_disabled=OPERATOR)
    found = after(start, verdict(state), NOW, MIRROR)

    assert (found.standing.enabled, found.standing.why_disabled) == (False, OPERATOR)
    assert found.next_due is None
    assert {"enabled", "disabled"}.isdisjoint(found.notices)


# -- flapping -------------------------------------------------------------------------


def flaps(count: int, seconds: float, rules: Rules = PLAIN) -> list[Outcome]:
    """A target that is good and needs a hand in turn."""
    standing, outcomes = Standing(OK, last_check_at=NOW), []
    for turn in range(1, count + 1):
        found = verdict(WARNING if turn % 2 else OK)
        outcomes.append(after(standing, found, NOW + turn * seconds, rules))
        standing = outcomes[-1].standing
    return outcomes


def test_a_target_that_changes_too_often_is_told_once_to_be_flapping():
    told = [outcome.notices for outcome in flaps(20, MINUTE)]

    assert told[:5] == [("change",)] * 5
    assert told[5] == ("flapping",)
    assert told[6:] == [()] * 14


def test_a_target_that_changes_now_and_then_is_told_every_time():
    assert {outcome.notices for outcome in flaps(50, DAY)} == {("change",)}


def test_a_target_that_keeps_its_state_settles_and_is_told_where_it_stands():
    last = flaps(20, MINUTE)[-1].standing
    assert last.flapping
    standing, now, told = last, last.last_check_at, []
    while standing.flapping:
        now += HOUR
        outcome = after(standing, verdict(WARNING), now, PLAIN)
        standing = outcome.standing
        told.append(outcome.notices)

    assert told[-1] == ("settled",)
    assert set(told[:-1]) <= {()}
    assert standing.state is WARNING
    assert standing.flap < PLAIN.flaps / 2
    assert after(standing, verdict(OK), now + DAY, PLAIN).notices == ("change",)


def test_a_change_at_the_moment_of_settling_is_told_as_settled_only():
    last = flaps(20, MINUTE)[-1].standing
    found = after(last, verdict(WARNING), last.last_check_at + 5 * DAY, PLAIN)

    assert found.standing.state is not last.state
    assert found.notices == ("settled",)


def test_a_fault_of_ours_neither_settles_nor_flaps_but_lets_the_score_fade():
    last = flaps(20, MINUTE)[-1].standing
    found = after(last, verdict(UNKNOWN), last.last_check_at + 6 * HOUR, PLAIN)

    assert found.standing.flap == pytest.approx(last.flap / 2)
    assert found.standing.flapping
    assert found.notices == ()


def test_a_clock_that_is_set_back_does_not_raise_the_score():
    last = flaps(3, MINUTE)[-1].standing
    found = after(last, verdict(last.state), NOW - DAY, PLAIN).standing

    assert found.flap == last.flap


# -- for all targets, rules and moments -----------------------------------------------

seconds = st.floats(1.0, 1e6)
all_rules = st.builds(
    Rules,
    *[seconds] * 9,
    growth=st.floats(1.0, 10.0),
    jitter=st.floats(0.0, 0.5),
    confirm=st.integers(1, 5),
    confirm_gap=seconds,
    failures_to_disable=st.one_of(st.just(NEVER), st.integers(1, 9)),
    flaps=st.integers(1, 9),
    flap_fade=seconds,
)
standings = st.builds(
    Standing,
    st.sampled_from(sorted(State)),
    st.sampled_from(["", "own_fault", "http_404"]),
    last_check_at=st.floats(0.0, 2 * NOW),
    last_change_at=st.floats(0.0, NOW),
    failures=st.integers(0, 20),
    repeats=st.integers(0, 5000),
    flap=st.floats(0.0, 20.0),
    flapping=st.booleans(),
    enabled=st.booleans(),
    why_disabled=st.sampled_from([FAILURES, OPERATOR]),
).map(lambda s: replace(s, why_disabled="") if s.enabled else s)
verdicts = st.builds(
    verdict, st.sampled_from(sorted(State)), st.sampled_from(["own_fault", "http_500"])
)
draws = st.floats(0.0, 1.0)
every = st.one_of(st.none(), seconds)


@untimed
@given(standings, verdicts, all_rules, every, draws)
@example(Standing(BROKEN, repeats=10_000), verdict(BROKEN), Rules(), None, 1.0)
def test_a_target_is_never_due_before_now_nor_after_the_longest_time(
    standing, found, rules, every, draw
):
    due = after(standing, found, NOW, rules, every=every, draw=draw).next_due
    stopped = standing.why_disabled == OPERATOR

    assert (due is None) is stopped
    if due is not None:
        times = dict(zip(Rules.__struct_fields__, astuple(rules), strict=True))
        longest = max(
            every or 0.0,
            *(v for key, v in times.items() if key in set(State)),
            rules.temporary_longest,
            rules.broken_longest,
            rules.confirm_gap,
        )
        assert NOW < due <= NOW + longest * (1 + rules.jitter) + 1e-3


@untimed
@given(st.sampled_from([TEMPORARY, BROKEN]), all_rules, draws, st.integers(0, 3000))
def test_waiting_grows_with_every_repetition_until_it_is_the_longest(
    state, rules, draw, repeats
):
    def wait(repeats: int) -> float:
        standing = Standing(state, repeats=repeats)
        rules_ = replace(rules, failures_to_disable=NEVER)
        return gap(after(standing, verdict(state), NOW, rules_, draw=draw))

    longest = wait(1_000_000) if rules.growth > 1.01 else wait(repeats + 1)
    assert wait(repeats) <= wait(repeats + 1) <= longest


@untimed
@given(st.lists(st.sampled_from(sorted(GOOD)), min_size=2), verdicts, all_rules)
def test_a_single_failure_among_good_checks_never_changes_the_state(
    good, failure, rules
):
    assume(failure.state in FAILING)
    rules = replace(rules, confirm=max(2, rules.confirm))
    before = chain(*good, rules=rules)[-1].standing
    failed = after(before, failure, NOW + DAY, rules)
    healed = after(failed.standing, verdict(before.state), NOW + 2 * DAY, rules)

    assert failed.standing.state is before.state
    assert healed.standing.state is before.state
    assert healed.standing.last_change_at == before.last_change_at
    assert {"change", "flapping", "disabled"}.isdisjoint(
        failed.notices + healed.notices
    )


@untimed
@given(standings, verdicts, all_rules)
def test_the_moment_of_change_moves_with_the_state_and_only_with_it(
    standing, found, rules
):
    standing = replace(standing, last_change_at=1.0)
    after_it = after(standing, found, NOW, rules).standing

    changed = after_it.state is not standing.state
    assert after_it.last_change_at == (NOW if changed else 1.0)
    assert after_it.last_check_at == NOW
    assert (after_it.reason, after_it.message) == (found.reason, found.message)


@untimed
@given(standings, verdicts, all_rules)
def test_a_change_is_told_or_the_target_is_flapping(standing, found, rules):
    outcome = after(standing, found, NOW, rules)
    after_it, told = outcome.standing, outcome.notices

    changed = after_it.state is not standing.state
    assert ("change" in told) == (
        changed and not after_it.flapping and not standing.flapping
    )
    assert ("flapping" in told) == (after_it.flapping and not standing.flapping)
    assert ("settled" in told) == (standing.flapping and not after_it.flapping)
    assert ("disabled" in told) == (standing.enabled and not after_it.enabled)
    assert ("enabled" in told) == (after_it.enabled and not standing.enabled)


# -- a year of a target ---------------------------------------------------------------


class Slow(Struct):
    """The same in plain words, from the list of all checks, for a year at random."""

    rules: Rules
    past: list[tuple[float, State]]

    def in_a_row(self) -> int:
        """Failing checks at the end, our own faults left out."""
        counted = [state for _, state in self.past if state is not UNKNOWN]
        row = 0
        for state in reversed(counted):
            if state not in FAILING:
                break
            row += 1
        return row

    def states(self) -> list[State]:
        """The state after each check."""
        state, row, found = UNKNOWN, 0, []
        for _, seen in self.past:
            if seen is not UNKNOWN:
                row = row + 1 if seen in FAILING else 0
                confirmed = state in FAILING or row >= self.rules.confirm
                if seen not in FAILING or confirmed:
                    state = seen
            found.append(state)
        return found

    def changes(self) -> list[float]:
        """The moments at which the state changed."""
        stood = [UNKNOWN, *self.states()]
        pairs = pairwise(stood)
        moments = (at for at, _ in self.past)
        return [
            at for at, (one, other) in zip(moments, pairs, strict=True) if one != other
        ]

    def score(self, now: float) -> float:
        fade = self.rules.flap_fade
        return sum(0.5 ** ((now - at) / fade) for at in self.changes())


WEATHER = (
    ([OK] * 60 + [WARNING] * 4 + [TEMPORARY] * 12 + [BROKEN] * 12 + [BLOCKED] * 3)
    + [UNKNOWN] * 5
    + [UNSUPPORTED]
)


@pytest.mark.parametrize("seed", range(12))
def test_a_year_of_a_target_is_told_rightly(seed):
    random = Random(seed)
    rules = Rules(
        ok=random.choice([10 * MINUTE, HOUR, DAY]),
        confirm=random.choice([1, 2, 2, 3]),
        failures_to_disable=random.choice([NEVER, 4, 10]),
        flaps=random.choice([2, 3, 5]),
    )
    slow, told = Slow(rules, []), []
    standing, now, weather = Standing(), NOW, OK
    while now < NOW + 365 * DAY and len(slow.past) < 400:
        if random.random() < 0.4:  # else it is as it was
            weather = random.choice(WEATHER)
        slow.past.append((now, weather))
        before = standing
        outcome = after(standing, verdict(weather), now, rules, draw=random.random())
        standing, told = outcome.standing, [*told, *outcome.notices]
        check_against(slow, before, outcome)
        assert outcome.next_due is not None
        now = outcome.next_due + random.choice([0.0, 0.5, 300.0])  # late, at times

    pairs = [kind for kind in told if kind in {"flapping", "settled"}]
    assert pairs == (["flapping", "settled"] * len(pairs))[: len(pairs)]
    pairs = [kind for kind in told if kind in {"disabled", "enabled"}]
    assert pairs == (["disabled", "enabled"] * len(pairs))[: len(pairs)]


def check_against(slow: Slow, before: Standing, outcome: Outcome) -> None:
    found, rules = outcome.standing, slow.rules
    now, seen = slow.past[-1]
    changes = slow.changes()
    assert found.state is slow.states()[-1]
    assert found.last_change_at == (changes[-1] if changes else 0.0)
    assert found.failures == slow.in_a_row()
    assert found.flap == pytest.approx(slow.score(now))
    if seen in FAILING and found.state in FAILING:
        too_many = slow.in_a_row() >= rules.failures_to_disable
        assert found.enabled == (before.enabled and not too_many)
    elif seen in GOOD:
        assert found.enabled
    else:
        assert found.enabled == before.enabled
    if seen is not UNKNOWN:
        score, changed = slow.score(now), found.state is not before.state
        began = changed and score > rules.flaps
        assert found.flapping == (
            score >= rules.flaps / 2 if before.flapping else began
        )


# -- what the settings say ------------------------------------------------------------


@pytest.mark.parametrize("name", Rules.__struct_fields__)
def test_what_a_setting_says_of_its_default_is_true(name):
    [field] = (field for field in fields(Intervals) if field.name == name)
    metas = [meta for meta in field.type.__metadata__ if meta.examples]
    default = getattr(Rules(), name)

    if default == NEVER:
        assert "not set: never" in metas[0].description
    else:
        assert metas[0].examples == [default]
        assert f"not set: {default:g}" in metas[0].description
