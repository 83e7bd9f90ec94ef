"""Markdown: inline and reference links, autolinks, bare URLs and raw HTML, not code."""

import re
from collections.abc import Iterator
from operator import attrgetter

from ronda import config
from ronda.model import Link, Problem
from ronda.targets import brackets, hypertext
from ronda.targets.encoding import decoded
from ronda.targets.masking import blanked, without_blocks, without_spans
from ronda.targets.places import Places
from ronda.targets.prose import urls_in
from ronda.targets.source import Readable

_TAG = re.compile(r"<[A-Za-z]")
# <scheme:…>, <name@host>, or else a tag, whose attributes the HTML reader has seen.
_ANGLED = re.compile(
    r"<(?:(?P<url>[A-Za-z][A-Za-z0-9+.\-]{1,31}:[^\s<>]*)"
    r"|(?P<mail>[\w.!#$%&'*+/=?^`{|}~\-]+@[\w\-]+(?:\.[\w\-]+)+)"
    r"|[A-Za-z/!?](?:[^<>\"']+|\"[^\"]*\"|'[^']*')*+)>"
)
_PICTURE = re.compile(r"!\[([^\[\]]*)\]\([^)]*\)")
_LOOKED_AT = 480  # characters of a link's words; four times what is shown


def read(
    stream: Readable, document: str, _options: config.Check
) -> Iterator[Link | Problem]:
    """The links of a Markdown document, in its order."""
    plain = without_blocks(decoded(stream.read()))
    masked = without_spans(plain)
    places = Places(document, plain)
    found = list(hypertext.links(masked, document)) if _TAG.search(masked) else []
    defined, rest = brackets.definitions(masked)
    brackets_found = list(brackets.links(rest, defined))
    found += _bracketed(brackets_found, defined, places)
    found += _unbracketed(blanked(rest, _pointers(brackets_found)), places)
    yield from sorted(found, key=attrgetter("place.line", "place.column"))


def _bracketed(
    pairs: list[brackets.Bracket],
    defined: dict[str, brackets.Definition],
    places: Places,
) -> Iterator[Link]:
    """Links at their use; a definition that nothing uses is a link where it stands."""
    for pair in pairs:
        yield Link(pair.url, places.at(pair.start, _words(pair, places.text)))
    used = {pair.label for pair in pairs}
    for label in defined.keys() - used:
        url, offset = defined[label]
        yield Link(url, places.at(offset, label))


def _words(pair: brackets.Bracket, text: str) -> str:
    """What a reader sees of a link; pictures nest, so each takes only a piece."""
    words = text[pair.start : min(pair.end, pair.start + _LOOKED_AT)]
    return _PICTURE.sub(
        r"\1", words.removeprefix("!").removeprefix("[").removesuffix("]")
    )


def _pointers(pairs: list[brackets.Bracket]) -> list[tuple[int, int]]:
    """What is not text: the parts after the closing brackets."""
    return [(pair.end, pair.after) for pair in pairs]


def _unbracketed(rest: str, places: Places) -> Iterator[Link]:
    """Autolinks, then URLs that stand in the text as they are."""
    spans = []
    for angled in _ANGLED.finditer(rest):
        spans.append(angled.span())
        if angled["url"]:
            yield Link(angled["url"], places.at(angled.start(), angled["url"]))
        elif angled["mail"]:
            yield Link(f"mailto:{angled['mail']}", places.at(angled.start()))
    for offset, url in urls_in(blanked(rest, spans)):
        yield Link(url, places.at(offset))
