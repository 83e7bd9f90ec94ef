"""Who may write: only a living process, and only of what it holds.

A process cannot be buried while it writes, for its row is locked; and nobody else loses
servers that he did not let go. So what is found held here stays so.
"""

from collections.abc import Collection, Iterable
from enum import Enum, auto
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, select, update

from ronda.store.sql.handing import waiting
from ronda.store.sql.lists import is_listed, is_postgres, listed
from ronda.store.sql.processes import is_alive
from ronda.store.sql.schema import process as processes
from ronda.store.sql.schema import schedule, server, target
from ronda.store.sql.sheets import Current
from ronda.store.sql.values import Entry, HandedOver


class Admission(Enum):
    """What is to be done with a turn."""

    WRITE = auto()
    LEAVE = auto()  # it was written before
    REFUSE = auto()  # its process was buried


def admit(connection: Connection, process: int, number: int) -> Admission:
    """Begin a turn by its number."""
    if number:
        next_one = update(processes).where(
            processes.c.id == process, processes.c.turn < number
        )
        if connection.execute(next_one.values(turn=number)).rowcount:
            return Admission.WRITE
    if not is_alive(connection, process):
        return Admission.REFUSE
    return Admission.LEAVE if number else Admission.WRITE


def held(connection: Connection, process: int, servers: Collection[int]) -> set[int]:
    """Which servers a process holds; nobody changes any of them until it has written.

    That holds for their targets too: whoever changes those locks the servers first.
    """
    if not servers:
        return set()
    sql = _servers(postgres=is_postgres(connection))
    rows = connection.execute(sql, listed(connection, servers))
    return {number for number, holder in rows if holder == process}


@cache
def _servers(*, postgres: bool) -> Select[Any]:
    these = is_listed(server.c.id, postgres=postgres)
    found = select(server.c.id, server.c.holder).where(these).order_by(server.c.id)
    return found.with_for_update(key_share=True)


class Facts:
    """What the store says now of targets about which there is doubt."""

    def __init__(
        self, connection: Connection, process: int, targets: Collection[int]
    ) -> None:
        self._process = process
        self._current: dict[int, Current] = {}
        self._held: set[int] = set()
        self._waiting = waiting(connection, targets) if targets else {}
        if targets:
            self._read(connection, targets)

    def _read(self, connection: Connection, targets: Collection[int]) -> None:
        sql = _targets(postgres=is_postgres(connection))
        rows = connection.execute(sql, listed(connection, targets))
        for number, holder, *values in rows:
            self._current[number] = Current(*values)
            if holder == self._process:
                self._held.add(number)

    def of(self, target_id: int) -> Current | None:
        """What is known of a target; None: it was removed."""
        return self._current.get(target_id)

    def may_end(self, entry: Entry) -> bool:
        """Whether a result may be written: of a visit handed over, or of our own."""
        if not entry.request:
            return entry.due.id in self._held
        row = self._waiting.get(entry.due.id)
        return row is not None and row.id == entry.request and self._is_mine(row)

    def may_hand_over(self, target_id: int) -> bool:
        """Whether a visit may be handed over, or on."""
        row = self._waiting.get(target_id)
        return target_id in self._held if row is None else self._is_mine(row)

    def _is_mine(self, row: Any) -> bool:
        return bool(row.holder == self._process)


@cache
def _targets(*, postgres: bool) -> Select[Any]:
    found = (
        select(
            schedule.c.target_id,
            server.c.holder,
            schedule.c.server_id,
            schedule.c.next_due,
            schedule.c.last_result,
            schedule.c.round_id,
            target.c.state,
            target.c.reason,
            target.c.message,
            target.c.enabled,
            target.c.why_disabled,
        )
        .join(target, target.c.id == schedule.c.target_id)
        .join(server, server.c.id == schedule.c.server_id)
        .where(is_listed(schedule.c.target_id, postgres=postgres))
        .order_by(schedule.c.target_id)
    )
    return found.with_for_update(of=[target, schedule], key_share=True)


def targets_of(ended: Iterable[Entry | HandedOver]) -> list[int]:
    """The numbers of the targets of results or visits."""
    return [one.due.id for one in ended]
