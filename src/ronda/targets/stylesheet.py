"""CSS: what url() and @import name, in a file, a <style> or an attribute."""

import re
from collections.abc import Iterator

from ronda import config
from ronda.model import Link, Problem
from ronda.targets.encoding import decoded
from ronda.targets.places import Places
from ronda.targets.source import Readable

TAG = "css"  # what the place of a URL in a style has for its tag

_QUOTED = r"""(?:"((?:[^"\\\n]++|\\.)*+)"?|'((?:[^'\\\n]++|\\.)*+)'?)"""
_BARE = (
    r"""((?:[^\s"'()\\]++|\\(?:[0-9a-f]{1,6}+\s?+|.))++)"""
    r"""(?=\s*+(?:\)|\Z))"""
)
# One of: a comment, a namespace (a name, not an address), an import, a URL, a string,
# an escape. What is not closed is taken up to where it can only end, so that nothing is
# looked at twice.
_TOKEN = re.compile(
    r"/\*.*?(?:\*/|\Z)"
    rf"|@namespace\s++(?:[\w\-]++\s++)?(?:url\(\s*+)?(?:{_QUOTED}|{_BARE})"
    rf"|@import\s++{_QUOTED}"
    rf"|(?<![\w\-])url\(\s*+(?:{_QUOTED}|{_BARE})"
    rf"|{_QUOTED}"
    r"|\\.",
    re.IGNORECASE | re.DOTALL,
)
_GROUPS = slice(3, 8)  # of a token, those of imports and URLs
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|\n|(.))", re.IGNORECASE | re.DOTALL)
_CHARSET = re.compile(rb'@charset "([\w.:\-]+)";')


def read(
    stream: Readable, document: str, _options: config.Check
) -> Iterator[Link | Problem]:
    """The references of a style sheet, in its order."""
    data = stream.read()
    named = _CHARSET.match(data)
    text = decoded(data, named[1].decode("ascii") if named else "")
    places = Places(document, text)
    for offset, url in urls_in(text):
        yield Link(url, places.at(offset, tag=TAG))


def urls_in(text: str) -> Iterator[tuple[int, str]]:
    """Every URL of a style with the offset of what names it."""
    if "(" not in text and "@" not in text:  # as of nearly all attributes
        return
    for token in _TOKEN.finditer(text):
        url = next((part for part in token.groups()[_GROUPS] if part), "")
        if url:
            yield token.start(), _unescaped(url) if "\\" in url else url


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(escape: re.Match[str]) -> str:
    if not escape[1]:
        return escape[2] or ""
    number = int(escape[1], 16)
    is_real = 0 < number < 0x110000 and not 0xD800 <= number < 0xE000
    return chr(number) if is_real else "\ufffd"
