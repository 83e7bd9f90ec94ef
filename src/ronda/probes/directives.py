"""What a page asks of robots: `X-Robots-Tag` headers and `<meta name=robots>`.

Told is what asks us to refrain from something, in lower case: of `index, nofollow` only
`nofollow`. `none` becomes the two that it stands for, and a value follows its directive
as it is written: `unavailable_after: 25 Jun 2010 15:00:00 PST`.
"""

import re
from collections.abc import Iterable, Iterator

from ronda.model import Answer

HEAD = 64 * 1024  # bytes of a page in which its directives stand
LONGEST = 4096  # characters of one header or tag that are read
VALUE = 100  # characters of a value that are kept

_HEADER = b"x-robots-tag:"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_MEANING: dict[str, tuple[str, ...]] = {
    # As without a word:
    "all": (),
    "index": (),
    "follow": (),
    "none": ("noindex", "nofollow"),
    **{
        name: (name,)
        for name in (
            *("noindex", "nofollow", "noarchive", "nocache", "nosnippet"),
            *("noimageindex", "notranslate", "indexifembedded", "noodp", "noydir"),
            *("nositelinkssearchbox", "noai", "noimageai"),
        )
    },
}
_VALUED = "unavailable_after|max-snippet|max-image-preview|max-video-preview"
_NAME = r"[A-Za-z_][A-Za-z0-9_.\-]*+"
# A directive with its value, which may hold commas and colons (it is a date) and so
# goes on to the next thing that is known; or a word; or, before a colon, an agent.
_ITEM = re.compile(
    rf"({_VALUED}) ?: ?(.*?) ?"
    rf"(?=, ?(?:(?:{_VALUED}|{'|'.join(_MEANING)})\b|{_NAME} ?:)|\Z)"
    rf"|({_NAME})( ?:)?",
    re.IGNORECASE | re.DOTALL,
)
_TOKEN = re.compile(r"[^\s/(]*")

# What is not markup is passed over whole, and so is a tag that does not end: nothing
# is looked at twice, however hostile the page.
_TAG = re.compile(
    r"<!--(?:.*?-->|.*)"
    r"|<(script|style|template|title|textarea)(?=[\s/>]).*?(?:</\1\b|\Z)"
    r"|<meta(?=[\s/])((?:[^>\"']|\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))*+)",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"([^\s=/\"']+)\s*(?:=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']+)))?"
)


def directives(answer: Answer, agent: str) -> frozenset[str]:
    """What an answer asks of an agent, in its headers and in its page."""
    found = of_headers(answer.headers, agent)
    kind = answer.header("content-type").lower()
    if answer.body and (not kind or "html" in kind):
        found |= of_page(answer.body, agent)
    return found


def of_headers(lines: Iterable[bytes], agent: str) -> frozenset[str]:
    """What headers ask of an agent; some speak to others only."""
    size = len(_HEADER)
    found: set[str] = set()
    for line in lines:
        if line[:size].lower() == _HEADER:
            found.update(_read(line[size:].decode("latin-1"), _token(agent)))
    return frozenset(found)


def of_page(body: bytes, agent: str) -> frozenset[str]:
    """What the tags of a page ask of an agent: of all robots, or of it by its name."""
    token = _token(agent)
    encoding = "utf-16" if body.startswith(_UTF_16) else "latin-1"
    head = body[:HEAD].lower()
    if encoding == "latin-1" and b"robots" not in head and token.encode() not in head:
        return frozenset()  # as most pages: to look into it would take far longer
    found: set[str] = set()
    for tag in _TAG.finditer(body[:HEAD].decode(encoding, "replace")):
        if tag[2] is not None:
            name, content = _meta(tag[2])
            if name in {"robots", token}:
                found.update(_read(content, token))
    return frozenset(found)


def _token(agent: str) -> str:
    """The name by which pages know an agent, of which all may be given."""
    found = _TOKEN.match(agent.strip())
    return found[0].lower() if found else ""


def _read(text: str, token: str) -> Iterator[str]:
    """The directives of a list that are for everybody, or for an agent."""
    to = token
    # Spaces are folded: looked for behind every character, many would take long.
    for item in _ITEM.finditer(" ".join(text[:LONGEST].split())):
        valued, value, word, colon = item.groups()
        word = (word or "").lower()
        if word in _MEANING:
            found = _MEANING[word]
        elif colon:
            to = word
            continue
        else:
            found = (f"{valued.lower()}: {value[:VALUE]}",) if valued else ()
        if to == token:
            yield from found


def _meta(inside: str) -> tuple[str, str]:
    """The name of a <meta> tag, in lower case, and its content."""
    found: dict[str, str] = {}
    for attribute in _ATTRIBUTE.finditer(inside):
        name, *values = attribute.groups()
        value = next((value for value in values if value is not None), "")
        found.setdefault(name.lower(), value)  # of two alike, the first counts
    content = _unescaped(found.get("content", "")[:LONGEST])
    return found.get("name", "").strip().lower(), content


def _unescaped(text: str) -> str:
    if "&" not in text:
        return text
    from html import unescape  # noqa: PLC0415  # a large table, and hardly needed

    return unescape(text)
