"""The passage: a filtering proxy, the only way of a program to the network."""

from ronda.fetch.passage.door import Passage
from ronda.fetch.passage.pacing import Gap
from ronda.fetch.passage.permit import Permit, Told

__all__ = ["Gap", "Passage", "Permit", "Told"]
