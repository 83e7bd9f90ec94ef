"""Keeping a store in order: looked over, put right, pruned, copied."""

from pathlib import Path

from ronda.store.sql import ahead, checking, copies, pruning
from ronda.store.sql.engines import Database


class Upkeep:
    """What an operator does to a store, now and then; a daemon may go on meanwhile."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def check(self, tell: checking.Tell | None = None) -> list[str]:
        """What is wrong, in words; `tell` is told what is looked at meanwhile."""
        now = self._database.epoch()
        return checking.check(self._database, tell or _unheard, now)

    def pull_back(self) -> ahead.PulledBack:
        """Put right what a clock that was ahead has written."""
        return ahead.pull_back(self._database, self._database.epoch)

    def prune(
        self, now: float, retention: float, *, compact: bool = False
    ) -> pruning.Pruned:
        """Forget results older than so many seconds, and what nobody needs.

        Args:
            now: the moment.
            retention: seconds.
            compact: also give the space back; it takes long, and others wait for it.
        """
        pruned = pruning.prune(self._database, now, retention)
        if compact:
            pruning.compact(self._database)
        return pruned

    def backup(self, path: Path) -> None:
        """Copy the store into a new file."""
        copies.backup(self._database, path)

    def restore(self, path: Path) -> None:
        """Fill an empty store from a backup or an export."""
        copies.restore(self._database, path)


def _unheard(_: str) -> None:
    pass
