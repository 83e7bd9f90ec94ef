"""Real servers on loopback, one a file, for tests that need the real thing.

Each is a context manager that takes free ports, waits until it answers and ends what
it started. `tests/conftest.py` has a session fixture for each.
"""
