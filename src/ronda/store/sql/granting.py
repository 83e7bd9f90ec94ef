"""A host found at an address: where it lives from now on, and who may ask it there."""

from typing import Any

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from ronda.store.sql.homes import MovedError
from ronda.store.sql.schema import UNRESOLVED, host, request, schedule, server, target


def grant(
    connection: Connection, process: int, name: str, address: str, now: float
) -> Any | None:
    """The server of a host as it was, from now on held by the process; None: not ours.

    - The host lives at a server that another process holds: it stays there, whatever
      its address, for only that process knows when it may be asked.
    - Its server has no address yet, and nobody has this one: it is its address now.
    - It lives elsewhere: it moves, with all its targets, and its new server is held if
      nobody else holds it.

    Raises:
        MovedError: another process was faster; begin anew.
    """
    found = select(host.c.id, host.c.server_id).where(host.c.name == name)
    home = connection.execute(found).one_or_none()
    there = connection.scalar(select(server.c.id).where(server.c.address == address))
    if home is None:
        return _hold(connection, process, _begin(connection, name, address, there))
    rows = _locked(connection, {home.server_id, there} - {None})
    if connection.execute(found.with_for_update(key_share=True)).one_or_none() != home:
        raise MovedError
    old = rows.get(home.server_id)
    if old is None or old.holder not in {None, process}:
        return None
    if there is None and old.address == UNRESOLVED + name:
        _resolve(connection, old.id, address)
        return _hold(connection, process, old.id)
    if there is None:
        there = _new_server(connection, address)
    if there != old.id:
        _move(connection, home, there, alone=old.address == UNRESOLVED + name)
    held = _hold(connection, process, there)
    if old.inherited or (held is None and old.holder is not None):
        # We, or one who died, may have asked it until now, and nobody has written it.
        left = update(host).where(host.c.id == home.id).values(asked_at=now)
        connection.execute(left)
    return held


def _locked(connection: Connection, numbers: set[Any]) -> dict[int, Any]:
    rows = select(server).where(server.c.id.in_(numbers)).order_by(server.c.id)
    found = connection.execute(rows.with_for_update(key_share=True))
    return {row.id: row for row in found}


def _begin(connection: Connection, name: str, address: str, there: int | None) -> int:
    """A host that is new, such as one that a redirect leads to."""
    number = _new_server(connection, address) if there is None else there
    _insert(connection, insert(host).values(name=name, server_id=number))
    return number


def _new_server(connection: Connection, address: str) -> int:
    row = insert(server).values(address=address).returning(server.c.id)
    return int(_insert(connection, row).scalar_one())


def _insert(connection: Connection, row: Any) -> Any:
    try:
        return connection.execute(row)
    except IntegrityError as error:
        raise MovedError from error


def _resolve(connection: Connection, number: int, address: str) -> None:
    found = update(server).where(server.c.id == number).values(address=address)
    _insert(connection, found)


def _move(connection: Connection, home: Any, there: int, *, alone: bool) -> None:
    """Let a host live elsewhere.

    Args:
        connection: a transaction.
        home: the host, and the server that it leaves.
        there: the server it moves to.
        alone: no other host lives where it comes from.
    """
    moved = {"server_id": there}
    connection.execute(update(host).where(host.c.id == home.id).values(moved))
    due = update(schedule).where(schedule.c.server_id == home.server_id)
    if not alone:
        targets = select(target.c.id).where(target.c.host_id == home.id)
        due = due.where(schedule.c.target_id.in_(targets))
    connection.execute(due.values(moved))
    if alone:  # else who holds it learns from the visit that the host has moved
        visits = update(request).where(request.c.server_id == home.server_id)
        connection.execute(visits.values(moved))


def _hold(connection: Connection, process: int, number: int) -> Any | None:
    """Hold a server; None: another process does."""
    row = select(server).where(server.c.id == number).with_for_update(key_share=True)
    found = connection.execute(row).one()
    if found.holder is None:
        held = update(server).where(server.c.id == number)
        connection.execute(held.values(holder=process))
    return found if found.holder in {None, process} else None
