"""Remembers: results, from a run's spool on disk onwards."""

from ronda.store.spool import Spool

__all__ = ["Spool"]
