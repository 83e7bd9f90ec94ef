"""Asks: a request and an address come in, an answer with its evidence comes out."""

from ronda.fetch.asker import Asker
from ronda.fetch.guard import Guard
from ronda.fetch.names import Names

__all__ = ["Asker", "Guard", "Names"]
