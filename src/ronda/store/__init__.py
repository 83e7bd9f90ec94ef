"""Remembers: results, from a run's spool on disk onwards."""
