"""PDF: the links of its pages, where pypdf is installed (the extra `pdf`)."""

import io
import logging
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from ronda import config
from ronda.model import Link, Place, Problem
from ronda.targets.source import Readable, folded

if TYPE_CHECKING:
    from pypdf.generic import DictionaryObject

_SIGN = b"%PDF-"
_SIGNED = 1024  # bytes, within which the sign must stand
_PAGES = 2000  # that are looked at
_ANNOTATIONS = 1000  # of one page


def read(
    stream: Readable, document: str, _options: config.Check
) -> Iterator[Link | Problem]:
    """The links of a document, each with its page; none without the library."""
    data = stream.read()
    if _SIGN not in data[:_SIGNED]:
        return
    try:
        yield from _links(data, document)
    except ImportError:
        return  # it is nobody's mistake that a PDF is not read
    except Exception as error:  # a stranger's file in a stranger's library
        words = f"cannot be read as PDF: {type(error).__name__}: {error}"
        yield Problem(Place(document), folded(words), grave=False)


def _links(data: bytes, document: str) -> Iterator[Link | Problem]:
    from pypdf import PdfReader  # noqa: PLC0415  # optional, and slow to start

    # It complains of every flaw of every file; what matters it raises.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    pages = PdfReader(io.BytesIO(data)).pages
    for number, page in enumerate(islice(pages, _PAGES), start=1):
        for url in _urls(page):
            yield Link(url, Place(document, text=f"page {number}"))


def _urls(page: "DictionaryObject") -> Iterator[str]:
    """What the annotations of a page lead to outside of the document."""
    for annotation in islice(_at(page, "/Annots") or (), _ANNOTATIONS):
        uri = _at(_at(annotation.get_object(), "/A"), "/URI")
        if uri and (url := str(uri).strip()):
            yield url


def _at(found: "DictionaryObject | None", key: str) -> Any:
    """What a key leads to, through references, which its `get` does not follow."""
    return found[key] if found and key in found else None
