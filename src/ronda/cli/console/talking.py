"""Commands asked of the daemon, and what it says put on the screen."""

import sys
from collections.abc import Iterable

import click

from ronda.cli.codes import NOTHING
from ronda.cli.console.link import Heard, Link, Place
from ronda.cli.console.names import LEAVE, command_line, help_lines
from ronda.errors import UsageError
from ronda.server.console.replies import FORMS, Form

SUBSCRIBE = "SUBSCRIBE"
ENDS = "100"  # the code of a reply after which nothing more comes


class Talker:
    """Asks one command after the other; connects when it is needed."""

    def __init__(self, place: Place, form: Form) -> None:
        self._place = place
        self._form = form
        self._link: Link | None = None
        self.over = False  # nothing more is to be asked

    def ask(self, text: str) -> int:
        """Have a line carried out, and show what comes of it; the exit code.

        Raises:
            UsageError: it cannot be read, or there is no daemon.
        """
        name, *words = command_line(text).split()
        if name == "HELP" and not self._form.json:
            click.echo("\n".join(help_lines(words)))
            return 0
        if name == LEAVE:
            self.over = True
            return 0
        if name == "FORMAT" and words:
            return self._format(words)
        return self._ask(command_line(text), follow=name == SUBSCRIBE)

    def close(self) -> None:
        """Hang up."""
        link, self._link = self._link, None
        if link is not None:
            link.close()

    def _ask(self, line: str, *, follow: bool) -> int:
        if self._link is not None and self._link.is_over:
            self.close()
        if self._link is None:
            self._link = Link(self._place, self._form)
        try:
            for heard in self._link.ask(line):
                self._show(heard)
            if follow and heard.is_good:
                self._follow(self._link)
            if heard.code == ENDS:  # it hangs up, sooner or later: we do now
                self.close()
            return 0 if heard.is_good else NOTHING
        except BaseException:
            self.close()  # whatever comes there now answers something else
            raise

    def _follow(self, link: Link) -> None:
        """Show results until Ctrl-C; then the connection is given up, and they end."""
        try:
            while True:
                self._show(link.hear(0))
        except KeyboardInterrupt:
            self.close()

    def _show(self, heard: Heard) -> None:
        end = b"\n\n" if self._form.pretty and heard.code == "200" else b"\n"
        sys.stdout.flush()
        sys.stdout.buffer.write(heard.data + end)
        sys.stdout.buffer.flush()

    def _format(self, words: list[str]) -> int:
        """Another format; the connection begins anew in it."""
        form = FORMS.get(" ".join(words).upper())
        if form is None:
            known = ", ".join(FORMS)
            raise UsageError(f"invalid format '{' '.join(words)}'; known: {known}")
        self.close()
        self._form = form
        return self._ask("FORMAT", follow=False)


def ask_all(talker: Talker, lines: Iterable[bytes]) -> int:
    """Ask what stands in a file, a command a line; the worst exit code."""
    worst = 0
    for line in lines:
        if line.strip():
            text = line.decode(errors="surrogateescape")
            worst = max(worst, talker.ask(text))
        if talker.over:
            break
    return worst
