"""reStructuredText: embedded URLs, targets, pictures, bare URLs, not literal blocks."""

import re
from collections.abc import Iterator
from operator import attrgetter

from ronda import config
from ronda.model import Link, Problem
from ronda.targets.encoding import decoded
from ronda.targets.masking import blanked
from ronda.targets.places import Places
from ronda.targets.prose import urls_in
from ronda.targets.source import Readable

_LITERAL = re.compile(r"``(?=\S)(?:[^`\n]|`(?!`)|\n(?!\s*\n))*+``")
# Where a URL stands, in the order they are looked for:
#   `text <url>`_ ; without the underscore it is a role such as :doc:`text <page>`
#   .. _name: url  and the anonymous  .. __: url  and  __ url
#   .. image:: url  and  .. figure:: url ,  and where a click on them leads
_WAYS = (
    re.compile(r"`(?P<text>[^`<>]*)<(?P<url>[^`<>]+)>`__?"),
    re.compile(
        r"^[ \t]*(?:\.\. _(?P<text>`[^`\n]+`|(?!_)(?:[^:\\\n]|\\.)+):|\.\. __:|__)"
        r"[ \t]+(?P<url>\S[^\n]*)$",
        re.MULTILINE,
    ),
    re.compile(
        r"^[ \t]*\.\. (?:\|(?P<text>[^|\n]+)\| )?(?:image|figure)::[ \t]+(?P<url>\S+)"
        r"[ \t]*$",
        re.MULTILINE,
    ),
    re.compile(r"^(?P<text>)[ \t]+:target:[ \t]+(?P<url>\S+)[ \t]*$", re.MULTILINE),
)
# Directives whose content is code; and explicit markup that is a comment, for it is
# neither a target, a footnote, a substitution nor a directive.
_OPAQUE = re.compile(
    r"\.\. (?:(?:code|code-block|sourcecode|parsed-literal|raw|math|highlight|prompt"
    r"|doctest|testcode|testsetup|testoutput|ipython|graphviz|mermaid)::"
    r"|(?![_\[|]|__|[\w:.+\-]+::)\S)|\.\.$"
)


def read(
    stream: Readable, document: str, _options: config.Check
) -> Iterator[Link | Problem]:
    """The links of a reStructuredText document, in its order."""
    plain = "\n".join(_text_lines(decoded(stream.read())))
    places = Places(document, plain)
    text = blanked(plain, [match.span() for match in _LITERAL.finditer(plain)])
    found = []
    for way in _WAYS:
        matches = list(way.finditer(text))
        found += [_link(match, places) for match in matches if _is_url(match["url"])]
        text = blanked(text, [match.span() for match in matches])
    found += [Link(url, places.at(offset)) for offset, url in urls_in(text)]
    yield from sorted(found, key=attrgetter("place.line", "place.column"))


def _link(match: re.Match[str], places: Places) -> Link:
    url = "".join(match["url"].split())  # a long URL may be broken over lines
    offset = match.end() - len(match[0].lstrip())
    return Link(
        url.replace("\\", ""), places.at(offset, (match["text"] or "").strip("`"))
    )


def _is_url(text: str) -> bool:
    """Whether a target is a URL, and not the name of another target."""
    return not text.rstrip().endswith("_")


def _text_lines(text: str) -> Iterator[str]:
    """The lines, those of literal blocks, code and comments left empty."""
    literal = -1  # the indent that opened a block; deeper lines belong to it
    for line in text.split("\n"):
        words = line.strip()
        indent = len(line) - len(line.lstrip())
        if words and indent <= literal:
            literal = -1
        if literal >= 0:
            yield ""
            continue
        if _OPAQUE.match(words) or (words.endswith("::") and words[:3] != ".. "):
            literal = indent
        yield "" if _OPAQUE.match(words) else line
