"""Markdown without its code and comments; what is left keeps its lines and columns."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict

# What comes before the words of a line: quote marks, and the marker of a list item.
_QUOTE = re.compile(r"(?: {0,3}> ?)+")
_ITEM = re.compile(r"( *)([-*+]|\d{1,9}[.)])( +)(?=\S)")
_FENCE = re.compile(r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
_OPENER = re.compile(r"\\.|`+|<!--", re.DOTALL)
_RUN = re.compile(r"`+")
# Where a paragraph ends: before a blank line, a heading, a table row or a list item.
_BOUNDARY = re.compile(r"\n(?=[ \t>]*(?:\n|#|\||[-*+][ \t]|\d{1,9}[.)][ \t]))")
_VISIBLE = re.compile(r"[^\n]")


def without_blocks(text: str) -> str:
    """The text with the lines of fenced and indented code left empty."""
    blocks = _Blocks()
    return "\n".join(line if blocks.keeps(line) else "" for line in text.split("\n"))


def without_spans(text: str) -> str:
    """The text with code spans and comments blanked."""
    spans = []
    ends = _Ends(text)
    at = 0
    while opener := _OPENER.search(text, at):
        end = ends.of(opener)
        if end:
            spans.append((opener.start(), end))
        at = end or opener.end()
    return blanked(text, spans)


def blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with spaces in place of some spans, given in order."""
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        pieces += text[done:start], _VISIBLE.sub(" ", text[start:end])
        done = end
    return "".join(pieces) + text[done:]


class _Blocks:
    """Follows fences, comments, list items and blank lines from line to line."""

    def __init__(self) -> None:
        self._fence = ""  # the marks that opened the code we are in
        self._is_quoted = False  # whether that fence stands in a quotation
        self._in_comment = False
        self._after_blank = True  # indented code cannot interrupt a paragraph
        self._items: list[int] = []  # the columns where open list items begin

    def keeps(self, line: str) -> bool:
        """Whether a line is text; to be asked of every line in turn."""
        quote = _QUOTE.match(line)
        body = line[quote.end() :] if quote else line
        if self._fence and (quote or not self._is_quoted):
            self._end_fence(body.strip())
            return False
        self._fence = ""  # a quotation that ends takes its code with it
        if self._in_comment:
            self._in_comment = "-->" not in line
            return True
        if fence := _FENCE.match(body.lstrip()):
            self._fence, self._is_quoted = fence[1], bool(quote)
            self._after_blank = True
            return False
        return self._keeps_text(body.expandtabs(4))

    def _end_fence(self, marks: str) -> None:
        if len(marks) >= len(self._fence) and not marks.strip(self._fence[0]):
            self._fence = ""

    def _keeps_text(self, body: str) -> bool:
        words = body.lstrip()
        if not words:
            self._after_blank = True
            return True
        indent = len(body) - len(words)
        item = _ITEM.match(body)
        if self._after_blank or item:
            self._leave_items(indent)
        if self._after_blank and indent >= 4 + (self._items or [0])[-1]:
            return False
        if item:
            self._items.append(item.end() if len(item[3]) < 5 else item.end(2) + 1)
        self._after_blank = words.startswith("#")
        self._in_comment = _opens_comment(words)
        return True

    def _leave_items(self, indent: int) -> None:
        while self._items and indent < self._items[-1]:
            self._items.pop()


class _Ends:
    """Where the code spans and comments of a text end, found in one pass."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._boundaries = [match.start() for match in _BOUNDARY.finditer(text)]
        self._runs: dict[int, list[int]] = defaultdict(list)
        for run in _RUN.finditer(text):
            self._runs[run.end() - run.start()].append(run.start())
        self._last_comment = text.rfind("-->")

    def of(self, opener: re.Match[str]) -> int:
        """The end of what an opener opens; 0 when it is plain text."""
        match opener[0][0]:
            case "`":
                return self._of_code(opener)
            case "<" if self._last_comment >= opener.end():
                return self._text.index("-->", opener.end()) + 3
        return 0

    def _of_code(self, opener: re.Match[str]) -> int:
        size = len(opener[0])
        runs = self._runs[size]
        index = bisect_left(runs, opener.end())
        if index == len(runs):
            return 0
        close = runs[index]
        return close + size if self._is_one_paragraph(opener.start(), close) else 0

    def _is_one_paragraph(self, start: int, end: int) -> bool:
        marks = self._boundaries
        return bisect_right(marks, start) == bisect_right(marks, end)


def _opens_comment(line: str) -> bool:
    start = line.rfind("<!--")
    # An odd number of backticks before it: it stands in a code span.
    return (
        start >= 0 and "-->" not in line[start:] and line.count("`", 0, start) % 2 == 0
    )
