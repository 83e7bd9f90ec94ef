"""What a program has said: its answer in one of three forms, and who it is."""

import re
from signal import Signals

import msgspec
from msgspec import Struct

from ronda.model import Ran, State
from ronda.probes import tcl
from ronda.probes.reasons import REASONS, http_verdict

LONGEST = 500  # characters of a message
EVIDENCE = 2000  # characters that are kept of what a program wrote
DATA = 65_536  # characters of a program's own data

_CODE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_ODD = re.compile(r"[^a-z0-9_]+")
_STATUS = re.compile(r"http_([1-5]\d\d)")
# Line breaks and tabs may stay in evidence; all else that is not seen goes.
_UNSEEN = re.compile(r"[^\S\n\t ]|[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# What a program may say, and the reason of who gives none.
_STATES: dict[str, tuple[State | None, str]] = {
    "ok": (State.OK, "task_ok"),
    "warning": (State.WARNING, "task_warning"),
    "error": (State.BROKEN, "task_broken"),
    "broken": (State.BROKEN, "task_broken"),
    "temporary": (State.TEMPORARY, "task_temporary"),
    "blocked": (State.BLOCKED, "task_blocked"),
    "unknown": (State.UNKNOWN, "task_error"),
    "not_applicable": (None, ""),
}
_SEED = ("ok", "warning", "error", "not_applicable")  # the words of the line form
_BEGINNING = re.compile(rf"^(?:{'|'.join(_SEED)}) ", re.MULTILINE)
_GOOD = (State.OK, State.WARNING, None)


class Said(Struct, frozen=True):
    """What a program found."""

    state: State | None  # None: it has nothing to say of the target
    reason: str = ""
    message: str = ""
    data: str = ""  # its own


class Identity(Struct, frozen=True):
    """Who a program is."""

    name: str
    description: str = ""
    kinds: tuple[str, ...] = ()  # of targets that it is for; none: for all
    timeout: float | None = None  # seconds that it may take; None: as any other


# What languages write of an error that nobody caught; they end with 1 then, which would
# be a verdict.
_CRASHES = ("Traceback (most recent call last)", "    while executing\n")


def said(ran: Ran) -> Said:
    """What a program that ran has said of its target; never raises."""
    if ran.failure:
        return _fault(ran.failure)
    if ran.timed_out:
        return _of("task_timeout", f"ended after {ran.seconds:.0f} s")
    found = _answer(ran)
    if ran.refused and found.state not in _GOOD:
        return _of("task_refused", ran.refused)
    return found


def _answer(ran: Ran) -> Said:
    """By its line if there is one, else by its exit code alone."""
    if ran.code not in (0, 1):
        return _fault(_ending(ran))
    line = _last_line(ran.output)
    if ran.code == 1 and any(mark in ran.errors for mark in _CRASHES):
        return _fault(f"it crashed: {_last_line(ran.errors)}")
    try:
        found = _json(line) or _list(line) or _spread(ran.output.rstrip())
    except (ValueError, msgspec.MsgspecError, RecursionError) as error:
        return _fault(f"its answer cannot be read: {error}")
    if found is not None:
        return found
    words = line or _last_line(ran.errors)
    return _made("ok" if ran.code == 0 else "broken", "", words, "")


def _json(line: str) -> Said | None:
    """A line of JSON with a status in it; None if it is something else.

    Raises:
        ValueError, MsgspecError: it was meant to be one.
    """
    is_whole = line.startswith("{") and line.endswith("}")
    if '"status"' not in line or not (is_whole or line.startswith('{"')):
        return None
    row = msgspec.json.decode(line, type=dict[str, object])
    status = row.get("status")
    if status not in _STATES:
        raise ValueError(f"it has no status {_text(status)!r}")
    texts = [_text(row.get(name)) for name in ("code", "message", "data")]
    return _made(str(status), *texts)


def _list(line: str) -> Said | None:
    """The seed's line: a status, then code, data, words and a moment, as a Tcl list.

    Raises:
        ValueError: it was meant to be one.
    """
    status = line.partition(" ")[0]
    if status not in _SEED:
        return None
    parts = tcl.elements(line)
    if len(parts) == 1:
        return _made(status, "", "", "")
    if len(parts) < 5:
        if status == "ok" and "{" not in line:
            return None  # "ok, all is well": the exit code tells
        raise ValueError(f"{len(parts)} parts, where there are 5")
    _, code, second, third, *_ = parts
    words, data = (second, third) if status == "warning" else (third, second)
    return _made(status, code, words, data)


def _spread(text: str) -> Said | None:
    """An answer over several lines: JSON with indents, or a list with open braces.

    Raises:
        ValueError, MsgspecError: it was meant to be one.
    """
    if text.endswith("\n}"):
        return _json(text[text.rfind("\n{") + 1 :])
    *_, start = (0, *(found.start() for found in _BEGINNING.finditer(text)))
    line, _, more = text[start:].partition("\n")
    if not more or "{" not in line or not _BEGINNING.match(line):
        return None
    try:
        tcl.elements(line)
    except ValueError:
        return _list(text[start:])
    return None


def _made(status: str, code: str, words: str, data: str) -> Said:
    state, default = _STATES[status]
    if state is None:
        return Said(None)
    reason = _reason(code) or default
    if status == "error":
        state = _own_state(reason)
    message = _line(words) or REASONS[default].words
    return Said(state, reason, message, _clean(data)[:DATA])


def _reason(code: str) -> str:
    """A program's own code as a reason; "" if nothing can be made of it."""
    text = _ODD.sub("_", code.strip().lower()).strip("_")[:64]
    return text if _CODE.fullmatch(text) else ""


def _own_state(reason: str) -> State:
    """The state of an error: that of a reason of ours, if it is one; else broken."""
    known = REASONS.get(reason)
    status = _STATUS.fullmatch(reason)
    if known is not None:
        state = known.state
    else:
        state = http_verdict(int(status[1])).state if status else State.BROKEN
    return State.BROKEN if state in _GOOD else state


def _fault(words: str) -> Said:
    return _of("task_error", words)


def _of(code: str, words: str) -> Said:
    reason = REASONS[code]
    return Said(reason.state, code, _line(f"{reason.words}: {words}"))


def _ending(ran: Ran) -> str:
    if ran.code is None:
        try:
            name = Signals(ran.signal).name
        except ValueError:
            name = f"signal {ran.signal}"
        words = f"killed by {name}"
    else:
        words = f"exit code {ran.code}"
    last = _last_line(ran.errors)
    return f"{words}: {last}" if last else words


# -- who it is ---------------------------------------------------------------------


def identified(ran: Ran) -> Identity:
    """Who a program is that was asked to identify itself.

    Raises:
        ValueError: it cannot be used; why.
    """
    if ran.failure:
        raise ValueError(ran.failure)
    if ran.timed_out:
        raise ValueError("asked to identify itself, it did not end in time")
    if ran.code != 0:
        raise ValueError(f"asked to identify itself, it ended with {_ending(ran)}")
    line = _last_line(ran.output)
    found = _identity(line)
    if not _CODE.fullmatch(found.name):
        raise ValueError(
            f"asked to identify itself, it said {_line(line)[:80]!r}; expected is "
            "{name} {description}, the name of a-z, 0-9 and _"
        )
    return found


def _identity(line: str) -> Identity:
    try:
        if line.startswith('{"') or line == "{}":
            found = msgspec.json.decode(line, type=Identity)
        else:
            name, description = tcl.elements(line)
            found = Identity(name, description)
    except (ValueError, msgspec.MsgspecError, RecursionError):
        return Identity("")
    if found.timeout is not None and not 0 < found.timeout < 86_400:
        raise ValueError(f"it wants {found.timeout:g} s, which is no time limit")
    return Identity(
        found.name,
        _line(found.description),
        tuple(map(_line, found.kinds)),
        found.timeout,
    )


# -- texts -------------------------------------------------------------------------


def evidence(ran: Ran) -> str:
    """The end of what a program wrote, both ways."""
    half = EVIDENCE // 2 - 20
    parts = ((ran.output, "standard output"), (ran.errors, "standard error"))
    texts = [(_clean(text[-EVIDENCE:]).strip(), name) for text, name in parts]
    return "\n".join(f"[{name}]\n{_end(text, half)}" for text, name in texts if text)


def _end(text: str, length: int) -> str:
    return text if len(text) <= length else "…" + text[1 - length :]


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2].strip()


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _line(text: str) -> str:
    words = " ".join(_clean(text[: 4 * LONGEST]).split())
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def _clean(text: str) -> str:
    return _UNSEEN.sub("", text.replace("\r\n", "\n"))
