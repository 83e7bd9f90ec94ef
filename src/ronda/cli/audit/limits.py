"""The limits an audit judges by."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from ronda import networks
from ronda.config import Politeness
from ronda.frontier import Limits, Policy
from ronda.frontier.audit import Kind, LimitsOf, Log

# Stands for a server that an access log does not name: a stranger's, and nobody's
# (RFC 5737). A host without any address would count as nobody asked.
UNNAMED = "192.0.2.0"


def own_rows(logs: Sequence[Log]) -> tuple[Politeness, ...] | None:
    """The limits that the logs tell of themselves."""
    return next((log.rows for log in logs if log.rows is not None), None)


def limits_for(
    logs: Sequence[Log], rows: Sequence[Politeness], over: dict[str, Any]
) -> LimitsOf:
    """The limits of the run, or else of the settings, and options over both."""
    own = own_rows(logs)
    policy = Policy(rows if own is None else own)
    access = any(log.kind is Kind.ACCESS for log in logs)
    if "interval" in over:
        over = {**over, "rule": "interval"}

    def limits(host: str, server: str) -> Limits:
        if access and not server:
            server = networks.literal(host) or UNNAMED
        return replace(policy.limits(host, server), **over)

    return limits
