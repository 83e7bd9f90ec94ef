"""XML as a stream of elements, by expat, with everything that can explode refused."""

from collections.abc import Iterator
from typing import NamedTuple
from xml.parsers import expat

from ronda.errors import InputError
from ronda.targets.source import Readable

CHUNK = 64 * 1024  # bytes given to the parser at once
LONGEST_TEXT = 64 * 1024  # characters of an element's text that are kept, as of a URL


class Element(NamedTuple):
    """An element when it begins (text is None), and again when it ends."""

    name: str  # without its namespace
    attributes: dict[str, str]
    line: int
    column: int
    text: str | None = None


def elements(stream: Readable) -> Iterator[Element]:
    """The elements of a document in its order.

    Raises:
        InputError: the document is not XML, or declares entities.
    """
    builder = _Builder()
    while True:
        chunk = stream.read(CHUNK)
        try:
            builder.parser.Parse(chunk, not chunk)
        except (expat.ExpatError, LookupError, ValueError) as error:
            yield from builder.taken()
            raise InputError(f"not XML: {error}") from None
        yield from builder.taken()
        if not chunk:
            return


class _Builder:
    def __init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        # Entities of entities grow a kilobyte to gigabytes, and external ones read
        # files. expat stops the first at a factor of 100 and skips the second, if it
        # is new enough; no sitemap has a use for either.
        self.parser.EntityDeclHandler = _refuse
        # An entity of a DTD elsewhere would be left out, and cut a URL short.
        self.parser.SkippedEntityHandler = _refuse
        self._found: list[Element] = []
        self._begun: Element | None = None
        self._words: list[str] = []
        self._length = 0

    def taken(self) -> list[Element]:
        """What was found since the last time."""
        found, self._found = self._found, []
        return found

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber
        values = {_local(key): value for key, value in attributes.items()}
        self._begun = Element(_local(name), values, line, column + 1)
        self._words, self._length = [], 0
        self._found.append(self._begun)

    def _text(self, data: str) -> None:
        if self._begun and self._length <= LONGEST_TEXT:
            self._words.append(data)
            self._length += len(data)

    def _end(self, _name: str) -> None:
        if self._begun:  # only an element without elements within has text of its own
            self._found.append(self._begun._replace(text="".join(self._words)))
        self._begun = None


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def _refuse(*_declaration: object) -> None:
    raise InputError("XML with entities of its own is not read: remove its DOCTYPE")
