"""HTML by the standard library: slower and plainer, for when the fast parser fails."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import islice

from msgspec import Struct

from ronda.targets.attributes import rel_of, urls_of, words_of
from ronda.targets.encoding import markup

# Between their tags is text, whatever it looks like. Only some parsers know it.
_RAW = frozenset({"textarea", "title", "iframe", "noembed", "noframes", "xmp"})
_WORDS = 4096  # characters of an anchor that are looked at for its words
_HELD = 1000  # rows that may wait for the end of the anchor before them
_MOST = 100_000  # URLs of one element; a style of 16 MB could have millions
_COMMENT = re.compile(r"<!--(?:-?>|(.*?)-->|.*\Z)", re.DOTALL)
_NO_TAG = re.compile(r"<(?!(?:[A-Za-z/][^<>]*>|!--))")
_VISIBLE = re.compile(r"[^\n]")


class Row(Struct, gc=False):
    """A URL in a page."""

    tag: str
    url: str
    line: int
    column: int
    rel: str = ""
    text: str = ""  # grows while an anchor is open


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
        self._anchor: Row | None = None  # the one that is open
        self._before = 0  # the rows before it, which are complete
        self._alt: str | None = None  # of the first picture in it
        self._style: list[str] | None = None  # the text of the one that is open
        self._style_at = (0, 0)
        self._raw = ""  # the element whose tags are text

    def taken(self) -> list[Row]:
        """The rows that are complete, which are then forgotten."""
        if len(self.rows) > self._before + _HELD:
            self._end_anchor()
        end = len(self.rows) if self._anchor is None else self._before
        taken, self.rows = self.rows[:end], self.rows[end:]
        self._before = 0
        self.names.clear()
        return taken

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        if self._raw:
            return
        values: dict[str, str] = {}
        for name, value in attrs:
            values.setdefault(name, value or "")  # the first of a name counts
        if "id" in values:
            self.names.add(values["id"])
        self._raw = tag if tag in _RAW else ""
        if tag == "a":
            self._begin_anchor(values)
        elif tag == "style":
            self._style, self._style_at = [], self._position()
        elif tag == "img" and self._alt is None:
            self._alt = values.get("alt", "")
        if values:
            self._add(tag, values, self._position())

    # A slash ends nothing in HTML, but what was never open.
    handle_startendtag = handle_starttag

    def handle_endtag(self, tag: str) -> None:
        """An element ends."""
        if tag == self._raw:
            self._raw = ""
        elif tag == "style":
            self._end_style()
        elif tag == "a" and not self._raw:
            self._end_anchor()

    def handle_data(self, data: str) -> None:
        """Text, or what stands in a style or a script."""
        if self._style is not None:
            self._style.append(data)
        if self._anchor is not None and len(self._anchor.text) < _WORDS:
            self._anchor.text += data[:_WORDS]

    def end(self) -> None:
        """What was left open ends with the page."""
        self._end_style()
        self._end_anchor()

    def _begin_anchor(self, values: dict[str, str]) -> None:
        self._end_anchor()
        self.names.add(values.get("name", ""))
        self._before, self._alt = len(self.rows), None

    def _end_anchor(self) -> None:
        if self._anchor is not None and not self._anchor.text.strip():
            self._anchor.text = self._alt or ""
        self._anchor = None

    def _end_style(self) -> None:
        if self._style:
            self._add("style", {"style": "".join(self._style)}, self._style_at)
        self._style = None

    def _add(self, tag: str, values: dict[str, str], at: tuple[int, int]) -> None:
        line, column = at
        for kind, url in islice(urls_of(tag, values), _MOST):
            row = Row(kind, url, line, column + 1)
            if kind == tag:
                row.rel, row.text = rel_of(tag, values), words_of(tag, values)
                self._anchor = row if tag == "a" else self._anchor
            self.rows.append(row)


def _read(data: bytes | str) -> Reader:
    reader = Reader()
    reader.feed(_harmless(data if isinstance(data, str) else markup(data)))
    reader.close()
    reader.end()
    return reader


def _harmless(text: str) -> str:
    """The text without what html.parser is slow or fails on; all else stays in place.

    Of Python 3.11's, 32 kB of "<a " takes 9 s, for it looks for every tag's end up to
    the end of the text, and "<![" raises. So comments are emptied, and declarations and
    tags that do not end before the next begins go.
    """
    return _NO_TAG.sub(" ", _COMMENT.sub(_emptied, text))


def _emptied(comment: re.Match[str]) -> str:
    if comment[1] is not None:
        return f"<!--{_VISIBLE.sub('x', comment[1])}-->"
    is_short = comment[0] in {"<!-->", "<!--->"}
    return " " * len(comment[0]) if is_short else ""  # left open: it ends the page
