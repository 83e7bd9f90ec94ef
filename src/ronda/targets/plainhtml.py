"""HTML by the standard library: slower and plainer, for when the fast parser fails."""

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import NamedTuple

from ronda.targets.encoding import decoded
from ronda.targets.source import TEXT_LENGTH

# Attributes that name something which can be asked for. Not: ping and formaction (they
# take POST), codebase and profile (prefixes), usemap (a name within the page).
NAMED = frozenset(
    {"href", "src", "srcset", "imagesrcset", "poster", "data", "action", "cite"}
    | {"background", "content", "style", "xlink:href", "longdesc"}
)
_CSS = re.compile(
    r"""(?:url\(\s*|@import\s+)(?:"([^"\n]*)"|'([^'\n]*)'|([^\s"'();]+))""",
    re.IGNORECASE,
)
_REFRESH = re.compile(
    r"\s*[\d.]+\s*[;,]\s*(?:url\s*=)?['\"\s]*([^'\"]*)", re.IGNORECASE
)
_NO_TAG = re.compile(r"<(?![A-Za-z/][^<>]*>)")
_CANDIDATE = re.compile(r"[\s,]*([^\s,]\S*)([^,]*)")  # a URL of a srcset, its size


class Row(NamedTuple):
    """A URL in a page, with what decides whether it is a link."""

    tag: str
    attribute: str
    url: str
    line: int
    column: int
    kind: str = ""  # rel of a link, method of a form
    text: str = ""


def rows(data: bytes | str) -> list[Row]:
    """Every URL of a page, in its order."""
    return _read(data).rows


def anchors(data: bytes | str) -> set[str]:
    """Every id of a page, and every name of an anchor."""
    return _read(data).names


class Reader(HTMLParser):
    """Collects rows and names from the parts of a page, whoever takes it apart."""

    def __init__(self, position: Callable[[], tuple[int, int]] | None = None) -> None:
        super().__init__(convert_charrefs=True)
        self._position = position or self.getpos
        self.rows: list[Row] = []
        self.names: set[str] = set()
        self._anchor: int | None = None  # where the open anchor stands in `rows`
        self._inside = ""  # the element whose text comes next

    def taken(self) -> list[Row]:
        """The rows that are complete, which are then forgotten."""
        end = len(self.rows) if self._anchor is None else self._anchor
        taken, self.rows = self.rows[:end], self.rows[end:]
        if self._anchor is not None:
            self._anchor = 0
        self.names.clear()
        return taken

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        values = {name: value.strip() for name, value in attrs if value}
        self.names.add(values.get("id", ""))
        if tag == "a":
            self.names.add(values.get("name", ""))
            self._anchor = len(self.rows) if "href" in values else None
        self._inside = tag
        self._add(tag, values)

    def handle_endtag(self, tag: str) -> None:
        """An element ends."""
        self._inside = ""
        if tag == "a":
            self._anchor = None

    def handle_data(self, data: str) -> None:
        """Text, or what stands in a style or a script."""
        if self._inside == "style":
            self._add("style", {"style": data})
        elif self._inside == "noscript" and "<" in data:
            # Text to a browser that runs scripts, and to whoever reads as one does.
            line, column = self._position()
            inner = (row._replace(line=line, column=column + 1) for row in rows(data))
            self.rows.extend(inner)
        elif self._anchor is not None:
            row = self.rows[self._anchor]
            if len(row.text) < TEXT_LENGTH:
                text = row.text + data[:TEXT_LENGTH]
                self.rows[self._anchor] = row._replace(text=text)

    def _add(self, tag: str, values: dict[str, str]) -> None:
        line, column = self._position()
        kind = values.get("method" if tag == "form" else "rel", "")
        text = values.get("alt", "")
        for name, url in _urls(values):
            self.rows.append(Row(tag, name, url, line, column + 1, kind, text))


def _read(data: bytes | str) -> Reader:
    reader = Reader()
    reader.feed(_harmless(data if isinstance(data, str) else decoded(data)))
    reader.close()
    return reader


def _harmless(text: str) -> str:
    """The text without what html.parser is slow or fails on; its lines are kept.

    Of Python 3.11's, 32 kB of "<a " takes 9 s, for it looks for every tag's end up to
    the end of the text, and "<![" raises. So comments and declarations go, and so do
    tags that do not end before the next begins.
    """
    kept, *comments = text.split("<!--")
    pieces = [kept]
    for comment in comments:
        hidden, _, rest = comment.partition("-->")
        pieces += "\n" * hidden.count("\n"), rest
    return _NO_TAG.sub(" ", "".join(pieces))


def _urls(values: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name in sorted(NAMED & values.keys()):
        take = _INSIDE.get(name)
        if name == "content" and values.get("http-equiv", "").lower() != "refresh":
            continue
        for url in take(values[name]) if take else (values[name],):
            yield name, url


def _in_css(text: str) -> Iterator[str]:
    for match in _CSS.finditer(text):
        yield match[match.lastindex or 0]


def _in_srcset(text: str) -> Iterator[str]:
    for match in _CANDIDATE.finditer(text):
        yield match[1].rstrip(",")


def _in_refresh(text: str) -> Iterator[str]:
    if match := _REFRESH.match(text):
        yield match[1].strip()


_INSIDE: dict[str, Callable[[str], Iterator[str]]] = {
    "style": _in_css,
    "srcset": _in_srcset,
    "imagesrcset": _in_srcset,
    "content": _in_refresh,
}
