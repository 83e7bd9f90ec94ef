"""Saves answers: into a folder to be read offline, into a WARC file, or both."""

from collections.abc import Iterable
from typing import Protocol

from ronda.clock import Clock
from ronda.model import Answer, Request, Visit
from ronda.threads import in_thread


class Mirror(Protocol):
    """A folder of pages."""

    def save(
        self,
        url: str,
        media_type: str,
        body: bytes,
        redirected_from: Iterable[str] = (),
        charset: str = "",
    ) -> str:
        """Write a body to its place."""


class Archive(Protocol):
    """A file of requests and answers."""

    def add(self, request: Request, answer: Answer, at: float) -> None:
        """Write both."""


class Keeping:
    """Called by one worker at a time, so that files need no locks."""

    def __init__(
        self, mirror: Mirror | None, archive: Archive | None, clock: Clock
    ) -> None:
        self._mirror = mirror
        self._archive = archive
        self._epoch = clock.epoch() - clock.now()

    async def __call__(self, visit: Visit, answer: Answer) -> None:
        """Save an answer, in a thread."""
        await in_thread(lambda: self._save(visit, answer))

    def _save(self, visit: Visit, answer: Answer) -> None:
        if self._archive is not None:
            at = self._epoch + (answer.sent_at or 0.0)
            self._archive.add(visit.request, answer, at)
        # What was cut is no page, and an unchanged one is there already.
        if self._mirror is None or answer.status != 200 or answer.cut:
            return
        kind, _, rest = answer.header("content-type").partition(";")
        self._mirror.save(
            visit.request.url,
            kind.strip().lower(),
            answer.body,
            [hop.url for hop in visit.hops],
            _charset(rest),
        )


def _charset(parameters: str) -> str:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'")
    return ""
