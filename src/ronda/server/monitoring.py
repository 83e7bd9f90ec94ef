"""The daemon as the control socket sees it: rounds, visits, and what is known."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ParamSpec, TypeVar

import msgspec

from ronda import urls
from ronda.app.watching import Session
from ronda.errors import DeniedError, NotFoundError
from ronda.frontier import Wait
from ronda.frontier.wait import words_of
from ronda.server.console.monitor import (
    Entity,
    Event,
    Record,
    RoundLine,
    Rounds,
    ServiceLine,
    Started,
    Stopped,
    TaskLine,
    TaskState,
    VisitLine,
    Who,
)
from ronda.store.sql.catalogue import Query
from ronda.store.sql.rounds import Round
from ronda.store.sql.schema import OPERATOR
from ronda.store.sql.services import Found
from ronda.store.sql.store import Store
from ronda.store.sql.values import Entry
from ronda.workers.planned import SCHEDULE, Running

P = ParamSpec("P")
T = TypeVar("T")


class Overseer:
    """Answers for one daemon, whichever session it is in."""

    def __init__(self, store: Store, stop: Callable[[], None]) -> None:
        self._store = store
        self._stop = stop  # ends the daemon, as a signal does
        self.session: Session | None = None
        self._listeners: dict[object, Callable[[Event], None]] = {}

    async def _ask(
        self, function: Callable[P, T], *args: P.args, **named: P.kwargs
    ) -> T:
        """Ask the store, in a thread: it may take its time."""
        return await asyncio.to_thread(function, *args, **named)

    def _poke(self) -> None:
        if self.session is not None:
            self.session.poke()

    # -- rounds ----------------------------------------------------------------------

    async def check(
        self,
        gids: Sequence[int],
        owners: Sequence[int],
        patterns: Sequence[str],
        starter: Who,
    ) -> list[Started]:
        """Begin rounds: one of all gids, and one for each owner, by id or pattern."""
        mine = await self._limits(starter)
        if mine is not None and gids:
            gids = await self._own(gids, mine)
        begun = [await self._check_targets(gids, starter)] if gids else []
        for entity in await self._entities(owners, patterns):
            if mine is not None and entity.eid != mine.eid:
                raise DeniedError(f"{entity.description} is not yours to check")
            name = entity.description
            query = Query(owner=name)
            begun.append(await self._begin(name, f"all of {name}", starter, query))
        self._poke()
        return [
            Started(one.id, one.words or one.name, one.total)
            for one in begun
            if one.total
        ]

    async def _limits(self, starter: Who) -> Entity | None:
        """The owner whose targets alone somebody may have checked; None: all."""
        if starter.administrator:
            return None
        known = {one.description: one for one in await self.entities("", False)}
        if starter.name not in known:
            raise DeniedError(f"{starter.name} is no owner any more")
        return known[starter.name]

    async def _own(self, gids: Sequence[int], owner: Entity) -> list[int]:
        mine = await self._ask(self._store.services.existing, gids, owner.eid)
        for gid in gids:
            if gid not in mine:
                raise DeniedError(f"target {gid} is not yours to check")
        return list(gids)

    async def _check_targets(self, gids: Sequence[int], starter: Who) -> Round:
        there = await self._ask(self._store.services.existing, gids)
        if not there:
            listed = ", ".join(map(str, gids[:5]))
            raise NotFoundError(f"there is no target {listed}")
        ids = [gid for gid in dict.fromkeys(gids) if gid in there]
        words = f"target {ids[0]}" if len(ids) == 1 else f"{len(ids):,} targets"
        return await self._begin("targets", words, starter, Query(), ids)

    async def _entities(
        self, owners: Sequence[int], patterns: Sequence[str]
    ) -> list[Entity]:
        found: dict[int, Entity] = {}
        if owners:
            known = {one.eid: one for one in await self.entities("", False)}
            for eid in owners:
                if eid not in known:
                    raise NotFoundError(f"there is no entity {eid}: see ENTITIES")
                found[eid] = known[eid]
        for pattern in patterns:
            found |= {one.eid: one for one in await self.entities(pattern, False)}
        return list(found.values())

    async def _begin(
        self,
        name: str,
        words: str,
        starter: Who,
        query: Query,
        ids: Sequence[int] | None = None,
    ) -> Round:
        return await self._ask(
            self._store.rounds.begin,
            name,
            query,
            self._store.database.epoch(),
            forced=True,
            starter=starter.name,
            words=words,
            ids=ids,
        )

    async def stop(self, number: int | None, who: Who) -> list[Stopped]:
        """Stop one round, or without a number all that he may stop."""
        live = {one.id: one for one in await self._ask(self._store.rounds.live)}
        if number is not None and number not in live:
            raise NotFoundError(f"there is no round {number} under way: see QUERY")
        if number is not None and not _may_stop(live[number], who):
            starter = live[number].starter or "the timetable"
            raise DeniedError(f"round {number} is one of {starter}")
        chosen = [live[number]] if number is not None else list(live.values())
        stopped = []
        for one in chosen:
            if _may_stop(one, who):
                now = self._store.database.epoch()
                await self._ask(self._store.rounds.stop, one.id, now)
                stopped.append(Stopped(one.id, one.words or one.name))
        self._poke()
        return stopped

    async def rounds(self) -> Rounds:
        """The rounds under way, here and in other processes."""
        live = await self._ask(self._store.rounds.live)
        session = self.session
        if session is None:
            return Rounds(0, 0, 0)
        visiting = session.visiting
        running = {one.round: one.running for one in visiting.planned.standings()}
        lines = [*_scheduled(session)]
        lines += [_round_line(one, running.pop(one.id, 0)) for one in live]
        stopped = [
            RoundLine(number, f"round {number}, stopped", active, 0, active)
            for number, active in running.items()
            if number != SCHEDULE
        ]
        return Rounds(
            running=visiting.planned.busy,
            idle=visiting.programs.idle,
            limit=visiting.planned.workers,
            queued=tuple(line for line in lines if not _is_pending(line)),
            pending=(*filter(_is_pending, lines), *stopped),
        )

    def visits(self) -> list[VisitLine]:
        """The visits under way in this process."""
        if self.session is None:
            return []
        return list(map(_visit_line, self.session.visiting.planned.running()))

    # -- what is known ---------------------------------------------------------------

    def tasks(self) -> list[TaskLine]:
        """The tasks that are known, in their order."""
        if self.session is None:
            return []
        return [
            TaskLine(
                row.name,
                row.procedure,
                row.description,
                row.script,
                row.language,
                row.function,
                row.fault,
            )
            for row in self.session.visiting.plans.rows
        ]

    async def entities(self, pattern: str, alphabetic: bool) -> list[Entity]:
        """The owners like a pattern."""
        found = await self._ask(
            self._store.services.entities, pattern, alphabetic=alphabetic
        )
        return [Entity(one.eid, one.description, one.records) for one in found]

    async def records(self, eid: int, offset: int, limit: int) -> list[Record]:
        """Some targets of an owner."""
        found = await self._ask(self._store.services.of_owner, eid, offset, limit)
        return [
            Record(one.gid, one.description or one.url, one.host, one.type, one.version)
            for one in found
        ]

    async def services(
        self, gids: Sequence[int], patterns: Sequence[str]
    ) -> list[ServiceLine]:
        """Targets by their ids, and those that are like a pattern."""
        found = await self._ask(self._store.services.find, gids, patterns)
        return [
            ServiceLine(
                gid=one.gid,
                description=one.description,
                entity=one.owner,
                uri=one.url,
                uri_type=one.type,
                version=one.version,
                uuid=one.uuid,
                tasks=tuple(map(_task_state, one.tasks)),
            )
            for one in found
        ]

    async def task_results(self, gid: int) -> list[TaskState]:
        """What the tasks of a target found last."""
        if gid not in await self._ask(self._store.services.existing, [gid]):
            raise NotFoundError(f"there is no target {gid}")
        found = await self._ask(self._store.services.tasks, gid)
        return list(map(_task_state, found))

    def why(self, text: str) -> list[str]:
        """What a URL or a host waits for, a line each."""
        if self.session is None:
            return []
        account = self.session.account
        lines = [] if text else [_open(*one) for one in account.open()]
        return [*lines, *map(_wait_line, account.why(text))]

    async def stats(self) -> dict[str, Any]:
        """Figures by their names."""
        now = self._store.database.epoch()
        found = await self._ask(self._store.numbers.stats, now)
        numbers: dict[str, Any] = msgspec.to_builtins(found)
        if self.session is not None:
            visiting = self.session.visiting
            numbers["visits"] = {
                "running": visiting.planned.busy,
                "suspended": len(visiting.planned.running()) - visiting.planned.busy,
                "waiting": visiting.planned.waiting,
                "workers": visiting.planned.workers,
            }
        return numbers

    # -- the daemon itself -----------------------------------------------------------

    def heard(self, entry: Entry) -> None:
        """A result was written: tell it on."""
        if not self._listeners:
            return
        result, standing = entry.result, entry.standing
        event = Event(
            gid=entry.due.id,
            url=urls.without_credentials(result.url),
            state=standing.state,
            reason=result.reason,
            message=result.message,
            at=entry.at,
            tasks=result.tasks,
        )
        for tell in list(self._listeners.values()):
            tell(event)

    def subscribe(self, tell: Callable[[Event], None]) -> Callable[[], None]:
        """Have each result told; what is returned ends that."""
        key = object()
        self._listeners[key] = tell

        def end() -> None:
            self._listeners.pop(key, None)

        return end

    def shutdown(self) -> None:
        """End in stages, as a signal does."""
        self._stop()

    async def who(self, name: str, token: str) -> Who | None:
        """The owner of a token."""
        owner = await self._ask(self._store.owners.of_token, name, token)
        return None if owner is None else Who(owner.name, owner.id == OPERATOR)


def _may_stop(one: Round, who: Who) -> bool:
    return who.administrator or (bool(one.starter) and one.starter == who.name)


def _round_line(one: Round, running: int) -> RoundLine:
    words = one.words or one.name
    return RoundLine(one.id, words, running, one.done, one.total, one.starter)


def _is_pending(line: RoundLine) -> bool:
    """Whether it only waits for visits to end."""
    return line.completed + line.active >= line.total


def _scheduled(session: Session) -> Iterator[RoundLine]:
    """What is due by the schedule, and by nobody's command."""
    for one in session.visiting.planned.standings():
        if one.round == SCHEDULE:
            total = one.waiting + one.running + one.ended
            yield RoundLine(SCHEDULE, "the schedule", one.running, one.ended, total)


def _visit_line(one: Running) -> VisitLine:
    service = one.service
    return VisitLine(
        gid=one.due.id,
        description=service.description or urls.shown(one.due.url),
        type=service.type,
        version=service.version,
        task=one.task,
        begun_at=one.begun_at,
    )


def _task_state(one: Found) -> TaskState:
    return TaskState(one.task, one.state, one.reason, one.message, one.at, one.seconds)


def _open(words: str, number: int) -> str:
    return f"{words}: {number:,}" if number else words


def _wait_line(wait: Wait) -> str:
    return f"{urls.shown(wait.host or 'files')}: {'; '.join(words_of(wait))}"
