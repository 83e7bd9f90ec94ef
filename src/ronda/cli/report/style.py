"""How a report should look, and the colours of a terminal."""

from msgspec import Struct

from ronda.model import State

BOLD = "1"
GREY = "90"
YELLOW = "33"

# ANSI codes by hand: a colour library would cost more start-up than all reports.
COLOURS = {
    State.OK: "32",
    State.WARNING: YELLOW,
    State.TEMPORARY: YELLOW,
    State.BROKEN: "31",
    State.BLOCKED: "35",
    State.UNSUPPORTED: "34",
    State.UNKNOWN: GREY,
}


class Style(Struct, frozen=True):
    """What the reader's screen can do, and how much he wants to see."""

    colour: bool = False
    verbose: bool = False
    width: int = 100  # characters
    hyperlinks: bool = False  # the terminal understands OSC 8

    def paint(self, text: str, code: str) -> str:
        """A text in a colour, where there are colours."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def link(self, url: str) -> str:
        """A URL that can be clicked, where the terminal can do that."""
        if not self.hyperlinks or not url.startswith(("http://", "https://")):
            return url
        return f"\x1b]8;;{url}\x1b\\{url}\x1b]8;;\x1b\\"
