"""What is to be written, gathered until there is enough of it."""

from ronda.store.sql.values import Entry, HandedOver, Pace, Turn


class Turns:
    """Collects, and gives all of it away as one turn."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.hosts: dict[str, Pace] = {}
        self.servers: dict[int, Pace] = {}
        self.robots: dict[str, bytes] = {}
        self.handed: list[HandedOver] = []
        self._number = 0  # of the last turn

    def __bool__(self) -> bool:
        """Whether anything is to be written."""
        return bool(
            self.entries or self.hosts or self.servers or self.robots or self.handed
        )

    def cut(self, most: int) -> Turn:
        """All there is, but of the results only so many."""
        self._number += 1
        turn = Turn(
            number=self._number,
            entries=tuple(self.entries[:most]),
            hosts=self.hosts,
            servers=self.servers,
            robots=self.robots,
            handed=tuple(self.handed),
        )
        self.entries = self.entries[most:]
        self.hosts, self.servers, self.robots, self.handed = {}, {}, {}, []
        return turn
