"""A book of results that also tells when each of them came."""

from collections.abc import Callable
from typing import Any

from ronda.model import Answer, Result, Verdict, Visit
from ronda.workers.book import Book


class Diary(Book):
    """Tells somebody of every verdict, good ones too, and keeps no more for that."""

    def __init__(
        self, *given: Any, watch: Callable[[Visit], None], **more: Any
    ) -> None:
        super().__init__(*given, **more)
        self._watch = watch

    def record(
        self,
        visit: Visit,
        found: Verdict,
        answer: Answer,
        digest: str = "",
        kind: str = "",
    ) -> Result | None:
        """Count a verdict, and tell of it."""
        self._watch(visit)
        return super().record(visit, found, answer, digest, kind)
