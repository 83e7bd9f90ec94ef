"""Judges: a visit and an answer come in, the next request or a verdict goes out."""

from ronda.probes.faults import fault
from ronda.probes.fragments import judge_fragment
from ronda.probes.handler import Handler
from ronda.probes.reasons import REASONS, http_verdict, verdict
from ronda.probes.registry import SCHEMES, Handlers, Unsupported

__all__ = [
    "REASONS",
    "SCHEMES",
    "Handler",
    "Handlers",
    "Unsupported",
    "fault",
    "http_verdict",
    "judge_fragment",
    "verdict",
]
