"""Whatever owners do, one after the other or at once: nothing is lost, nor doubled."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import delete, select

from ronda.errors import UsageError
from ronda.model import State
from ronda.store.sql import schema
from ronda.store.sql.checking import check
from ronda.store.sql.engines import Database
from ronda.store.sql.owners import Owners
from ronda.store.sql.schema import OPERATOR
from ronda.store.sql.watching import Watches
from watched import NOW, found, is_counted_right, keys, number, rows, wanted

URLS = [f"http://{host}.test/{n}" for host in "ab" for n in range(4)]
NAMES = ["operator", "press", "shop"]

some_urls = st.lists(st.sampled_from(URLS), max_size=6)
names = st.sampled_from(NAMES)


class Registry(RuleBasedStateMachine):
    """A store, and what should be in it: who watches what, and in which state."""

    database: Database

    @initialize()
    def begin(self) -> None:
        with self.database.writing() as connection:
            for table in reversed(schema.metadata.sorted_tables):
                where = schema.owner.c.id != OPERATOR
                connection.execute(
                    delete(table).where(where)
                    if table is schema.owner
                    else delete(table)
                )
        self.owners = Owners(self.database)
        self.watches = Watches(self.database)
        self.watched: dict[str, set[str]] = {"operator": set()}
        self.states: dict[str, State] = {}

    def _id(self, name: str) -> int:
        return self.owners.find(name).id

    def _tidy(self) -> None:
        left = set().union(*self.watched.values())
        self.states = {url: state for url, state in self.states.items() if url in left}

    @rule(name=names)
    def add_owner(self, name: str) -> None:
        if name in self.watched:
            with pytest.raises(UsageError):
                self.owners.add(name, now=NOW)
        else:
            self.owners.add(name, now=NOW)
            self.watched[name] = set()

    @rule(name=names)
    def remove_owner(self, name: str) -> None:
        if name == "operator" or name not in self.watched:
            with pytest.raises(UsageError):
                self.owners.remove(name)
        else:
            assert self.owners.remove(name) == len(self.watched.pop(name))
            self._tidy()

    @rule(name=names, urls=some_urls)
    def register(self, name: str, urls: list[str]) -> None:
        if name in self.watched:
            told = self.watches.register(self._id(name), wanted(*urls), NOW)
            for url in urls:
                self.states.setdefault(url, State.UNKNOWN)
            self.watched[name] |= set(urls)
            assert [(k.url, k.state) for k in told] == [
                (url, self.states[url]) for url in urls
            ]

    @rule(name=names, urls=some_urls)
    def unregister(self, name: str, urls: list[str]) -> None:
        if name in self.watched:
            dropped = self.watches.unregister(self._id(name), keys(*urls))
            assert dropped == len(self.watched[name] & set(urls))
            self.watched[name] -= set(urls)
            self._tidy()

    @rule(name=names, urls=some_urls)
    def sync(self, name: str, urls: list[str]) -> None:
        if name in self.watched:
            synced = self.watches.sync(self._id(name), wanted(*urls), NOW)
            before = self.watched[name]
            assert synced.new == len(set(urls) - before)
            assert synced.dropped == len(before - set(urls))
            self.watched[name] = set(urls)
            for url in urls:
                self.states.setdefault(url, State.UNKNOWN)
            self._tidy()

    @rule(url=st.sampled_from(URLS), state=st.sampled_from(State))
    def check(self, url: str, state: State) -> None:
        if url in self.states:
            found(self.database, url, state=state.value, last_change_at=NOW)
            self.states[url] = state

    @rule(name=names, urls=some_urls)
    def acknowledge(self, name: str, urls: list[str]) -> None:
        if name in self.watched:
            marked = self.watches.acknowledge(self._id(name), keys(*urls))
            assert marked == len(self.watched[name] & set(urls))

    @rule(urls=some_urls)
    def steer(self, urls: list[str]) -> None:
        there = len(set(urls) & self.states.keys())
        assert self.watches.disable(keys(*urls), "") == there
        assert self.watches.enable(keys(*urls), NOW) == there

    @invariant()
    def what_is_there_is_what_should_be(self) -> None:
        if not hasattr(self, "states"):
            return
        target, watch, owner = schema.target.c, schema.watch.c, schema.owner.c
        there = rows(self.database, target.url, target.state)
        assert there == sorted((url, s.value) for url, s in self.states.items())
        with self.database.reading() as connection:
            watching = (
                select(owner.name, target.url)
                .join_from(schema.watch, schema.owner, owner.id == watch.owner_id)
                .join(schema.target, target.id == watch.target_id)
            )
            pairs = {tuple(row) for row in connection.execute(watching)}
        assert pairs == {(n, url) for n, urls in self.watched.items() for url in urls}
        assert number(self.database, schema.schedule) == len(self.states)
        assert is_counted_right(self.database)


def test_whatever_owners_do_the_store_has_what_it_should(database: Database) -> None:
    machine = type("Machine", (Registry,), {"database": database})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=15, stateful_step_count=20, deadline=None, derandomize=True
        ),
    )
    assert check(database, lambda _words: None, NOW + 9999) == []


# -- several processes at once ----------------------------------------------------

PROCESSES = 4
URLS_OF_ALL = [f"http://h{n % 13}.test/{n}" for n in range(400)]
BEGIN = """
import sys
from random import Random
sys.path[:0] = [sys.argv[3]]
from ronda.store.sql.adding import Adding
from ronda.store.sql.engines import Database
from ronda.store.sql.watching import Watches
from watched import NOW, keys, wanted
number = int(sys.argv[2])
database = Database(sys.argv[1])
watches = Watches(database)
chance = Random(number)
urls = [f"http://h{n % 13}.test/{n}" for n in range(400)]
print("ready", flush=True)
sys.stdin.readline()
"""
ALL_SORTS = """
for turn in range(6):
    watches.register(number, wanted(*chance.sample(urls, 300), labels=("x",)), NOW)
    watches.check_now(keys(*chance.sample(urls, 50)), NOW + 9999, forced=True)
    watches.unregister(number, keys(*chance.sample(urls, 150)))
    watches.disable(keys(*chance.sample(urls, 20)), "")
    watches.enable(keys(*chance.sample(urls, 20)), NOW)
watches.sync(number, wanted(*urls[number * 10 :]), NOW)
"""
THE_SAME = """
chance.shuffle(urls)
print(Adding(database).add(1, wanted(*urls), NOW).new)
"""


def at_once(database: Database, script: str) -> list[str]:
    """What processes print that begin at the same moment; each has its number."""
    tests = str(Path(__file__).parents[2])
    started = [
        subprocess.Popen(
            [sys.executable, "-c", BEGIN + script, database.where, str(number), tests],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(1, PROCESSES + 1)
    ]
    try:
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in started:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        ended = [process.communicate(timeout=120) for process in started]
    finally:
        for process in started:
            process.kill()
    assert [errors for _, errors in ended] == [""] * PROCESSES
    return [printed for printed, _ in ended]


def test_several_processes_at_once_neither_lose_nor_double_nor_stand_still(
    database: Database,
) -> None:
    owners = Owners(database)
    for one in range(2, PROCESSES + 1):
        assert owners.add(f"owner{one}")[0].id == one

    at_once(database, ALL_SORTS)

    # Each has ended with its own list, the longest of which has all others in it.
    left = {url for (url,) in rows(database, schema.target.c.url)}
    assert left == set(URLS_OF_ALL[10:])
    watching = [owner for (owner,) in rows(database, schema.watch.c.owner_id)]
    for one in range(1, PROCESSES + 1):
        assert watching.count(one) == 400 - one * 10
    assert number(database, schema.host) == 13
    assert is_counted_right(database)
    assert check(database, lambda _words: None, NOW + 9999) == []


def test_what_all_add_at_once_is_there_once(database: Database) -> None:
    """Each in an order of its own, which with row locks alone ends in a deadlock."""
    answers = at_once(database, THE_SAME)

    assert sum(map(int, answers)) == 400
    assert number(database, schema.target) == 400
    assert is_counted_right(database)
