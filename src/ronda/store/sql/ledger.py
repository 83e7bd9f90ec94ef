"""Where results are written: turns of a thousand or so, each one transaction.

Most results find their target as it was when it was claimed, and change nothing of it
that people see. So its row is not read again: what moves at every check is written, if
all is still as it was claimed. If it is not, the turn is begun anew, and looks at each
target first.
"""

from collections.abc import Sequence

from sqlalchemy import Connection

from ronda.store.sql import handing, paces, recording, robots
from ronda.store.sql.engines import Database
from ronda.store.sql.fence import Admission, Facts, admit, held, targets_of
from ronda.store.sql.many import new_ids
from ronda.store.sql.releasing import release, set_due
from ronda.store.sql.schema import history
from ronda.store.sql.sheets import Sheet, changes_target, expected, waves
from ronda.store.sql.telling import tell
from ronda.store.sql.values import Entry, Turn, Written


class Ledger:
    """Writes what was found."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, process: int, turn: Turn, now: float) -> Written:
        """Write a turn: all of it, or nothing; and once, however often it is tried.

        What belongs to servers that the process does not hold is refused. What belongs
        to targets that were removed is dropped.
        """
        try:
            return self._write(process, turn, now, careful=False)
        except recording.StaleError:
            return self._write(process, turn, now, careful=True)

    def _write(self, process: int, turn: Turn, now: float, *, careful: bool) -> Written:
        with self._database.writing() as connection:
            recording.prepare(connection)
            match admit(connection, process, turn.number):
                case Admission.LEAVE:
                    return Written()
                case Admission.REFUSE:
                    return Written(tuple(targets_of((*turn.entries, *turn.handed))))
                case Admission.WRITE:
                    writing = _Writing(connection, process, turn)
                    writing.record(careful=careful)
                    writing.hand_over(now)
                    writing.settle(now)
                    return Written(tuple(writing.refused))


class _Writing:
    """One turn in its transaction."""

    def __init__(self, connection: Connection, process: int, turn: Turn) -> None:
        self._connection = connection
        self._process = process
        self._turn = turn
        self._sheets: list[Sheet] = []
        self._ended: list[int] = []  # visits that had been handed over to us
        self.refused: list[int] = []
        self._homes = handing.homes(connection, turn.handed)
        asked = {entry.due.server for entry in turn.entries}
        handed = {one.due.server for one in turn.handed}
        written = {*turn.servers, *turn.released, *self._homes.values()}
        # Where targets live whose visits were handed over to us, and end now.
        carried = [entry.due.id for entry in turn.entries if entry.request]
        self._left = handing.homes_of(connection, carried)
        needed = asked | handed | written | self._left
        self._held = held(connection, process, needed)

    def record(self, *, careful: bool) -> None:
        """Write results."""
        for wave in waves(self._turn.entries):
            sheet = self._sheet(wave, careful=careful or bool(self._sheets))
            recording.write(self._connection, sheet)
            self._sheets.append(sheet)

    def _sheet(self, entries: Sequence[Entry], *, careful: bool) -> Sheet:
        doubtful = entries if careful else list(filter(self._doubts, entries))
        unsure = set(targets_of(doubtful))
        facts = Facts(self._connection, self._process, unsure)
        sheet = Sheet()
        numbers = new_ids(self._connection, history, len(entries))
        for entry, number in zip(entries, numbers, strict=True):
            if entry.due.id not in unsure:
                sheet.add(entry, expected(entry.due), number)
            elif (current := facts.of(entry.due.id)) is None:
                continue  # it was removed
            elif not facts.may_end(entry):
                self.refused.append(entry.due.id)
            else:
                sheet.add(entry, current, number)
                sheet.change(entry, current)
                self._ended.append(entry.request)
        return sheet

    def _doubts(self, entry: Entry) -> bool:
        """Whether a target is to be looked at before its result is written."""
        if entry.request or entry.due.server not in self._held:
            return True
        return entry.next_due is None or changes_target(entry) or bool(entry.notices)

    def hand_over(self, now: float) -> None:
        """Write visits that others carry on."""
        handed = self._turn.handed
        facts = Facts(self._connection, self._process, set(targets_of(handed)))
        ours = []
        for one in handed:
            if facts.of(one.due.id) is None:
                continue
            if facts.may_hand_over(one.due.id):
                ours.append(one)
            else:
                self.refused.append(one.due.id)
        handing.hand_over(self._connection, ours, self._homes, now)

    def settle(self, now: float) -> None:
        """Write what results are not, and let go."""
        connection, process, turn = self._connection, self._process, self._turn
        handing.end(connection, [number for number in self._ended if number])
        released = set(turn.released)
        kept = {n: pace for n, pace in turn.servers.items() if n not in released}
        paces.write_servers(connection, process, kept)
        paces.write_hosts(connection, process, turn.hosts)
        robots.keep(connection, turn.robots, now)
        release(connection, process, released, turn.servers)
        set_due(connection, self._left)
        # Rows that all processes write come last: they wait for each other there.
        recording.count(connection, self._sheets, now)
        tell(connection, [told for sheet in self._sheets for told in sheet.told])
