"""Remembers: results, from a run's spool on disk onwards."""

from ronda.store.attic import Attic
from ronda.store.overflow import Overflow
from ronda.store.requestlog import RequestLog
from ronda.store.shelf import Shelf, cache_folder
from ronda.store.spool import Spool

__all__ = [
    "Attic",
    "Overflow",
    "RequestLog",
    "Shelf",
    "Spool",
    "cache_folder",
]
