"""A made-up web and a made-up clock: the real engine runs on both, from a seed.

In comes what a web is like and the settings of a round; out comes how the round would
go (`foretell`), and which rules are broken in many small webs (`check`).
"""

from ronda.simulation.checking import Checked, check
from ronda.simulation.forecast import Forecast, Holder, Progress, Question
from ronda.simulation.planner import foretell
from ronda.simulation.traits import Traits

__all__ = [
    "Checked",
    "Forecast",
    "Holder",
    "Progress",
    "Question",
    "Traits",
    "check",
    "foretell",
]
