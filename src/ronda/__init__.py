"""Ronda: a polite watchman for everything reachable by URL."""

__version__ = "0.1.0"
