"""Text lists: a URL a line, or running text with URLs in it."""

import codecs
import re
from collections.abc import Iterator

from ronda import config, urls
from ronda.model import Link, Place, Problem
from ronda.targets.encoding import marked
from ronda.targets.prose import urls_in
from ronda.targets.source import Readable, not_a_url

CHUNK = 256 * 1024  # bytes read at once
LONGEST_LINE = (
    1024 * 1024
)  # characters; it bounds the memory a file without lines takes

# A URL that begins a line, and one space after it that may be its own. A tab or a wider
# gap makes columns, # and | begin something else, and so does another URL.
_SPACED = re.compile(
    r"[<\"]?[a-z][a-z0-9+.\-]+://[^\s<>\"`|\\^]+ "
    r"(?![\s#|]|[<\"(]?[a-z][a-z0-9+.\-]+://)",
    re.IGNORECASE,
)
SPACE = "a space in a URL: write %20; before other words, write a tab"

_PORT = re.compile(r"\d{1,5}(?:/|$)")  # as in localhost:8080/page
SHORTEST_SCHEME = 2  # characters; one is a drive


def read(
    stream: Readable, document: str, options: config.Check
) -> Iterator[Link | Problem]:
    """The URLs of a list; blank lines and lines that begin with # are skipped.

    A line of a list that goes on after its URL is refused: it may be a URL with a space
    in it, and half a URL is another one. In running text, as pages of the web are, and
    as a line is that follows one of words, URLs are taken as they stand; but nothing is
    running text where lists are strict.
    """
    relative, strict = bool(options.base_url), options.strict_lists
    number, words_at = 0, -1  # of the line, and of the last one of words
    of_web = "://" in document
    for lines, clean in _batches(stream):
        for line in lines:
            number += 1
            words = line.split(None, 1)
            if not words or words[0][0] == "#":
                continue
            # This loop is hot: what nearly every line is comes before any call.
            if clean and len(words) == 1 and line.startswith(("https://", "http://")):
                yield Link(words[0], Place(document, number))
                continue
            if len(words) > 1:
                runs = of_web or words_at == number - 1 or "://" not in words[0]
                if runs and not strict:
                    words_at = number
                elif _SPACED.match(line.strip()):
                    yield Problem(Place(document, number), SPACE)
                    continue
            found = list(_line(line, Place(document, number), relative))
            if strict and not found:
                found = [not_a_url(line.strip(), Place(document, number))]
            yield from found


def _line(line: str, place: Place, relative: bool) -> Iterator[Link | Problem]:
    if len(line) > LONGEST_LINE:
        yield Problem(
            place, f"a line of more than {LONGEST_LINE:,} characters: skipped"
        )
    elif not _is_clean(line):
        yield Problem(place, "not text: save the list as UTF-8, without NUL bytes")
    elif len(line.split(None, 1)) > 1:
        yield from _in_prose(line, place)
    else:
        yield from _token(line.strip(), place, relative)


def _token(token: str, place: Place, relative: bool) -> Iterator[Link | Problem]:
    if relative or is_absolute(token):
        yield Link(token, place)
        return
    wrapped = list(_in_prose(token, place))  # <https://…>, "https://…", url=https://…
    yield from wrapped or (not_a_url(token, place),)


def _in_prose(line: str, place: Place) -> Iterator[Link]:
    for offset, url in urls_in(line):
        yield Link(url, Place(place.document, place.line, offset + 1))


def is_absolute(token: str) -> bool:
    """Whether an entry is a URL by itself, and not a host with its port or a drive."""
    scheme, _, rest = token.partition(":")
    if not urls.is_absolute(token) or len(scheme) < SHORTEST_SCHEME:
        return False
    return rest.startswith("//") or ("." not in scheme and not _PORT.match(rest))


def _batches(stream: Readable) -> Iterator[tuple[list[str], bool]]:
    """Whole lines in batches, and whether all of a batch is clean text."""
    tail = ""
    skipping = False  # within a line too long, whose head has been given out
    for chunk in _chunks(stream):
        text = tail + chunk
        *lines, tail = text.split("\n")
        if skipping and lines:
            del lines[0]
            skipping = False
        yield lines, _is_clean(text)
        if skipping:
            tail = ""
        elif len(tail) > LONGEST_LINE:
            yield [tail], False
            tail, skipping = "", True
    yield [tail], _is_clean(tail)


def _chunks(stream: Readable) -> Iterator[str]:
    first = stream.read(CHUNK)
    codec = marked(first) or "utf-8"
    errors = "surrogateescape" if codec.startswith("utf-8") else "replace"
    decoder = codecs.getincrementaldecoder(codec)(errors)
    chunk = first
    while chunk:
        yield decoder.decode(chunk)
        chunk = stream.read(CHUNK)
    yield decoder.decode(b"", final=True)


def _is_clean(text: str) -> bool:
    """Whether a text has neither NUL nor what was not UTF-8."""
    if "\0" in text:
        return False
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False
