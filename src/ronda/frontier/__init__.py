"""When, and whom: visits come in, leases go out, nobody is asked too soon."""

from ronda.frontier.host import Item
from ronda.frontier.politeness import Limits, Policy
from ronda.frontier.queues import Frontier, Lease
from ronda.frontier.scope import Scope

__all__ = ["Frontier", "Item", "Lease", "Limits", "Policy", "Scope"]
