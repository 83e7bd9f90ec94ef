"""Interfaces over sockets: questions come in, answers about a run go out."""

from ronda.server.control import Control, Reply, ask_all

__all__ = ["Control", "Reply", "ask_all"]
