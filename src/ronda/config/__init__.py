"""ronda.toml as one frozen tree, checked once; unknown keys are errors."""

from ronda.config.politeness import EVERYTHING, Politeness
from ronda.config.reading import FILE_NAME, default, described, load, section
from ronda.config.sections import (
    Check,
    Crawl,
    Fetch,
    Frontier,
    Guard,
    Report,
    Scope,
    Settings,
)
from ronda.config.serving import Control, Notices, Plan, Serve, Store, Tasks
from ronda.config.watching import Intervals, PlannedRound

IGNORE_NAME = ".rondaignore"

__all__ = [
    "EVERYTHING",
    "FILE_NAME",
    "IGNORE_NAME",
    "Check",
    "Control",
    "Crawl",
    "Fetch",
    "Frontier",
    "Guard",
    "Intervals",
    "Notices",
    "Plan",
    "PlannedRound",
    "Politeness",
    "Report",
    "Scope",
    "Serve",
    "Settings",
    "Store",
    "Tasks",
    "default",
    "described",
    "load",
    "section",
]
