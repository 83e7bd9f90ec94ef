"""Was a run polite? Logs come in as entries, a judgement with its evidence goes out."""

from ronda.frontier.audit.entries import Entry, Requests
from ronda.frontier.audit.formats import KNOWN, LogFormat
from ronda.frontier.audit.judgement import RESOLUTION, LimitsOf, audit, judge
from ronda.frontier.audit.outcome import Audit, Mention, Tally, Violation
from ronda.frontier.audit.reading import Kind, Log

__all__ = [
    "KNOWN",
    "RESOLUTION",
    "Audit",
    "Entry",
    "Kind",
    "LimitsOf",
    "Log",
    "LogFormat",
    "Mention",
    "Requests",
    "Tally",
    "Violation",
    "audit",
    "judge",
]
