"""A mirror of what was crawled: saved as it comes, its links rewritten at the end."""

import functools
import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self
from urllib.parse import quote

from ronda import urls
from ronda.store.mirror import names
from ronda.store.mirror.disk import OWN, Disk
from ronda.store.mirror.index import Index, Saved

_REMEMBERED = 20_000  # URLs whose files are known without asking the index again
_SAFE = "/~@=+!$&"  # in a link, in a style and in a srcset
# A link in a rewritten document is free of these; the URL it names need not be.
_BARE = (("%27", "'"), ("%28", "("), ("%29", ")"))


class Rewrite(Protocol):
    """Gives a document other links; without a URL, its relative ones stay."""

    def __call__(
        self,
        body: bytes,
        media_type: str,
        charset: str,
        url: str,
        to: Callable[[str], str],
        /,
    ) -> bytes:
        """The document, each absolute link being what `to` makes of it."""


class Mirror:
    """Files by host and path, and an index of them that outlives the run.

    Called by one thread at a time, whichever: nothing is locked. A disk that is full,
    read-only or gone is an OSError, and so is another run on the same folder.
    """

    def __init__(self, folder: Path, rewrite: Rewrite) -> None:
        self._rewrite = rewrite
        self._disk = Disk(folder)
        try:
            self._index = Index(folder / OWN / "index.sqlite")
        except OSError:
            self._disk.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __contains__(self, url: str) -> bool:
        """Whether a URL leads to a file, so that a 304 is answer enough."""
        path = self._index.path_of(_asked(url))
        return path is not None and self._disk.has(path)

    def save(
        self,
        url: str,
        media_type: str,
        body: bytes,
        redirected_from: Iterable[str] = (),
        charset: str = "",
    ) -> str:
        """Write a body to its place, which is returned; what was there is replaced.

        Args:
            url: where the body is from at last, normalised.
            media_type: what it is, without parameters.
            body: what came, unpacked from its Content-Encoding.
            redirected_from: the URLs that led to it, normalised.
            charset: as its header named it.
        """
        url = _asked(url)
        path = self._place(url, media_type)
        # Noted first: a file that nobody knows to be as it came would be taken for
        # one whose links are rewritten. One that is noted but missing is forgotten.
        saved = Saved(url, path, media_type, charset)
        self._index.record(saved, _digest(path, body), map(_asked, redirected_from))
        self._disk.write(path, body)
        return path

    def _place(self, url: str, media_type: str) -> str:
        wanted = names.plain(url, media_type)
        known = self._index.of(url)
        if known and names.plain(url, known.media_type) == wanted:
            return known.path
        if known:  # what was a page is something else now
            self._disk.remove(known.path)
            self._index.forget(known)
        return self._index.place(wanted, url)

    def finish(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Rewrite the links: to what is saved as relative paths, to the rest as URLs.

        May be broken off and repeated at any time.

        Args:
            progress: called with the files done and all files; what it raises ends
                the work.
        """
        if self._index.is_settled:
            return
        for saved in self._index.files():
            if not self._disk.has(saved.path):  # killed before it was written
                self._index.forget(saved)
        total = len(self._index)
        find = functools.lru_cache(_REMEMBERED)(self._index.path_of)
        for number, saved in enumerate(self._index.files(), 1):
            if saved.media_type in names.ENDINGS:
                self._rewrite_links(saved, functools.partial(_link, find, saved.path))
            if progress:
                progress(number, total)
        self._index.settle()

    def _rewrite_links(self, saved: Saved, to: Callable[[str], str]) -> None:
        body = self._disk.read(saved.path)
        # One that was rewritten before may link to what has only been saved since; its
        # relative links are right, and are not to be taken for those of its URL.
        is_original = self._index.is_original(_digest(saved.path, body))
        charset, url = (saved.charset, saved.url) if is_original else ("utf-8", "")
        new = self._rewrite(body, saved.media_type, charset, url, to)
        if new != body:
            self._disk.write(saved.path, new)

    def close(self) -> None:
        """Let go of the folder."""
        self._index.close()
        self._disk.close()


def _asked(url: str) -> str:
    return urls.without_credentials(urls.split_fragment(url)[0])


def _digest(path: str, body: bytes) -> bytes:
    """Of a file in its place: two pages may be the same, but for their links."""
    salt = hashlib.blake2b(path.encode(), digest_size=16).digest()
    return hashlib.blake2b(body, digest_size=16, key=salt).digest()


def _link(find: Callable[[str], str | None], path: str, url: str) -> str:
    """A link from a file to a URL: the relative path of its file, or the URL itself."""
    page, sign, fragment = url.partition("#")
    page = urls.without_credentials(page)
    target = find(page)
    if target is None and "%2" in page:
        target = find(functools.reduce(lambda u, pair: u.replace(*pair), _BARE, page))
    if target is None:
        return url
    return quote(_relative(path, target), _SAFE) + sign + fragment


def _relative(path: str, target: str) -> str:
    """One path as seen from another; posixpath's takes ten times as long."""
    *here, _ = path.split("/")
    there = target.split("/")
    same = 0
    while same < len(here) and same < len(there) - 1 and here[same] == there[same]:
        same += 1
    return "/".join([".."] * (len(here) - same) + there[same:])
