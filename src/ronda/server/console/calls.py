"""One command as it is carried out."""

from msgspec import Struct

from ronda.server.console.monitor import Who
from ronda.server.console.sessions import Hall, Session


class Call(Struct, frozen=True):
    """What a command is given."""

    words: list[str]  # behind its name
    session: Session
    hall: Hall

    @property
    def who(self) -> Who:
        """Who asks; strangers may do nothing."""
        return self.session.who or Who("-")
