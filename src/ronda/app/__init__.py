"""The only place that wires concrete parts together: runs, crawls, and the watch."""

from ronda.app.checking import (
    Extras,
    carry_out,
    check,
    crawl,
    crawl_extras,
    robots_of,
    scope,
)

__all__ = [
    "Extras",
    "carry_out",
    "check",
    "crawl",
    "crawl_extras",
    "robots_of",
    "scope",
]
