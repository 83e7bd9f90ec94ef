"""The control socket: commands come in a line each, replies go out in HR or JSON."""

from ronda.server.console.listening import Console
from ronda.server.console.monitor import Monitor

__all__ = ["Console", "Monitor"]
