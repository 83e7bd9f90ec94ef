"""A reference as a document writes it, to the URL it stands for."""

import re
from functools import lru_cache

from msgspec import Struct

from ronda import config, urls
from ronda.errors import UrlError
from ronda.model import Found, Link, Problem
from ronda.targets.source import Index, not_a_url
from ronda.targets.textlist import is_absolute

# What is no document: carried in the page itself, or understood by its scripts alone.
_OWN = frozenset({"javascript", "data", "about", "blob"})
_WEB = ("https://", "http://")
# References to a path, without escapes, that need only be put behind the beginning of
# their base. Most are, and to see it costs a fifth of parsing them. A test holds it
# against the parser.
_is_plain = re.compile(
    r"(?:/(?!/)[A-Za-z0-9_\-~!$&'()*+,;=@:./]*|[A-Za-z0-9_][A-Za-z0-9_\-~!$&'()*+,;=@./]*)"
    r"(?:\?[A-Za-z0-9_\-~!$&()*+,;=@:./?]*)?"
    r"(?:#[A-Za-z0-9_\-~!$&'()*+,;=@:./?]*)?"
).fullmatch
_UP = "../"
_UPWARDS = "/."  # a step upwards, or a name that begins with a dot


class Document(Struct, frozen=True):
    """What references are seen from."""

    url: str  # its own URL, file: or of the network; of a folder for standard input
    root: str = ""  # the URL of the folder that /path means, for a local document
    is_list: bool = False

    @property
    def is_local(self) -> bool:
        """Whether it came from this machine, and may name its files."""
        return self.url.startswith("file:")


def resolve(
    link: Link, document: Document, check: config.Check
) -> Found | Problem | None:
    """What a link points at; None for what is not to be checked."""
    reference, up = link.url, link.url[:3] == _UP
    plain = reference[3:] if up else reference
    if _is_plain(plain) and _UPWARDS not in plain and not (up and plain[0] == "/"):
        base = link.base and _based(link.base, document, check.base_url)
        origin, folder, parent = _near(base or document.url)
        if origin and len(reference) <= urls.LONGEST:  # nearly all of a page
            near = parent if up else origin if plain[0] == "/" else folder
            kind = isinstance(link, Index)
            return Found(near + plain, link.place, kind, False, link.rel)
    try:
        return _resolved(link, document, check)
    except UrlError as error:
        return Problem(link.place, str(error))


def _resolved(
    link: Link, document: Document, check: config.Check
) -> Found | Problem | None:
    reference = link.url
    written = ""
    if reference.startswith(_WEB):  # nearly all of a list: no other case can be meant
        url = urls.normalise(reference)
        written = reference if url != reference else ""
    elif not reference.strip():
        return None
    elif reference.startswith("#"):
        return _within(link, document, check)
    elif document.is_list and not check.base_url and not is_absolute(reference):
        return not_a_url(reference, link.place)
    else:
        url = _joined(reference, link.base, document, check.base_url)
        if urls.scheme(url) in _OWN:
            return None
        written = reference if url != reference and is_absolute(reference) else ""
    return Found(url, link.place, isinstance(link, Index), False, link.rel, written)


@lru_cache(maxsize=64)
def _near(base: str) -> tuple[str, str, str]:
    """The origin of a base of the web, its folder, and the folder above it.

    Empty of any other base.
    """
    if not base.startswith(_WEB):
        return "", "", ""
    path = base.partition("#")[0].partition("?")[0]
    origin, folder = "/".join(path.split("/", 3)[:3]), path[: path.rindex("/") + 1]
    above = folder[: folder.rindex("/", 0, -1) + 1]
    return origin, folder, above if len(above) > len(origin) else folder


@lru_cache(maxsize=64)
def _based(base: str, document: Document, base_url: str) -> str:
    """What the <base> of a document stands for; one that is no URL is ignored."""
    try:
        url = _joined(base, "", document, base_url)
    except UrlError:
        return document.url
    return document.url if urls.scheme(url) in _OWN else url


def _within(link: Link, document: Document, check: config.Check) -> Found | None:
    """A fragment alone: the document itself, wherever its <base> points."""
    is_file = not document.url.endswith("/") or not document.is_local
    if not check.fragments or len(link.url) == 1 or not is_file:
        return None
    return Found(urls.join(document.url, link.url), link.place, rel=link.rel)


def _joined(reference: str, base: str, document: Document, base_url: str) -> str:
    """A reference seen from its base: <base>, the settings', the document's own."""
    if base:
        return urls.join(_based(base, document, base_url), reference)
    if base_url and document.is_local:
        return urls.join(base_url, reference)
    if not document.is_local or urls.is_absolute(reference):
        return urls.join(document.url, reference)
    if reference.startswith("//"):
        return urls.normalise(f"https:{reference}")
    if reference.startswith("/"):
        return urls.join(document.root or document.url, f"./{reference.lstrip('/')}")
    return urls.join(document.url, reference)
