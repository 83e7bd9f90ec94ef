"""A store with targets to watch, and results for them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Table, insert, select, update

from ronda import urls
from ronda.model import Request, Result, State, Target, Timings, Visit
from ronda.store.sql import loading, schema, tallies
from ronda.store.sql.claims import Claims
from ronda.store.sql.engines import Database
from ronda.store.sql.ledger import Ledger
from ronda.store.sql.values import Claimed, Due, Entry, HandedOver, Turn

NOW = 1_800_000_000.0
HOUR, DAY = 3600.0, 86_400.0
LATER = NOW + DAY


class Office:
    """A store, and everything a process does with it."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.claims = Claims(database)
        self.ledger = Ledger(database)

    # -- to begin with ---------------------------------------------------------

    def watch(
        self,
        *given: str,
        at: Mapping[str, str] | None = None,
        owners: Sequence[int] = (schema.OPERATOR,),
        due: float | None = NOW - 10,
    ) -> list[int]:
        """Put targets there; their numbers.

        Args:
            given: their URLs.
            at: addresses of hosts, those that are known.
            owners: who watches them.
            due: when they are.
        """
        with self.database.writing() as connection:
            numbers = []
            for url in given:
                name = urls.host_key(url)
                address = (at or {}).get(name, schema.UNRESOLVED + name)
                place = _once(connection, schema.server, address=address)
                home = _once(connection, schema.host, name=name, server_id=place)
                row = {"key": hash(url), "url": url, "scheme": "http", "host_id": home}
                number = _once(connection, schema.target, **row, added_at=NOW - DAY)
                numbers.append(number)
                row = {"target_id": number, "server_id": place, "next_due": due}
                connection.execute(insert(schema.schedule).values(row))
                soonest = update(schema.server).where(schema.server.c.id == place)
                connection.execute(soonest.values(due_at=due))
                for who in owners:
                    seen = {"owner_id": who, "target_id": number, "added_at": NOW}
                    connection.execute(insert(schema.watch).values(seen))
            tallies.recount(connection)
        return numbers

    def in_order(self) -> None:
        """Let the servers be due one after the other, as they are numbered."""
        for row in self.rows(schema.server):
            self.set(schema.server, row.id, due_at=NOW - 1000 + row.id)

    def owner(self, name: str, *, callback: str = "http://127.0.0.1/") -> int:
        """Another owner, who is told of changes; his number."""
        row = {"name": name, "callback": callback, "added_at": NOW}
        with self.database.writing() as connection:
            loading.go_on(connection, [schema.owner])
            return _once(connection, schema.owner, **row)

    # -- what a process does -----------------------------------------------------

    def join(self, now: float = NOW, seconds: float = 30.0) -> int:
        """A new process, which is alive for so long."""
        return self.claims.join(10, now, seconds)

    def bury(self, *processes: int) -> int:
        """Take processes for dead; how many were buried."""
        signs = self.claims.signs()
        return self.claims.bury({number: signs[number] for number in processes})

    def claim(self, process: int, now: float = NOW, **options: Any) -> list[Claimed]:
        """Whatever it can have."""
        return self.claims.claim(
            process, now, **({"count": 100, "length": 100} | options)
        )

    def take(self, process: int, now: float = NOW) -> dict[str, Due]:
        """What is due of all that it can have, by URL."""
        found = self.claim(process, now)
        return {due.url: due for one in found for due in one.due}

    def write(
        self, process: int, *entries: Entry, now: float = NOW, **others: Any
    ) -> tuple[int, ...]:
        """Write results; the targets of those that were refused."""
        turn = Turn(entries=entries, **others)
        return self.ledger.write(process, turn, now).refused

    # -- what there is -----------------------------------------------------------

    def rows(self, table: Table, **where: Any) -> list[Any]:
        """Rows of a table, in the order of their keys."""
        conditions = [table.c[name] == value for name, value in where.items()]
        query = select(table).where(*conditions).order_by(*table.primary_key)
        with self.database.reading() as connection:
            return list(connection.execute(query).all())

    def row(self, table: Table, **where: Any) -> Any:
        """The only one."""
        [found] = self.rows(table, **where)
        return found

    def set(self, table: Table, number: int, **values: Any) -> None:
        """Change a row."""
        [key, *_] = table.primary_key
        with self.database.writing() as connection:
            connection.execute(update(table).where(key == number).values(values))

    def everything(self) -> dict[str, list[Any]]:
        """All rows of all tables."""
        return {t.name: self.rows(t) for t in schema.metadata.sorted_tables}

    def is_sound(self) -> bool:
        """Whether tallies are what is counted."""
        with self.database.reading() as connection:
            return tallies.kept(connection) == tallies.counted(connection)


def _once(connection: Any, table: Table, **values: Any) -> int:
    """The number of a row, which is put there if it is not."""
    [unique] = [c for c in table.columns if c.unique]
    known = select(table.c.id).where(unique == values[unique.name])
    found = connection.scalar(known)
    if found is None:
        new = insert(table).values(values).returning(table.c.id)
        found = connection.execute(new).scalar_one()
    return int(found)


def entry(due: Due, state: State = State.OK, **others: Any) -> Entry:
    """A result of a target, and what follows from it."""
    at = others.pop("at", NOW + 1)
    words = {"reason": others.pop("reason", f"http_{state}")}
    words |= {"message": others.pop("message", str(state))}
    before = due.standing
    changed = state is not before.state
    standing = replace(
        before,
        state=state,
        **words,
        last_check_at=at,
        last_change_at=at if changed else before.last_change_at,
        repeats=0 if changed else before.repeats + 1,
        **others.pop("standing", {}),
    )
    result = Result(
        url=due.url,
        verdict=state,
        **words,
        status=200,
        address="127.0.0.1",
        timings=Timings(0.1, 0.2, 0.3, 0.4, 0.5),
    )
    options = {"next_due": at + DAY, "notices": ("change",) if changed else ()}
    return Entry(due, result, at, standing, **(options | others))


def entries(found: Iterable[Due], state: State = State.OK) -> list[Entry]:
    """Results of targets."""
    return [entry(due, state) for due in found]


def visit(url: str, host: str = "") -> Visit:
    """A visit under way."""
    name = host or urls.host_key(url)
    return Visit(Target(url, urls.host_key(url)), Request(f"http://{name}/"), name)


def handed(due: Due, host: str) -> HandedOver:
    """A visit that is to be carried on at a host."""
    return HandedOver(due, host, visit(due.url, host))
