"""What a URL or a host waits for, in words of the frontier and of the gate."""

from ronda import urls
from ronda.errors import UrlError
from ronda.frontier import Frontier, Wait
from ronda.probes import SCHEMES, Handlers
from ronda.workers.book import Book
from ronda.workers.gate import Gate


class Why:
    """Looks into the parts of a run, and changes nothing."""

    def __init__(
        self, frontier: Frontier, gate: Gate | None, book: Book, handlers: Handlers
    ) -> None:
        self._frontier = frontier
        self._gate = gate
        self._book = book
        self._handlers = handlers

    def __call__(self, text: str, now: float) -> list[Wait]:
        """Its robots.txt, a rule of politeness, or nothing any more."""
        host, url = self._named(text)
        if url:
            return self._of_url(host, url, now) if url in self._book else []
        return self._of_host(host, now)

    def _of_host(self, host: str, now: float) -> list[Wait]:
        pending = self._gate.pending(host) if self._gate is not None else 0
        waits = [Wait(host, "robots", queued=pending)] if pending else []
        found = self._frontier.why(host, now)
        return waits if found is None else [*waits, found]

    def _of_url(self, host: str, url: str, now: float) -> list[Wait]:
        """Three cases: it waits at the gate, is with the frontier, or has ended."""
        if self._gate is not None and (kept := self._gate.keeper(url)):
            return [Wait(kept, "robots", queued=self._gate.pending(kept))]
        return [self._frontier.whereabouts(url, now) or Wait(host, "done")]

    def _named(self, text: str) -> tuple[str, str]:
        """The politeness key that a text stands for, and the URL, if it is one."""
        # "localhost:8000" looks like a URL of a scheme, but nobody means that.
        if "://" in text or text.partition(":")[0].lower() in SCHEMES:
            try:
                url = urls.split_fragment(urls.normalise(text))[0]
                return self._handlers.of(url).classify(url), url
            except UrlError:
                return text, ""
        try:
            return urls.host_key(urls.normalise(f"http://{text}/")), ""
        except UrlError:
            return text, ""
