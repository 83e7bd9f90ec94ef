"""Whether a text stands in a URL, in letters of whichever case."""

from typing import Any
from urllib.parse import quote

from sqlalchemy import Boolean, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from ronda.store.sql.schema import target
from ronda.store.sql.texts import legible

_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


def folded(text: str) -> str:
    """A text as it stands in URLs, which are ASCII, in small letters."""
    return quote(legible(text), safe=_PRINTABLE).lower()


class Contains(FunctionElement[bool]):
    """The URL of a target has a text."""

    type = Boolean()
    name = "contains"
    inherit_cache = True

    def __init__(self, text: str) -> None:
        escaped = folded(text)
        for sign in ("\\", "%", "_"):
            escaped = escaped.replace(sign, "\\" + sign)
        super().__init__(target.c.url, literal(f"%{escaped}%"))


@compiles(Contains, "sqlite")
def _sqlite(element: Contains, compiler: SQLCompiler, **options: Any) -> str:
    url, pattern = (compiler.process(one, **options) for one in element.clauses)
    return f"{url} LIKE {pattern} ESCAPE '\\'"


@compiles(Contains, "postgresql")
def _postgresql(element: Contains, compiler: SQLCompiler, **options: Any) -> str:
    url, pattern = (compiler.process(one, **options) for one in element.clauses)
    # Small letters of ASCII only: those of a language take five times as long.
    return f"lower({url} COLLATE \"C\") LIKE {pattern} ESCAPE '\\'"
