"""Texts that both engines can hold.

PostgreSQL has no NUL in a text, and neither engine has half of a surrogate pair, which
is how Python shows bytes that are not UTF-8. Both come from outside: from plug-ins,
headers, files and arguments. What a statement is given is cleaned by the type of its
column; rows that go past that, for speed, are made of clean texts.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import sqlalchemy
from sqlalchemy import Dialect
from sqlalchemy.types import TypeDecorator

_INSTEAD = "\ufffd"


def is_legible(text: str) -> bool:
    """Whether a text can be stored as it is; False of a few that can be."""
    return text.isascii() and "\0" not in text


def legible(text: str) -> str:
    """The text; what cannot be stored is shown as U+FFFD."""
    if is_legible(text):
        return text
    # In UTF-16, unlike in UTF-8, both halves of a pair become what they stand for.
    data = text.replace("\0", _INSTEAD).encode("utf-16-le", "surrogatepass")
    return data.decode("utf-16-le", "replace")


class Text(TypeDecorator[str]):
    """The type of a column whose values are legible, whatever they are given as."""

    impl = sqlalchemy.Text
    cache_ok = True

    @property
    def python_type(self) -> type[str]:
        """What its values are; SQLAlchemy does not say it of types like this."""
        return str

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """What is sent to the database."""
        return None if value is None else legible(value)


def packed(encode: Callable[[Any], bytes], value: Any) -> bytes:
    """A value as bytes, with texts in it that can be encoded."""
    try:
        return encode(value)
    except UnicodeEncodeError:  # seldom enough that to look first would be a waste
        plain = msgspec.to_builtins(value, builtin_types=(bytes,))
        return encode(_legible_all(plain))


def _legible_all(value: Any) -> Any:
    match value:
        case str():
            return legible(value)
        case list() | tuple():
            return [_legible_all(one) for one in value]
        case dict():
            return {key: _legible_all(one) for key, one in value.items()}
        case _:
            return value
