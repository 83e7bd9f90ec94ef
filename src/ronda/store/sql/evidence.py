"""The evidence of a result as bytes: only what no column beside it says already.

Millions of them lie on disk, so what few of them have stands at the end, and is left
out of the others: some 45 bytes for an answer that is fine, against 300 for a Result.
"""

import msgspec
from msgspec import Struct

from ronda.model import Certificate, Hop, Result, State, TaskResult, Timings
from ronda.store.sql.texts import packed

TICK = 100_000  # moments are kept in ticks, so many a second


class _Task(Struct, frozen=True, gc=False, array_like=True):
    """What a task found, without names; a new field goes to the end."""

    task: str
    state: State
    reason: str
    message: str
    ticks: int = 0
    data: str = ""
    output: str = ""


class _Evidence(Struct, frozen=True, gc=False, array_like=True):
    """A new field goes to the end, and has a default."""

    status: int = 0
    timings: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)  # ticks
    address: str = ""
    media_type: str = ""
    bytes: int = 0
    attempts: int = 1
    hops: tuple[Hop, ...] = ()
    directives: tuple[str, ...] = ()
    certificate: Certificate | None = None
    digest: str = ""
    depth: int = 0
    trace: str = ""
    tasks: tuple[_Task, ...] = ()


_FEW = 6  # fields that nearly all have
_REST = ((), (), None, "", 0, "", ())  # what the others are in nearly all
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Evidence).decode


def pack(result: Result) -> bytes:
    """What a result rests on."""
    of = result.timings
    timings = (
        # +0.5: rounded, for less than round() takes.
        int(of.name * TICK + 0.5),
        int(of.connect * TICK + 0.5),
        int(of.tls * TICK + 0.5),
        int(of.first_byte * TICK + 0.5),
        int(of.total * TICK + 0.5),
    )
    row = (
        result.status,
        timings,
        result.address,
        result.media_type,
        result.bytes,
        result.attempts,
        result.hops,
        result.directives,
        result.certificate,
        result.digest,
        result.depth,
        result.evidence,
        tuple(map(_packed_task, result.tasks)) if result.tasks else (),
    )
    return packed(_encode, row[:_FEW] if row[_FEW:] == _REST else row)


def _packed_task(of: TaskResult) -> tuple[object, ...]:
    row = (of.task, of.state, of.reason, of.message, int(of.seconds * TICK + 0.5))
    return (*row, of.data, of.output) if of.data or of.output else row


def _task(of: _Task) -> TaskResult:
    words = (of.task, of.state, of.reason, of.message)
    return TaskResult(*words, of.ticks / TICK, of.data, of.output)


def unpack(
    data: bytes, *, url: str, state: State, reason: str, message: str, task: str = ""
) -> Result:
    """The result of which that is the evidence; its moment is the caller's to tell.

    Args:
        data: the evidence.
        url: of the target.
        state: what the check found.
        reason: why.
        message: in words.
        task: of a plan: the one that the verdict is of.
    """
    found = _decode(data)
    return Result(
        url=url,
        verdict=state,
        reason=reason,
        message=message,
        hops=found.hops,
        status=found.status,
        address=found.address,
        timings=Timings(*(ticks / TICK for ticks in found.timings)),
        bytes=found.bytes,
        certificate=found.certificate,
        attempts=found.attempts,
        directives=found.directives,
        depth=found.depth,
        media_type=found.media_type,
        digest=found.digest,
        evidence=found.trace,
        task=task,
        tasks=tuple(map(_task, found.tasks)),
    )
