"""When a target is checked again, and what its owners are told: settings to moments.

What a check finds is *good* (ok, warning), *failing* (temporary, broken, blocked),
unsupported, or unknown: a fault of our own, which never counts.

- `failures` are the checks in a row that were failing; good and unsupported ones set
  them back to 0. A target that was not failing changes its state only at the failure
  number `confirm`, whichever failing state each of them found; until then it keeps the
  state it has, with the reason of the last check, and a failure that comes before
  `confirm_gap` is over is not counted. From one failing state to another no
  confirmation is needed, and good states are believed at once.
- `failures_to_disable` counts the same: the failure of that number disables a target,
  though never before its state is failing. It is still looked at, seldom, and the first
  good check enables it. Who was disabled by a person is not checked at all.
- `repeats` are the checks in a row that found the state again; times grow with them.
- `flap` is 1 for every change of state, halved every `flap_fade`, as of the last check.
  A change that brings it above `flaps` begins the flapping; it ends at the first check,
  not counting our own faults, that finds it below half of that.
"""

from msgspec import Struct
from msgspec.structs import replace

from ronda.frontier.intervals import Rules, Schedule
from ronda.model import Standing, State, Verdict

__all__ = ["FAILING", "FAILURES", "GOOD", "Outcome", "Rules", "Schedule", "after"]

GOOD = frozenset({State.OK, State.WARNING})
FAILING = frozenset({State.TEMPORARY, State.BROKEN, State.BLOCKED})
FAILURES = "failures"  # why a target is disabled that a good check enables again

CHANGE, DISABLED, ENABLED = "change", "disabled", "enabled"
FLAPPING, SETTLED = "flapping", "settled"


class Outcome(Struct, frozen=True, gc=False):
    """What a check makes of its target."""

    standing: Standing
    next_due: float | None  # None: not at all
    notices: tuple[str, ...] = ()  # kinds of them


def after(
    standing: Standing,
    verdict: Verdict,
    now: float,
    rules: Rules,
    *,
    every: float | None = None,
    draw: float = 0.5,
) -> Outcome:
    """Where a target stands after a check.

    Args:
        standing: where it stood before.
        verdict: what the check found.
        now: epoch seconds.
        rules: what the settings say of this target.
        every: seconds between checks while it is good, if the target has its own.
        draw: a random number from 0 to 1, for the jitter.
    """
    if verdict.state is State.UNKNOWN:
        return _own_fault(standing, verdict, now, rules, draw)
    failures = _failures(standing, verdict.state, now, rules)
    pending = 0 < failures < rules.confirm and standing.state not in FAILING
    state = standing.state if pending else verdict.state
    changed = state is not standing.state
    enabled = _is_enabled(standing, state, failures, rules)
    flap = _faded(standing, now, rules) + changed
    if standing.flapping:
        flapping = flap >= rules.flaps / 2
    else:
        flapping = changed and flap > rules.flaps
    found = Standing(
        state,
        verdict.reason,
        verdict.message,
        now,
        now if changed else standing.last_change_at,
        failures,
        0 if changed or pending else standing.repeats + 1,
        flap,
        flapping,
        enabled,
        standing.why_disabled if enabled is standing.enabled else _why(enabled),
    )
    return Outcome(
        found,
        _next_due(found, pending, rules, every, draw),
        _notices(standing, found),
    )


def _failures(standing: Standing, found: State, now: float, rules: Rules) -> int:
    """How many are now in a row."""
    if found not in FAILING:
        return 0
    # One that somebody asked for out of turn does not confirm the one before it.
    awaited = standing.failures > 0 and standing.state not in FAILING
    too_soon = now < standing.last_check_at + rules.confirm_gap
    return standing.failures + (not (awaited and too_soon))


def _is_enabled(standing: Standing, state: State, failures: int, rules: Rules) -> bool:
    """Failures disable, the next good check enables; what a person did stays."""
    if standing.enabled:
        return state not in FAILING or failures < rules.failures_to_disable
    return standing.why_disabled == FAILURES and state in GOOD


def _why(enabled: bool) -> str:
    return "" if enabled else FAILURES


def _faded(standing: Standing, now: float, rules: Rules) -> float:
    """The score of its changes, as it is now; a clock that is set back adds nothing."""
    seconds = max(0.0, now - standing.last_check_at)
    return standing.flap * 0.5 ** (seconds / rules.flap_fade) if standing.flap else 0.0


def _notices(before: Standing, found: Standing) -> tuple[str, ...]:
    """Its changes, or in their place that it has begun or ceased to flap."""
    told: tuple[str, ...] = ()
    if found.flapping is not before.flapping:
        told = (FLAPPING if found.flapping else SETTLED,)
    elif found.state is not before.state and not found.flapping:
        told = (CHANGE,)
    if found.enabled is not before.enabled:
        told = (*told, ENABLED if found.enabled else DISABLED)
    return told


def _own_fault(
    standing: Standing, verdict: Verdict, now: float, rules: Rules, draw: float
) -> Outcome:
    """Only what is said of the last check changes; the same fault is tried less often.

    No number may count it, so the last wait tells how long the next one is.
    """
    wait = rules.unknown
    if standing.reason == verdict.reason:
        grown = (now - standing.last_check_at) * rules.growth
        wait = max(wait, min(grown, rules.temporary_longest))
    if not standing.enabled:
        wait = max(wait, rules.broken_longest)
    found = replace(
        standing,
        reason=verdict.reason,
        message=verdict.message,
        last_check_at=now,
        flap=_faded(standing, now, rules),
    )
    stopped = not standing.enabled and standing.why_disabled != FAILURES
    return Outcome(found, None if stopped else now + _spread(wait, rules, draw))


def _next_due(
    found: Standing, pending: bool, rules: Rules, every: float | None, draw: float
) -> float | None:
    if not found.enabled:
        if found.why_disabled != FAILURES:
            return None
        return found.last_check_at + _spread(rules.broken_longest, rules, draw)
    if pending:  # not sooner than said, so chance only adds
        return found.last_check_at + rules.confirm_gap * (1 + rules.jitter * draw)
    wait = _wait(found, rules, every)
    return found.last_check_at + _spread(wait, rules, draw)


def _wait(found: Standing, rules: Rules, every: float | None) -> float:
    if every and found.state in GOOD:
        return every
    first: float = getattr(rules, found.state)  # the rules are named after the states
    if found.state is State.TEMPORARY:
        return _grown(first, rules.temporary_longest, rules.growth, found.repeats)
    if found.state is State.BROKEN:
        return _grown(first, rules.broken_longest, rules.growth, found.repeats)
    return first


def _grown(first: float, longest: float, growth: float, repeats: int) -> float:
    try:
        return min(first * growth**repeats, max(first, longest))
    except OverflowError:
        return max(first, longest)


def _spread(wait: float, rules: Rules, draw: float) -> float:
    """Longer or shorter by chance, so that what began together does not stay so."""
    return wait * (1 + rules.jitter * (2 * draw - 1))
