"""A reference as a document writes it, to the URL it stands for."""

from msgspec import Struct

from ronda import config, urls
from ronda.errors import UrlError
from ronda.model import Found, Link, Problem
from ronda.targets.source import Index, not_a_url
from ronda.targets.textlist import is_absolute

# What is no document: carried in the page itself, or understood by its scripts alone.
_OWN = frozenset({"javascript", "data", "about", "blob"})
_WEB = ("https://", "http://")


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
    reference = link.url
    try:
        if reference.startswith(_WEB):  # nearly all: no other case can be meant
            url = urls.normalise(reference)
        elif not reference.strip():
            return None
        elif reference.startswith("#"):
            return _within(link, document, check)
        elif document.is_list and not check.base_url and not is_absolute(reference):
            return not_a_url(reference, link.place)
        else:
            url = _joined(reference, link.base, document, check)
    except UrlError as error:
        return Problem(link.place, str(error))
    if urls.scheme(url) in _OWN:
        return None
    return Found(url, link.place, isinstance(link, Index))


def _within(link: Link, document: Document, check: config.Check) -> Found | None:
    """A fragment alone: the document itself, wherever its <base> points."""
    is_file = not document.url.endswith("/") or not document.is_local
    if not check.fragments or len(link.url) == 1 or not is_file:
        return None
    return Found(urls.join(document.url, link.url), link.place)


def _joined(reference: str, base: str, document: Document, check: config.Check) -> str:
    """A reference seen from its base: <base>, the settings', the document's own."""
    if base:
        return urls.join(_joined(base, "", document, check), reference)
    if check.base_url and document.is_local:
        return urls.join(check.base_url, reference)
    if not document.is_local or urls.is_absolute(reference):
        return urls.join(document.url, reference)
    if reference.startswith("//"):
        return urls.normalise(f"https:{reference}")
    if reference.startswith("/"):
        return urls.join(document.root or document.url, f"./{reference.lstrip('/')}")
    return urls.join(document.url, reference)
