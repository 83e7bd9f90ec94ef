"""What a crawl with `--db` remembers: to go on after a kill, and for the next round.

The rule for the caller: queue everything that belongs to one page (its result, its
links, the targets that are new), then `commit`. One commit is one transaction, so no
page is ever done whose links are lost. What was not committed has not happened, and
questions are answered as of the last commit.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
from msgspec import Struct
from msgspec.structs import astuple, replace

from ronda.model import Found, Result, Target
from ronda.store.crawlfile import CrawlFile
from ronda.store.packing import Packing, pack_links, unpack_links
from ronda.store.seen import Seen

_TARGETS, _RESULTS = Packing(Target), Packing(Result)
_PAGE = """
    INSERT INTO page (url, etag, since, digest, media_type, size, links)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (url) DO UPDATE SET etag = excluded.etag,
    since = excluded.since, digest = excluded.digest, size = excluded.size,
    media_type = excluded.media_type, links = excluded.links
"""


DAY = 86_400.0  # seconds after which it does not matter when a host was asked


class Round(Struct, frozen=True):
    """A crawl from its seeds to its end, in as many processes as it takes."""

    started_at: float  # epoch seconds
    seeds: tuple[str, ...]
    finished: bool = False
    shape: str = f"{_TARGETS.shape} {_RESULTS.shape}"  # of what is stored


class Known(Struct, frozen=True):
    """What is known of a page from the last time it was read."""

    etag: str = ""
    since: str = ""  # its Last-Modified, as its server wrote it
    digest: str = ""
    media_type: str = ""
    size: int = 0

    @property
    def is_sitemap(self) -> bool:
        """Whether its links are entries of a sitemap, not of a page."""
        return "xml" in self.media_type and "html" not in self.media_type


class CrawlStore:
    """The round under way, and the memory of pages and robots.txt over rounds."""

    def __init__(self, path: Path, wall: Callable[[], float] = time.time) -> None:
        self._file = CrawlFile(path)
        self.shelf = RobotsShelf(self._file, wall)
        self.round: Round | None = None
        for [data] in self._file.rows("SELECT value FROM meta WHERE key = 'round'"):
            with self._file.in_one_line():
                self.round = msgspec.json.decode(data, type=Round)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    # -- the round -------------------------------------------------------------

    def resumable(self, seeds: Iterable[str]) -> bool:
        """Whether a round from these seeds has not ended, and can be read."""
        found = self.round
        if found is None or found.finished or set(found.seeds) != set(seeds):
            return False
        return found.shape == Round(0.0, ()).shape

    def begin_round(self, seeds: Iterable[str], now: float) -> None:
        """Forget the last round, but not its pages, nor whom it asked lately."""
        for table in ("visit", "result", "reading", "robots", "meta"):
            self._file.queue(f"DELETE FROM {table}")  # noqa: S608  # our own
        self._file.queue("DELETE FROM host WHERE next_at <= ?", now - DAY)
        self._keep(Round(now, tuple(seeds)))

    def end_round(self) -> None:
        """Say that nothing is left to do."""
        if self.round is not None:
            self._keep(replace(self.round, finished=True))

    def remember(self, key: str, values: dict[str, int]) -> None:
        """Keep some numbers of the round."""
        data = msgspec.json.encode(values)
        self._file.queue("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, data)

    def recall(self, key: str) -> dict[str, int]:
        """Numbers of the round that were kept."""
        for [data] in self._file.rows("SELECT value FROM meta WHERE key = ?", key):
            return msgspec.json.decode(data, type=dict[str, int])
        return {}

    def _keep(self, found: Round) -> None:
        data = msgspec.json.encode(found)
        self._file.queue("INSERT OR REPLACE INTO meta VALUES ('round', ?)", data)
        self._file.commit()
        self.round = found

    # -- what happens in it ----------------------------------------------------

    def added(self, target: Target) -> None:
        """A URL was found, for the first time, and is to be visited."""
        data = _TARGETS.pack(target)
        self._file.queue("INSERT INTO visit (target) VALUES (?)", data)

    def ended(self, result: Result) -> None:
        """A visit has its verdict; or one of several, for the fragments of its URL."""
        data = _RESULTS.pack(result)
        self._file.queue("INSERT INTO result (result) VALUES (?)", data)

    def page(self, url: str, known: Known, links: Iterable[Found]) -> None:
        """A page was read."""
        self._file.queue(_PAGE, url, *astuple(known), pack_links(url, links))
        self.unchanged(url)

    def unchanged(self, url: str) -> None:
        """A page is as it was known, and so are its links."""
        sql = "INSERT INTO reading (page) SELECT id FROM page WHERE url = ?"
        self._file.queue(sql, url)

    def host(self, name: str, next_at: float, gap: float) -> None:
        """A host may be asked again from a moment (epoch seconds) on."""
        sql = "INSERT OR REPLACE INTO host VALUES (?, ?, ?)"
        self._file.queue(sql, name, next_at, gap)

    def commit(self) -> None:
        """Make all of that last: all of it, or nothing."""
        self._file.commit()

    # -- what is known ---------------------------------------------------------

    def known(self, url: str) -> Known | None:
        """What a page was when it was read last, in this round or before."""
        sql = "SELECT etag, since, digest, media_type, size FROM page WHERE url = ?"
        return next((Known(*row) for row in self._file.rows(sql, url)), None)

    def links(self, url: str) -> list[Found]:
        """The links of a page when it was read last."""
        rows = self._file.rows("SELECT links FROM page WHERE url = ?", url)
        with self._file.in_one_line():
            return [link for [data] in rows for link in unpack_links(url, data)]

    def hosts(self) -> dict[str, tuple[float, float]]:
        """When each host may be asked again, and its gap."""
        rows = self._file.rows("SELECT name, next_at, gap FROM host")
        return {name: (next_at, gap) for name, next_at, gap in rows}

    def visits(self) -> Iterator[tuple[Target, bool]]:
        """The targets in the order they were found, and whether they have a verdict."""
        done = Seen()
        for result in self.results():
            done.add(result.url.partition("#")[0])
        for target in self._file.walk("visit", "target", _TARGETS.unpack):
            yield target, target.url in done

    def unfinished(self) -> Iterator[Target]:
        """The targets without a verdict; more may be added and ended meanwhile."""
        return (target for target, done in self.visits() if not done)

    def results(self) -> Iterator[Result]:
        """The results in the order they came."""
        return self._file.walk("result", "result", _RESULTS.unpack)

    def pages_of_round(self) -> Iterator[tuple[str, list[Found]]]:
        """The pages that were read or found unchanged, in order, with their links."""

        def read(url: str, data: bytes) -> tuple[str, list[Found]]:
            return url, unpack_links(url, data)

        return self._file.walk("reading", "url, links", read, "JOIN page ON id = page")


class RobotsShelf:
    """The robots.txt files that outlive a round."""

    def __init__(self, file: CrawlFile, wall: Callable[[], float]) -> None:
        self._file = file
        self._wall = wall  # epoch seconds: the age counts over rounds

    def get(self, authority: str) -> tuple[bytes, float] | None:
        """The file of an authority, and how many seconds ago it was put there."""
        sql = "SELECT body, at FROM robots WHERE authority = ?"
        for body, at in self._file.rows(sql, authority):
            age = self._wall() - at
            if age >= 0:  # one from the future was put there before the clock was set
                return body, age
        return None

    def put(self, authority: str, body: bytes) -> None:
        """Keep a file, from the next commit on."""
        sql = "INSERT OR REPLACE INTO robots VALUES (?, ?, ?)"
        self._file.queue(sql, authority, body, self._wall())
