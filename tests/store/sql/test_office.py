"""Whatever processes do, and in whatever order: nothing is lost, nothing is twice.

Processes join, claim, write, hand over, find hosts at addresses, fall silent, and are
buried; people switch targets off and on. After each step the store agrees with itself,
and with what each process was told.
"""

from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from processes import NOW, Office, entry, handed
from ronda.model import State
from ronda.store.sql import checking
from ronda.store.sql.engines import Database
from ronda.store.sql.schema import history, host, process, request, schedule, server
from ronda.store.sql.schema import target as targets
from ronda.store.sql.values import Due, Entry, HandedOver, Pace, Turn
from servers.databases import ENGINES, POSTGRESQL, Databases

HOSTS = [f"h{n}.test" for n in range(4)]
URLS = [f"http://{name}/{n}" for name in HOSTS for n in range(3)]
ADDRESSES = ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
LEASE = 30.0
pick = st.integers(0, 10**6)
states = st.sampled_from([State.OK, State.BROKEN, State.WARNING, State.UNKNOWN])


class Ran:
    """A process, and what it believes."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.servers: set[int] = set()
        self.due: dict[int, Due] = {}
        self.queued: dict[int, int] = {}  # target → the visit that it ends
        self.turn = 0


class Processes(RuleBasedStateMachine):
    """Some processes over a dozen targets."""

    url = ""

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        self.office = Office(self._open())
        self.targets = self.office.watch(*URLS, at={HOSTS[0]: ADDRESSES[0]})
        self.now = NOW
        self.ran: list[Ran] = []
        self.gone: list[Ran] = []
        self.written = 0

    def _open(self) -> Database:
        raise NotImplementedError

    def teardown(self) -> None:
        self.office.database.close()
        self._stack.close()

    def one(self, number: int) -> Ran:
        return self.ran[number % len(self.ran)]

    # -- what happens --------------------------------------------------------------

    @precondition(lambda self: len(self.ran) < 4)
    @rule()
    def join(self) -> None:
        self.ran.append(Ran(self.office.join(self.now, LEASE)))

    @precondition(lambda self: self.ran)
    @rule(number=pick, count=st.integers(1, 4), length=st.integers(0, 3))
    def claim(self, number: int, count: int, length: int) -> None:
        ran = self.one(number)
        for found in self.office.claim(
            ran.number, self.now, count=count, length=length
        ):
            held = [one for one in self._alive() if found.id in one.servers]
            assert not held, "two hold one server"
            ran.servers.add(found.id)
            self._take(ran, list(found.due))
        self._forget_buried()

    @precondition(lambda self: self.ran)
    @rule(number=pick, which=pick)
    def more(self, number: int, which: int) -> None:
        ran = self.one(number)
        if ran.servers:
            place = sorted(ran.servers)[which % len(ran.servers)]
            held = set(ran.due)
            found = self.office.claims.more(
                ran.number, place, self.now, count=2, held=held
            )
            assert not held & {due.id for due in found}
            self._take(ran, found)

    @precondition(lambda self: self.ran)
    @rule(number=pick)
    def carry_on(self, number: int) -> None:
        ran = self.one(number)
        for queued in self.office.claims.requests(ran.number):
            if queued.due.id not in ran.due:
                ran.due[queued.due.id] = queued.due
                ran.queued[queued.due.id] = queued.id

    def _take(self, ran: Ran, found: list[Due]) -> None:
        for due in found:
            ran.due[due.id] = due
            ran.queued.pop(due.id, None)

    @precondition(lambda self: self.ran)
    @rule(
        number=pick,
        some=st.sets(st.integers(0, len(URLS)), max_size=4),
        state=states,
        lets_go=st.booleans(),
        again=st.booleans(),
    )
    def write(
        self, number: int, some: set[int], state: State, lets_go: bool, again: bool
    ) -> None:
        ran = self.one(number)
        found = [self._entry(ran, n, state) for n in some & ran.due.keys()]
        for one in found:
            del ran.due[one.due.id]
            ran.queued.pop(one.due.id, None)
        released = ran.servers if lets_go else set()
        paces = {n: Pace(self.now, self.now + 1) for n in ran.servers}
        self._write(ran, found, (), tuple(released), paces, again=again)
        if lets_go:
            ran.servers, ran.due, ran.queued = set(), {}, {}

    def _entry(self, ran: Ran, number: int, state: State) -> Entry:
        due, queued = ran.due[number], ran.queued.get(number, 0)
        off = {"enabled": False, "why_disabled": "failures"}
        options: dict[str, Any] = {"at": self.now, "request": queued}
        if state is State.BROKEN and due.standing.enabled:
            options |= {"standing": off, "notices": ("change", "disabled")}
        return entry(due, state, **options, next_due=self.now + 45)

    def _write(
        self,
        ran: Ran,
        found: list[Entry],
        given: tuple[HandedOver, ...],
        released: tuple[int, ...],
        paces: dict[int, Pace],
        *,
        again: bool,
    ) -> None:
        ran.turn += 1
        turn = Turn(
            number=ran.turn,
            entries=tuple(found),
            handed=given,
            servers=paces,
            released=released,
        )
        for _ in range(1 + again):
            refused = self.office.ledger.write(ran.number, turn, self.now).refused
            self.written += 0 if _ else len(found) - len(refused)
            assert ran not in self.gone or set(refused) == {
                one.due.id for one in (*found, *given)
            }

    @precondition(lambda self: self.ran)
    @rule(number=pick, which=pick, name=st.sampled_from([*HOSTS, "new.test"]))
    def hand_over(self, number: int, which: int, name: str) -> None:
        ran = self.one(number)
        if ran.due:
            due = ran.due.pop(sorted(ran.due)[which % len(ran.due)])
            ran.queued.pop(due.id, None)
            self._write(ran, [], (handed(due, name),), (), {}, again=False)

    @precondition(lambda self: self.ran)
    @rule(
        number=pick,
        name=st.sampled_from([*HOSTS, "new.test"]),
        address=st.sampled_from(ADDRESSES),
    )
    def grant(self, number: int, name: str, address: str) -> None:
        ran = self.one(number)
        found = self.office.claims.grant(ran.number, name, address, self.now)
        if found is not None:
            held = [one for one in self._alive() if found.id in one.servers]
            assert held in ([], [ran]), "two hold one server"
            assert name in found.hosts
            ran.servers.add(found.id)

    @rule(seconds=st.sampled_from([1.0, 10.0, 50.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @precondition(lambda self: self.ran)
    @rule(number=pick, renews=st.booleans())
    def fall_silent(self, number: int, renews: bool) -> None:
        """A process is taken for dead; it may have renewed in time."""
        ran, signs = self.one(number), self.office.claims.signs()
        self.now += 1
        if renews:
            self.office.claims.renew(ran.number, self.now, LEASE, 0, 0)
        gone = self.office.claims.bury({ran.number: signs[ran.number]})
        assert gone == (not renews)
        self._forget_buried()

    @precondition(lambda self: self.gone)
    @rule(number=pick, state=states)
    def write_late(self, number: int, state: State) -> None:
        ran = self.gone[number % len(self.gone)]
        found = [self._entry(ran, n, state) for n in sorted(ran.due)]
        refused = self.office.write(ran.number, *found, released=tuple(ran.servers))
        assert set(refused) == ran.due.keys()

    @precondition(lambda self: self.ran)
    @rule(number=pick)
    def leave(self, number: int) -> None:
        ran = self.one(number)
        self.office.claims.leave(ran.number)
        self._forget_buried()

    @rule(number=pick, on=st.booleans())
    def switch(self, number: int, on: bool) -> None:
        """A person switches a target off, or on."""
        chosen = self.targets[number % len(self.targets)]
        self.office.set(targets, chosen, enabled=on, why_disabled="" if on else "me")
        self.office.set(schedule, chosen, next_due=self.now if on else None)
        place = self.office.row(schedule, target_id=chosen).server_id
        due_at = self.office.row(server, id=place).due_at
        if on and (due_at is None or due_at > self.now):
            self.office.set(server, place, due_at=self.now)

    # -- what is always so ---------------------------------------------------------

    def _alive(self) -> list[Ran]:
        rows = {row.id for row in self.office.rows(process)}
        return [ran for ran in self.ran if ran.number in rows]

    def _forget_buried(self) -> None:
        alive = self._alive()
        self.gone += [ran for ran in self.ran if ran not in alive]
        self.ran = alive

    @invariant()
    def who_holds_is_alive_and_knows_it(self) -> None:
        held = {row.id: row.holder for row in self.office.rows(server) if row.holder}
        known = {n: ran.number for ran in self._alive() for n in ran.servers}
        assert held == known

    @invariant()
    def each_result_is_written_once(self) -> None:
        rows = self.office.rows(history)
        assert len(rows) == self.written
        previous = [row.previous for row in rows if row.previous]
        assert len(previous) == len(set(previous))
        last = {row.target_id: row.id for row in rows}
        kept = {row.target_id: row.last_result for row in self.office.rows(schedule)}
        assert {n: kept[n] for n in last} == last

    @invariant()
    def the_store_agrees_with_itself(self) -> None:
        assert checking.check(self.office.database, lambda _words: None, self.now) == []

    @invariant()
    def what_is_due_can_be_had(self) -> None:
        """By who holds its server, or because that is free and due as well."""
        waits = {row.target_id for row in self.office.rows(request)}
        places = {row.id: row for row in self.office.rows(server)}
        for row in self.office.rows(schedule):
            place = places[row.server_id]
            due = row.next_due is not None and row.target_id not in waits
            if due and place.holder is None:
                assert place.due_at <= max(row.next_due, place.next_at)
        homes = {row.server_id for row in self.office.rows(host)}
        assert homes <= places.keys()


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_lost_and_nothing_is_twice(
    engine: str, databases: Databases, tmp_path: Path
) -> None:
    numbers = count()

    class OnEngine(Processes):
        def _open(self) -> Database:
            path = tmp_path / f"{next(numbers)}.db"
            return Database(self._stack.enter_context(databases.fresh(engine, path)))

    run_state_machine_as_test(
        OnEngine,
        settings=settings(
            max_examples=4 if engine == POSTGRESQL else 12,
            stateful_step_count=25,
            deadline=None,
            phases=[Phase.explicit, Phase.reuse, Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
