"""A reply as a value, and as the lines that a client gets.

Framing: in HR, and in pretty JSON, a reply ends with the first empty line, and has none
within; in JSON it is one line.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from ronda import urls
from ronda.server.console.tables import Table, boxed, painted

LONGEST = 4096  # characters of a line for people


class Form(Struct, frozen=True):
    """How a client wants its replies."""

    json: bool = False
    pretty: bool = False  # JSON over several lines
    colour: bool = False  # HR with the colours of a terminal

    @property
    def name(self) -> str:
        """Its name in the protocol."""
        return "JSON" if self.json else "HR"


# What FORMAT takes.
FORMS = {
    "HR": Form(),
    "HR COLOUR": Form(colour=True),
    "JSON": Form(json=True),
    "JSON PRETTY": Form(json=True, pretty=True),
}


class Reply(Struct, frozen=True):
    """What is said to a command. Even codes say yes, odd ones say no."""

    code: str
    message: str
    fields: dict[str, Any] = {}  # that JSON has beside code and message
    table: Table | None = None  # what HR shows instead of the message
    lines: tuple[str, ...] = ()  # or below it
    error: str = ""  # of 107: a word for programs
    state: str = ""  # of an event: a word of the message that has a colour
    closes: bool = False  # the connection is over once it is sent


def rendered(reply: Reply, form: Form) -> bytes:
    """A reply as it goes over the wire, its end included."""
    if form.json:
        return _json(reply, form)
    if reply.table is not None:
        lines = boxed(reply.table, f"[{reply.code}]", reply.message, form.colour)
    else:
        lines = _lines(reply, form.colour)
    return "\n".join([*lines, "", ""]).encode("utf-8", "replace")


def told(reply: Reply) -> dict[str, Any]:
    """A reply as JSON has it."""
    head = {"code": reply.code, "message": reply.message}
    return head | ({"error": reply.error} if reply.error else {}) | reply.fields


def _json(reply: Reply, form: Form) -> bytes:
    text = msgspec.json.encode(whole(told(reply)))
    return (
        msgspec.json.format(text, indent=2) + b"\n\n" if form.pretty else text + b"\n"
    )


def whole(value: Any) -> Any:
    """A tree that can be encoded: no text in it has half a surrogate pair."""
    match value:
        case str() if not value.isascii():
            return value.encode("utf-8", "replace").decode()
        case dict():
            return {str(whole(key)): whole(item) for key, item in value.items()}
        case list() | tuple():
            return [whole(item) for item in value]
        case _:
            return value


def _lines(reply: Reply, colour: bool) -> Iterator[str]:
    error = f"{reply.error}: " if reply.error else ""
    first = one_line(f"[{reply.code}] {error}{reply.message}")
    if colour and reply.state:
        first = first.replace(reply.state, painted(reply.state, reply.state), 1)
    yield first
    # An empty line would end the reply.
    yield from (one_line(line) for line in reply.lines if line.strip())


def one_line(text: str) -> str:
    """A text with nothing in it that could end a line or move the cursor."""
    return urls.shown(text.rstrip(), LONGEST)
