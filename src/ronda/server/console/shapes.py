"""The values of the daemon in the fields that clients of the protocol know."""

from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from ronda import urls
from ronda.model import State
from ronda.server.console.monitor import (
    Event,
    RoundLine,
    Rounds,
    ServiceLine,
    TaskLine,
    TaskState,
    VisitLine,
)

# Such a client knows three words for what a task has found.
_STATUSES: dict[State, str] = {State.OK: "ok", State.WARNING: "warning"}


def plain(value: Struct) -> dict[str, Any]:
    """A value whose fields have the names of the protocol already."""
    return asdict(value)


def counted(number: int, one: str, many: str = "") -> str:
    """How many: `1 task`, `2 tasks`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def span(seconds: float) -> str:
    """How long: `0:07`, `12:30`, `1:00:05`."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def iso(at: float) -> str | None:
    """A moment for programs; None: never."""
    if not at:
        return None
    text = datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
    return text.replace("+00:00", "Z")


def stamp(at: float) -> str:
    """A moment for people."""
    return (iso(at) or "-").replace("T", " ").rstrip("Z")


def figure(value: Any) -> str:
    """A figure for people."""
    match value:
        case bool() | None:
            return str(value)
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.2f}"
        case _:
            return str(value)


# -- 106, 114 ------------------------------------------------------------------------


def rounds(found: Rounds) -> dict[str, Any]:
    """The fields of 106."""
    return {
        "status": "running" if found.queued or found.pending else "idle",
        "threads": {"running": found.running, "idle": found.idle},
        "pending": [_round(line) for line in found.pending],
        "queued": [_round(line) for line in found.queued],
    }


def _round(line: RoundLine) -> dict[str, Any]:
    return {
        "sequence": line.id,
        "description": line.description,
        "active_jobs": line.active,
        "completed_jobs": line.completed,
        "total_jobs_number": line.total,
        "starter": line.starter,
    }


def visit(line: VisitLine) -> dict[str, Any]:
    """A job of 114."""
    return {
        "gid": line.gid,
        "description": line.description,
        "type": line.type,
        "version": line.version,
        "status": line.task,
        "timestamp": iso(line.begun_at),
    }


# -- 110 -----------------------------------------------------------------------------


def task(line: TaskLine) -> dict[str, Any]:
    """A task of 110."""
    return {
        "task": line.task,
        "script": line.script,
        "function": line.function or line.task,
        "description": line.description,
        "procedure": line.procedure,
        "language": line.language,
    } | ({"fault": line.fault} if line.fault else {})


def described(line: TaskLine) -> str:
    """What a task is for, and why it cannot be used."""
    skipped = f"skipped: {line.fault}" if line.fault else ""
    return "; ".join(filter(None, (line.description, skipped)))


# -- 116, 118, events ------------------------------------------------------------------


def service(line: ServiceLine) -> dict[str, Any]:
    """A service of 116."""
    tasks = [
        {
            "task": one.task,
            "timestamp": iso(one.at),
            "status": _status(one.state),
            "state": one.state,
            "reason": one.reason,
            "info": info(one),
            "uuid": line.uuid,
        }
        for one in line.tasks
    ]
    return plain(line) | {"uri": urls.without_credentials(line.uri), "tasks": tasks}


def result(one: TaskState) -> dict[str, Any]:
    """A task of 118."""
    return {
        "task": one.task,
        "exit_status": _status(one.state),
        "exit_info": info(one),
        "ts": iso(one.at),
        "state": one.state,
        "reason": one.reason,
        "seconds": round(one.seconds, 3),
    }


def info(one: TaskState) -> str:
    """What it says to people."""
    return one.message or one.reason


def _status(state: State) -> str:
    return _STATUSES.get(state, "error")


def event(found: Event, dropped: int) -> dict[str, Any]:
    """An event of a subscription."""
    tasks = [
        {
            "task": one.task,
            "state": one.state,
            "reason": one.reason,
            "message": one.message,
            "seconds": round(one.seconds, 3),
        }
        for one in found.tasks
    ]
    return {
        "event": "result",
        "gid": found.gid,
        "url": urls.without_credentials(found.url),
        "state": found.state,
        "reason": found.reason,
        "at": iso(found.at),
        "tasks": tasks,
    } | ({"dropped": dropped} if dropped else {})


def event_line(found: Event, dropped: int) -> str:
    """An event for people."""
    missed = f" ({dropped:,} before it were missed)" if dropped else ""
    words = f"{found.state} {found.gid} {urls.without_credentials(found.url)}"
    return f"{words} {found.reason}: {found.message}{missed}"
