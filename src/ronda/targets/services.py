"""Lists of services: a table or JSON Lines, with what is known beside each URL."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ronda import urls
from ronda.errors import UrlError
from ronda.model import Place, Problem, Service
from ronda.targets.encoding import decoded
from ronda.targets.source import Readable, folded

# What the columns are called, here and in the catalogues that such lists come from.
NAMES = {
    "url": ("url", "uri"),
    "type": ("type", "uri_type"),
    "version": ("version",),
    "uuid": ("uuid", "id"),
    "description": ("description", "title", "name"),
    "owner": ("owner", "entity"),
    "kind": ("kind",),
}


class Listed(Struct, frozen=True):
    """A service as a list has it."""

    url: str  # normalised, without its fragment
    written: str  # the URL as it stands there
    service: Service
    owner: str = ""  # "": the list does not say


def read(stream: Readable, document: str) -> Iterator[Listed | Problem]:
    """The services of a list, by the names of its columns or fields."""
    text = decoded(stream.read())
    rows = _objects if text.lstrip().startswith("{") else _table
    for line, row in rows(text):
        place = Place(document, line)
        if isinstance(row, str):
            yield Problem(place, row)
        else:
            yield _listed(row, place)


def _listed(row: Mapping[str, str], place: Place) -> Listed | Problem:
    written = row.get("url", "")
    if not written:
        return Problem(place, "no URL: a service needs a column or field 'url'")
    try:
        url = urls.split_fragment(urls.normalise(written))[0]
    except UrlError as error:
        return Problem(place, str(error))
    service = Service(
        id=0,
        kind=row.get("kind", "") or "service",
        description=row.get("description", ""),
        type=row.get("type", ""),
        version=row.get("version", ""),
        uuid=row.get("uuid", ""),
    )
    return Listed(url, written, service, row.get("owner", ""))


def _objects(text: str) -> Iterator[tuple[int, dict[str, str] | str]]:
    """JSON Lines: an object a line."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found = msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            yield number, f"not a line of JSON with an object: {error}"
            continue
        yield number, _named({str(key): value for key, value in found.items()})


def _table(text: str) -> Iterator[tuple[int, dict[str, str] | str]]:
    """A table whose first row has the names of its columns."""
    head = text.lstrip("\n").partition("\n")[0]
    delimiter = max(",;\t|", key=head.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        names = reader.fieldnames or ()
        if not any(name.strip().casefold() in NAMES["url"] for name in names):
            known = folded(", ".join(names)) or "none"
            yield 1, f"no column 'url'; the columns are: {known}"
            return
        for row in reader:
            yield reader.line_num, _named(row)
    except csv.Error as error:
        yield reader.line_num, f"not a row of a table: {error}"


def _named(row: Mapping[Any, Any]) -> dict[str, str]:
    """What a row says, under our names; the rest is not ours to keep."""
    said = {
        str(name).strip().casefold(): _text(value)
        for name, value in row.items()
        if name is not None
    }
    found = {}
    for name, others in NAMES.items():
        values = (said[other] for other in others if said.get(other))
        found[name] = next(values, "")
    return found


def _text(value: Any) -> str:
    if value is None or isinstance(value, list | dict):
        return ""
    return " ".join(str(value).split())
