"""Saves answers: into a folder to be read offline, into a WARC file, or both."""

from collections.abc import Callable, Iterable
from typing import Protocol

from ronda.clock import Clock
from ronda.model import Answer, Request, Visit
from ronda.threads import in_thread


class Mirror(Protocol):
    """A folder of pages."""

    def __contains__(self, url: str) -> bool:
        """Whether a URL leads to a file."""

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

    @property
    def appends(self) -> bool:
        """Whether it held some before, of which an unchanged page may be one."""

    def add(self, request: Request, answer: Answer, at: float) -> None:
        """Write both."""


class Keeping:
    """Called by one worker at a time, so that files need no locks."""

    def __init__(
        self,
        mirror: Mirror | None,
        archive: Archive | None,
        media_type: Callable[[str, str], str],
        clock: Clock,
    ) -> None:
        self._mirror = mirror
        self._archive = archive
        self._media_type = media_type  # by the name, where the server does not know
        self._now = clock.now
        self._epoch = clock.epoch() - clock.now()

    def has(self, url: str) -> bool:
        """Whether what was saved before is there, so that it need not come again."""
        if self._mirror is not None and url not in self._mirror:
            return False
        return self._archive is None or self._archive.appends

    async def __call__(self, visit: Visit, answer: Answer) -> None:
        """Save an answer, in a thread."""
        await in_thread(lambda: self._save(visit, answer))

    def _save(self, visit: Visit, answer: Answer) -> None:
        if self._archive is not None:
            at = self._epoch + (answer.sent_at or self._now())
            self._archive.add(visit.request, answer, at)
        # What was cut is no page, and an unchanged one is there already.
        whole = answer.status == 200 and not answer.cut and not answer.error
        if self._mirror is None or not whole:
            return
        url, header = visit.request.url, answer.header("content-type")
        self._mirror.save(
            url,
            self._media_type(url, header) or _sniffed(answer.body),
            answer.body,
            [hop.url for hop in visit.hops],
            _charset(header),
        )


def _sniffed(body: bytes) -> str:
    return "text/html" if body[:256].lstrip()[:1] == b"<" else ""


def _charset(content_type: str) -> str:
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'")
    return ""
