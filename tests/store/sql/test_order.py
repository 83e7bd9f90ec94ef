"""Whatever happens to a store, and in whatever order: it stays in order."""

import io
from pathlib import Path
from random import Random

import pytest

from ronda.model import Result, Standing, State
from ronda.store.sql.adding import Given, key_of
from ronda.store.sql.catalogue import Query
from ronda.store.sql.claims import Claims
from ronda.store.sql.engines import Database
from ronda.store.sql.ledger import Ledger
from ronda.store.sql.owners import Owners
from ronda.store.sql.rounds import Rounds
from ronda.store.sql.schema import OPERATOR
from ronda.store.sql.transfer import Transfer
from ronda.store.sql.upkeep import Upkeep
from ronda.store.sql.values import Claimed, Due, Entry, Pace, Turn
from ronda.store.sql.watching import Watches
from servers.databases import ENGINES, Databases
from stores import DAY, HOUR, NOW

STEPS = 120
HOSTS, PATHS, ADDRESSES = 6, 5, 3


class World:
    """A store, and all who use it, at random."""

    def __init__(self, database: Database, seed: int) -> None:
        self.random = Random(seed)
        self.now = NOW
        self.watches = Watches(database)
        self.claims = Claims(database)
        self.ledger = Ledger(database)
        self.rounds = Rounds(database)
        self.upkeep = Upkeep(database)
        other, _ = Owners(database).add("other", now=NOW)
        self.owners = [OPERATOR, other.id]
        self.held: dict[int, dict[int, Claimed]] = {}  # by process and server
        self.actions = (
            (self.register, 4),
            (self.unregister, 1),
            (self.switch, 1),
            (self.check_now, 1),
            (self.begin_round, 1),
            (self.join, 1),
            (self.claim, 6),
            (self.write, 8),
            (self.grant, 2),
            (self.die, 1),
            (self.wait, 3),
            (self.prune, 1),
        )

    def step(self) -> str:
        """Do something; what it was."""
        actions, weights = zip(*self.actions, strict=True)
        [action] = self.random.choices(actions, weights)
        action()
        return str(action.__name__)

    def register(self) -> None:
        self.watches.register(self._owner(), self._some(), self.now)

    def unregister(self) -> None:
        self.watches.unregister(self._owner(), self._keys())

    def switch(self) -> None:
        if self.random.random() < 0.5:
            self.watches.disable(self._keys(), "a test")
        else:
            self.watches.enable(self._keys(), self.now)

    def check_now(self) -> None:
        self.watches.check_now(self._keys(), self.now, forced=self._maybe())

    def begin_round(self) -> None:
        query = Query(host=f"h{self.random.randrange(HOSTS)}.test")
        self.rounds.begin("round", query, self.now, forced=self._maybe())

    def join(self) -> None:
        self.held[self.claims.join(10, self.now)] = {}

    def claim(self) -> None:
        if not self.held:
            self.join()
        process = self.random.choice(list(self.held))
        for found in self.claims.claim(process, self.now, count=2, length=3):
            self.held[process][found.id] = found

    def write(self) -> None:
        if (process := self._worker()) is None:
            return
        number = self.random.choice(list(self.held[process]))
        server = self.held[process].pop(number)
        pace = Pace(self.now, self.now + self.random.choice((0.0, 1.0, HOUR)))
        due = [one for one in server.due if self.random.random() < 0.8]
        turn = Turn(
            entries=tuple(map(self._entry, due)),
            hosts=dict.fromkeys(server.hosts, pace),
            servers={number: pace},
            released=(number,),
        )
        self.ledger.write(process, turn, self.now)

    def grant(self) -> None:
        if (process := self._worker()) is None:
            return
        server = self.random.choice(list(self.held[process].values()))
        address = f"10.0.0.{self.random.randrange(ADDRESSES)}"
        for host in list(server.hosts)[:1]:
            granted = self.claims.grant(process, host, address, self.now)
            if granted is not None:
                self.held[process][granted.id] = granted

    def die(self) -> None:
        if self.held:
            self.held.pop(self.random.choice(list(self.held)))

    def wait(self) -> None:
        self.now += self.random.choice((1.0, 60.0, HOUR, DAY))
        for process in list(self.held):
            if not self.claims.renew(process, self.now, 30.0, 0, 0):
                self.held.pop(process)

    def prune(self) -> None:
        self.upkeep.prune(self.now, self.random.choice((HOUR, DAY, 100 * DAY)))

    def _entry(self, due: Due) -> Entry:
        state = self.random.choice((State.OK, State.OK, State.BROKEN, State.TEMPORARY))
        result = Result(url=due.url, verdict=state, reason=f"{state}_x", message="")
        changed = state != due.standing.state
        standing = Standing(state, result.reason, last_check_at=self.now)
        later = self.now + self.random.choice((0.0, HOUR, DAY))
        return Entry(
            due=due,
            result=result,
            at=self.now,
            standing=standing,
            next_due=later,
            notices=("change",) if changed else (),
        )

    def _worker(self) -> int | None:
        workers = [process for process, servers in self.held.items() if servers]
        return self.random.choice(workers) if workers else None

    def _owner(self) -> int:
        return self.random.choice(self.owners)

    def _maybe(self) -> bool:
        return self.random.random() < 0.5

    def _some(self) -> list[Given]:
        hosts = [f"h{self.random.randrange(HOSTS)}.test" for _ in range(3)]
        return [
            Given(f"http://{host}/{self.random.randrange(PATHS)}", host, "http")
            for host in hosts
        ]

    def _keys(self) -> list[int]:
        return [key_of(one.url) for one in self._some()]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_store_stays_in_order(
    database: Database, databases: Databases, tmp_path: Path, seed: int
) -> None:
    world = World(database, seed)
    done: list[str] = []
    for number in range(1, STEPS + 1):
        done.append(world.step())
        if number % 10 == 0:
            assert Upkeep(database).check() == [], done

    to = io.BytesIO()
    Transfer(database).export(to)
    for engine in ENGINES:
        with databases.fresh(engine, tmp_path / f"{engine}.db") as where:
            other = Database(where)
            Transfer(other).load(io.BytesIO(to.getvalue()), "other")
            assert Upkeep(other).check() == []
            other.close()
