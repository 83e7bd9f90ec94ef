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

IGNORE_NAME = ".rondaignore"

__all__ = [
    "EVERYTHING",
    "FILE_NAME",
    "IGNORE_NAME",
    "Check",
    "Crawl",
    "Fetch",
    "Frontier",
    "Guard",
    "Politeness",
    "Report",
    "Scope",
    "Settings",
    "default",
    "described",
    "load",
    "section",
]
