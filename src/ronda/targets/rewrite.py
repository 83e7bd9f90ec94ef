"""Documents with other links in them: for copies that are read where they are kept."""

import contextlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ronda import urls
from ronda.errors import UrlError
from ronda.targets.encoding import as_utf8, decoded

if TYPE_CHECKING:
    import turbohtml

LARGEST = 2 * 1024 * 1024  # bytes; a tree may take forty times as much
# No quotes and no brackets in a link that changes: it may stand in a style, bare.
_BARE = str.maketrans({"'": "%27", "(": "%28", ")": "%29"})
_WHOLE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://")
_CHARSET = re.compile(r'\A@charset "([^"]*)";')


def rewritten(
    body: bytes, media_type: str, charset: str, url: str, to: Callable[[str], str]
) -> bytes:
    """A document whose links are what `to` makes of them, each an absolute URL.

    Pages and style sheets come out in UTF-8 and say so; a page has no <base> any more.
    What is of another type, longer than LARGEST or beyond the parser stays as it is.

    Args:
        body: what came, unpacked from its Content-Encoding.
        media_type: what it is, without parameters.
        charset: as its header named it; may be empty.
        url: where it is from; empty when its relative links are to stay, as in a
            document that was rewritten before.
        to: may raise an OSError, and nothing else.
    """
    write = _WRITERS.get(media_type)
    if write is None or len(body) > LARGEST:
        return body
    try:
        return write(body, charset, url, to)
    except OSError:  # of `to`
        raise
    except Exception:  # a young parser's fault must not lose the page
        return body


class _Links:
    """The links of one document: each is asked for once, and may be replaced."""

    def __init__(self, base: str, to: Callable[[str], str]) -> None:
        self._base = base
        self._to = to
        self.changed = bool(base)  # a document as it came is always written anew

    def __call__(self, reference: str) -> str | None:
        """What stands in place of a reference; None leaves it as it is."""
        reference = reference.strip()
        is_whole = _WHOLE.match(reference) is not None
        absolute = self._absolute(reference, is_whole)
        if not absolute:
            return None
        new = self._to(absolute)
        if new == absolute and is_whole:
            return None
        self.changed = True
        return new.translate(_BARE)

    def _absolute(self, reference: str, is_whole: bool) -> str:
        if not reference or reference.startswith("#"):
            return ""
        try:
            if self._base:
                url = urls.join(self._base, reference)
            else:
                url = urls.normalise(reference) if is_whole else ""
        except UrlError:
            return ""
        return url if "://" in url[:12] else ""  # not mailto:, data:, javascript:


def _page(body: bytes, charset: str, url: str, to: Callable[[str], str]) -> bytes:
    # Not at the top: see hypertext.
    from turbohtml import Html, parse  # noqa: PLC0415

    data = as_utf8(body, charset).replace(b"\0", b"")
    page = parse(data, positions=False, allow_declarative_shadow_roots=False)
    links = _Links(_base(page, url), to)
    page.rewrite_links(links)
    if not links.changed:
        return body
    # What they vouch for are the files as they came, from the host they came from.
    for element in page.select("[integrity], [crossorigin]"):
        element.attrs.pop("integrity", None)
        element.attrs.pop("crossorigin", None)
    return _with_doctype(page, page.encode("utf-8", Html(meta_charset=True)))


def _base(page: "turbohtml.Document", url: str) -> str:
    """What the links of a page are seen from; its <base> then says no more of it."""
    own = base = urls.without_credentials(url)
    found = page.select("base[href]") if url else []
    if found:
        with contextlib.suppress(UrlError):
            base = urls.join(own, found[0].attr("href") or "")
    for element in found:
        del element.attrs["href"]
    return base if "://" in base else own  # data: and javascript: are no bases


def _with_doctype(page: "turbohtml.Document", markup: bytes) -> bytes:
    """The markup with the identifiers that its doctype had: they choose the layout."""
    from turbohtml import Doctype  # noqa: PLC0415

    found = next((node for node in page.children if isinstance(node, Doctype)), None)
    if found is None or found.public_id is None:
        return markup
    names = [found.public_id, *([found.system_id] if found.system_id else [])]
    quoted = " ".join(f"'{name}'" if '"' in name else f'"{name}"' for name in names)
    plain = found.serialize()
    return markup.replace(plain.encode(), f"{plain[:-1]} PUBLIC {quoted}>".encode(), 1)


def _style(body: bytes, charset: str, url: str, to: Callable[[str], str]) -> bytes:
    from turbohtml import parse  # noqa: PLC0415

    declared = _CHARSET.match(body[:64].decode("latin-1"))
    text = decoded(body, charset or (declared[1] if declared else ""))
    if "</style" in text.lower():
        return body  # would end the element that the parser is given it in
    links = _Links(urls.without_credentials(url), to)
    page = parse(f"<style>{text}</style>", positions=False)
    page.rewrite_links(links)
    if not links.changed:
        return body
    element = page.find("style")
    text = _CHARSET.sub("", element.serialize(inner=True)) if element else text
    return (text if text.isascii() else f'@charset "utf-8";{text}').encode()


_WRITERS: dict[str, Callable[[bytes, str, str, Callable[[str], str]], bytes]] = {
    "text/html": _page,
    "application/xhtml+xml": _page,
    "text/css": _style,
}
