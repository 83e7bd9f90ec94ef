"""What reports tell: the judgement, and how it was come by."""

from msgspec import Struct

from ronda.frontier.audit import Audit, Kind, Mention
from ronda.model import Problem


class Findings(Struct, frozen=True):
    """An audit, and what else should be known of it."""

    audit: Audit
    kind: Kind
    logs: tuple[str, ...]  # their names
    limits: str  # whose: of the run, or of the settings
    options: tuple[str, ...]  # the limits that were given as options
    asked: dict[tuple[int, int], str]  # log and line → method and URL
    agents: int  # different user agents; 0: they are not known
    left_out: int  # requests of other user agents or clients
    unreadable: int  # lines
    problems: tuple[Problem, ...]  # the first of them

    @property
    def proven(self) -> bool:
        """Whether no limit was broken, in all that the logs hold."""
        return self.audit.polite and not self.unreadable and not self.audit.unjudged

    def request(self, mention: Mention) -> str:
        """Method and URL of a request."""
        return self.asked.get((mention.log, mention.line), "")
