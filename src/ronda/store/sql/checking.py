"""Whether what a store says in one place agrees with what it says in others."""

from collections.abc import Callable, Iterator

from msgspec import Struct
from sqlalchemy import (
    Connection,
    Integer,
    Select,
    and_,
    cast,
    exists,
    func,
    or_,
    select,
)

from ronda.errors import StoreBusyError, StoreError
from ronda.store.sql import ahead, pruning, tallies
from ronda.store.sql.dues import is_handed_over
from ronda.store.sql.engines import Database
from ronda.store.sql.schema import (
    history,
    host,
    hour,
    label,
    owner,
    process,
    request,
    round_,
    round_result,
    schedule,
    server,
    service,
    target,
    task_result,
    watch,
)

EXAMPLES = 3
HOUR = 3600  # seconds

Tell = Callable[[str], None]


class Rule(Struct, frozen=True):
    """What no row may be."""

    words: str
    query: Select[tuple[int]]  # the numbers of rows that are


def check(database: Database, tell: Tell, now: float) -> list[str]:
    """What is wrong, in words; a daemon may go on meanwhile.

    Args:
        database: the store.
        tell: is told what is looked at, since it may take minutes.
        now: epoch seconds.
    """
    problems: list[str] = []
    try:
        with database.reading() as connection:
            for found in _look(connection, tell, now):
                problems.append(found)  # noqa: PERF402  # kept if the rest fails
    except StoreBusyError:
        raise
    except StoreError as error:  # so damaged that it cannot be looked at
        problems.append(str(error))
    return problems


def _look(connection: Connection, tell: Tell, now: float) -> Iterator[str]:
    if connection.dialect.name == "sqlite":
        tell("the file")
        yield from _file(connection)
    tell("tallies")
    yield from _tallies(connection)
    pruned = pruning.past(connection)
    for rule in _rules(pruned.result, now):
        tell(rule.words)
        yield from broken(connection, rule)
    tell("hours")
    yield from _hours(connection, pruned.hour)


def _file(connection: Connection) -> Iterator[str]:
    for words in connection.exec_driver_sql("PRAGMA integrity_check").scalars():
        if words != "ok":
            yield f"the file is damaged: {' '.join(words.split())}"
    rows = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    for table, number, parent, _ in rows[:EXAMPLES]:
        yield f"{table} {number} names what is not in {parent}"
    if len(rows) > EXAMPLES:
        yield f"{len(rows) - EXAMPLES} more rows name what is not there"


def _tallies(connection: Connection) -> Iterator[str]:
    names = {row.id: row.name for row in connection.execute(select(owner))}
    counted, kept = tallies.counted(connection), tallies.kept(connection)
    for key in sorted(counted.keys() | kept.keys()):
        number, right = kept.get(key, 0), counted.get(key, 0)
        if number != right:
            whose = f" of {names.get(key[0], key[0])}" if key[0] else ""
            yield f"the tally says {number} targets{whose} are {key[1]}, not {right}"


def unattached() -> Iterator[Rule]:
    """Rows of what is not there, where the engines do not look themselves."""
    for table in (schedule, watch, label, service, task_result):
        there = exists().where(target.c.id == table.c.target_id)
        query = select(table.c.target_id).where(~there)
        yield Rule(f"rows in {table.name} of a target that is not there", query)
    known = exists().where(owner.c.id == watch.c.owner_id)
    strangers = select(watch.c.target_id).where(~known)
    yield Rule("targets watched by an owner who is not there", strangers)
    placed = exists().where(server.c.id == schedule.c.server_id)
    nowhere = select(schedule.c.target_id).where(~placed)
    yield Rule("targets scheduled at a server that is not there", nowhere)
    begun = exists().where(round_.c.id == round_result.c.round_id)
    lost = select(round_result.c.target_id).where(~begun)
    yield Rule("results of a round that is not there", lost)


def _rules(pruned_to: int, now: float) -> Iterator[Rule]:
    yield from unattached()
    yield from _of_targets()
    yield from _of_results(pruned_to)
    yield from _of_servers()
    late = select(round_.c.id).where(round_.c.done > round_.c.total)
    yield Rule("rounds with more done than there is", late)
    # The next daemon puts it right.
    future = select(schedule.c.target_id).where(ahead.of_targets(now))
    yield Rule("targets checked or added by a clock that was ahead", future)


def _of_targets() -> Iterator[Rule]:
    scheduled = exists().where(schedule.c.target_id == target.c.id)
    watched = exists().where(watch.c.target_id == target.c.id)
    ids = select(target.c.id)
    placed = ids.join(host, host.c.id == target.c.host_id).join(
        schedule, schedule.c.target_id == target.c.id
    )
    elsewhere = placed.where(schedule.c.server_id != host.c.server_id)
    yield Rule("targets without a schedule", ids.where(~scheduled))
    yield Rule("targets that nobody watches", ids.where(~watched))
    yield Rule("targets scheduled at another server than their host's", elsewhere)


def _of_results(pruned_to: int) -> Iterator[Rule]:
    last = history.c.id == schedule.c.last_result
    checked = select(schedule.c.target_id)
    missing = checked.outerjoin(history, last).where(
        schedule.c.last_result.is_not(None), history.c.id.is_(None)
    )
    yield Rule("targets whose last result is missing", missing)
    without = checked.where(
        schedule.c.last_check_at > 0, schedule.c.last_result.is_(None)
    )
    yield Rule("targets that were checked and have no result", without)
    found = checked.join(history, last)
    others = found.where(history.c.target_id != schedule.c.target_id)
    yield Rule("targets whose last result is another's", others)
    stands = found.join(target, target.c.id == schedule.c.target_id)
    differs = stands.where(history.c.standing != target.c.state)
    yield Rule("targets in another state than their last result left", differs)

    before = history.alias("before")
    joined = select(history.c.id).outerjoin(before, before.c.id == history.c.previous)
    backward = select(history.c.id).where(history.c.previous >= history.c.id)
    yield Rule("results before the one that they follow", backward)
    strangers = joined.where(before.c.target_id != history.c.target_id)
    yield Rule("results that follow one of another target", strangers)
    lost = joined.where(history.c.previous > pruned_to, before.c.id.is_(None))
    yield Rule("results whose one before is missing", lost)


def _of_servers() -> Iterator[Rule]:
    lost = ~exists().where(process.c.id == server.c.holder)
    held = select(server.c.id).where(server.c.holder.is_not(None))
    yield Rule("servers held by a process that is not there", held.where(lost))
    first = (
        select(schedule.c.server_id, func.min(schedule.c.next_due).label("due"))
        .where(~is_handed_over())
        .group_by(schedule.c.server_id)
        .subquery()
    )
    free = select(server.c.id).where(server.c.holder.is_(None))
    never = server.c.due_at.is_(None)
    too_late = and_(
        server.c.due_at > first.c.due,
        server.c.due_at > server.c.next_at,  # it may not be asked before that
    )
    forgotten = free.join(first, first.c.server_id == server.c.id).where(
        first.c.due.is_not(None), or_(never, too_late)
    )
    yield Rule("servers that come after their first target is due", forgotten)
    waits = exists().where(request.c.server_id == server.c.id)
    yield Rule("servers not due, for which visits wait", free.where(never, waits))


def broken(connection: Connection, rule: Rule) -> Iterator[str]:
    """A line if a rule is not kept."""
    few = connection.scalars(rule.query.limit(EXAMPLES)).all()
    if few:
        every = rule.query.subquery()
        number = connection.scalar(select(func.count()).select_from(every))
        such = ", ".join(map(str, few))
        yield f"{number} {rule.words}, such as number {such}"


def _hours(connection: Connection, first: int) -> Iterator[str]:
    """Results must be found by their hour."""
    hours = history.c.at / HOUR
    # SQLite cuts off what is behind the point by itself; PostgreSQL would round.
    is_postgres = connection.dialect.name == "postgresql"
    of = cast(func.floor(hours) if is_postgres else hours, Integer)
    query = select(of, func.min(history.c.id), func.max(history.c.id)).group_by(of)
    rows = connection.execute(select(hour))
    kept = {row.hour: (row.first_id, row.last_id) for row in rows}
    wrong = []
    for number, low, high in connection.execute(query):
        from_, to = kept.get(number, (low + 1, high))
        if number >= first and not from_ <= low <= high <= to:
            wrong.append(number)
    if wrong:
        such = ", ".join(map(str, wrong[:EXAMPLES]))
        yield f"{len(wrong)} hours that do not name all of their results: {such}"
