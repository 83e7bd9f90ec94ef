"""What a format is to this room: a row of the registry, and the words readers share."""

import re
from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct

from ronda import config, urls
from ronda.model import Link, Place, Problem

TEXT_LENGTH = 120  # characters of a link's words that are kept

# What people write for a URL: its scheme with a slip, a host or more, a mail address.
_SLIP = re.compile(r"(https?|ftps?|sftp)[;:]?/+([\w\[].*)", re.IGNORECASE)
_HOST = re.compile(r"/*([\w\-.]+(:\d+)?([/?#]\S*)?)")
_MAIL = re.compile(r"[^\s@:/]+@[\w\-.]+")


class Readable(Protocol):
    """What a reader needs of a stream; every open binary file has it."""

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes; empty at the end."""


class Read(Protocol):
    """Takes a document apart into what it refers to."""

    def __call__(
        self, stream: Readable, document: str, options: config.Check, /
    ) -> Iterator[Link | Problem]:
        """The references of a document, in its order."""


class Source(Struct, frozen=True):
    """A format that targets can come from."""

    name: str
    suffixes: tuple[str, ...]
    media_types: tuple[str, ...]
    read: Read
    is_list: bool  # its entries stand alone: they have no document to be relative to
    is_text: bool = True  # it has a charset, and no NUL bytes


class Index(Link, frozen=True, gc=False):
    """A link to a document that is read as well: an entry of a sitemap index."""


def folded(text: str) -> str:
    """The words of a link on one line, cut to what a report can show."""
    if "://" in text:  # before it is cut: half a password is no longer seen as one
        text = urls.without_credentials(text)
    elif len(text) <= TEXT_LENGTH and text.isprintable() and "  " not in text:
        return text.strip()  # nearly all
    words = " ".join(text[: TEXT_LENGTH * 10].split())
    return words if len(words) <= TEXT_LENGTH else words[: TEXT_LENGTH - 1] + "…"


def not_a_url(entry: str, place: Place) -> Problem:
    """The problem of a list's entry that has no scheme."""
    name = urls.shown(entry, TEXT_LENGTH)
    return Problem(place, f"'{name}' is not a URL; {_advice(name)}")


def _advice(name: str) -> str:
    """Three cases that can be told what was meant, and what cannot."""
    if slip := _SLIP.fullmatch(name):
        return f"write it as {slip[1].lower()}://{slip[2]}"
    if host := _HOST.fullmatch(name):
        return f"write it with its scheme, as https://{host[1]}"
    if _MAIL.fullmatch(name):
        return f"write it with its scheme, as mailto:{name}"
    return "write it whole, as https://example.org/page"
