"""When, and whom: visits come in, leases go out, nobody is asked too soon."""

from ronda.frontier.host import Item, Lease
from ronda.frontier.politeness import Limits, Policy
from ronda.frontier.queues import Frontier
from ronda.frontier.scope import Scope
from ronda.frontier.wait import RULES, Wait

__all__ = ["RULES", "Frontier", "Item", "Lease", "Limits", "Policy", "Scope", "Wait"]
