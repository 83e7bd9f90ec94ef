"""The commands that only tell what there is, each as one reply."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ronda.server.console import shapes
from ronda.server.console.calls import Call
from ronda.server.console.grammar import chosen, keyed, number, refused
from ronda.server.console.replies import Reply
from ronda.server.console.tables import Column, Table

RECORDS = 100  # records that LSSERV tells unless it is told otherwise
MOST = 10_000  # of them, at most

_ROUNDS = (
    Column("Seq ID", right=True),
    Column("Description"),
    Column("Running", right=True),
    Column("Completed", right=True),
    Column("Total", right=True),
    Column("Status"),
)
_VISITS = (
    Column("GID", right=True),
    Column("Description"),
    Column("URL Type"),
    Column("Version"),
    Column("Task"),
    Column("Running", right=True),
)
_TASKS = (
    Column("Task"),
    Column("Procedure"),
    Column("Description", most=100),
    Column("Script"),
    Column("Language"),
)
_ENTITIES = (
    Column("EID", right=True),
    Column("Description", most=80),
    Column("Records", right=True),
)
_RECORDS = (
    Column("GID", right=True),
    Column("Description"),
    Column("Host"),
    Column("Type"),
    Column("Version"),
)
_SERVICES = (
    Column("GID", right=True),
    Column("Description", most=40),
    Column("Entity", most=40),
    Column("URI", most=80),
    Column("Type"),
    Column("Version"),
    Column("Tasks"),
)
_RESULTS = (
    Column("Task"),
    Column("Status", state=True),
    Column("Info", most=80),
    Column("Timestamp"),
)
_SESSIONS = (
    Column("Login"),
    Column("Socket"),
    Column("Cmds", right=True),
    Column("Format"),
    Column("Idle", right=True),
)
_WORKERS = tuple(Column(name, right=True) for name in ("Running", "Idle", "Limit"))
_FIGURES = (Column("Figure"), Column("Value", right=True, most=80))


async def query(call: Call) -> Reply:
    """QUERY: the rounds under way."""
    rounds = await call.hall.monitor.rounds()
    lines = [("queued", line) for line in rounds.queued]
    lines += [("pending", line) for line in rounds.pending]
    rows = tuple(
        (one.id, one.description, one.active, one.completed, one.total, status)
        for status, one in lines
    )
    message = shapes.counted(len(rows), "round")
    fields = shapes.rounds(rounds)
    return Reply("106", message, fields, Table("Rounds", _ROUNDS, rows))


async def joblist(call: Call) -> Reply:
    """JOBLIST: the visits under way."""
    now, visits = call.hall.clock.epoch(), call.hall.monitor.visits()
    rows = tuple(
        (v.gid, v.description, v.type, v.version, v.task, shapes.span(now - v.begun_at))
        for v in visits
    )
    fields = {"njobs": len(visits), "jobs": [shapes.visit(one) for one in visits]}
    message = f"{shapes.counted(len(rows), 'visit')} under way"
    return Reply("114", message, fields, Table("Running Visits", _VISITS, rows))


async def regtasks(call: Call) -> Reply:
    """REGTASKS: the tasks that are known."""
    tasks = call.hall.monitor.tasks()
    rows = tuple(
        (t.task, t.procedure, shapes.described(t), t.script, t.language) for t in tasks
    )
    message = shapes.counted(len(tasks), "registered task")
    fields = {"tasks": [shapes.task(one) for one in tasks]}
    return Reply("110", message, fields, Table("Registered Tasks", _TASKS, rows))


async def entities(call: Call) -> Reply:
    """ENTITIES [pattern] [-alpha]: the owners, the biggest first."""
    patterns = [word for word in call.words if word.lower() != "-alpha"]
    if len(patterns) > 1 or any(word.startswith("-") for word in patterns):
        raise refused("103", "ENTITIES takes one pattern, and -alpha")
    alphabetic = len(patterns) < len(call.words)
    found = await call.hall.monitor.entities("".join(patterns), alphabetic)
    rows = tuple((one.eid, one.description, one.records) for one in found)
    message = shapes.counted(len(rows), "entity", "entities")
    fields = {"entities": [shapes.plain(one) for one in found]}
    return Reply("108", message, fields, Table("Entities", _ENTITIES, rows))


async def lsserv(call: Call) -> Reply:
    """LSSERV eid [offset] [limit]: the targets of an owner, some at a time."""
    eid, offset, limit = _page(call.words)
    found = await call.hall.monitor.records(eid, offset, limit)
    if not found:
        raise refused("109", f"no service records of entity {eid} from {offset} on")
    rows = tuple((r.gid, r.description, r.host, r.type, r.version) for r in found)
    message = shapes.counted(len(rows), "service record")
    fields = {"services": [shapes.plain(one) for one in found]}
    table = Table(f"Service Records of Entity {eid}", _RECORDS, rows)
    return Reply("122", message, fields, table)


def _page(words: list[str]) -> tuple[int, int, int]:
    keys = ("eid", "offset", "limit")
    given = {"offset": "0", "limit": str(RECORDS)}
    for place, word in zip(keys, words, strict=False):
        key, value = keyed(word, keys)
        given[key or place] = value
    if "eid" not in given:
        raise refused("503", "LSSERV needs an eid: LSSERV 3")
    return (
        number(given["eid"], "eid"),
        number(given["offset"], "offset"),
        number(given["limit"], "limit", 1, MOST),
    )


async def qservice(call: Call) -> Reply:
    """QSERVICE: all that is known of targets."""
    asked = chosen(call.words, ("gid",))
    found = await call.hall.monitor.services(asked.gids, asked.patterns)
    if not found:
        raise refused("109", "no valid records found")
    rows = tuple(
        (s.gid, s.description, s.entity, s.uri, s.uri_type, s.version, _states(s.tasks))
        for s in found
    )
    message = shapes.counted(len(rows), "service")
    fields = {"services": [shapes.service(one) for one in found]}
    return Reply("116", message, fields, Table("Services", _SERVICES, rows))


def _states(tasks: Any) -> str:
    counts = Counter(task.state.value for task in tasks)
    return ", ".join(f"{count} {state}" for state, count in counts.items()) or "-"


async def qtask(call: Call) -> Reply:
    """QTASK gid: what the tasks of a target found last."""
    key, value = keyed(call.words[0], ("gid",))
    gid = number(value, key or "gid")
    found = await call.hall.monitor.task_results(gid)
    if not found:
        raise refused("109", f"no task has a result for service {gid} yet")
    rows = tuple((t.task, t.state, shapes.info(t), shapes.stamp(t.at)) for t in found)
    message = shapes.counted(len(rows), "task result")
    fields = {"tasks": [shapes.result(one) for one in found]}
    table = Table(f"Task Results of Service {gid}", _RESULTS, rows)
    return Reply("118", message, fields, table)


async def whos(call: Call) -> Reply:
    """WHOS: who is connected."""
    now = call.hall.clock.now()
    found = [
        {
            "login": one.login,
            "type": one.kind,
            "ncmds": one.commands,
            "protocol": one.form.name,
            "idle": int(now - one.last_at),
        }
        for one in call.hall.sessions
    ]
    rows = tuple(tuple(one.values()) for one in found)
    message = shapes.counted(len(found), "connection")
    title = "Connections"
    fields = {"nconnections": len(found), "title": title, "connections": found}
    return Reply("112", message, fields, Table(title, _SESSIONS, rows))


async def threads(call: Call) -> Reply:
    """THREADS: how many workers are at work."""
    rounds = await call.hall.monitor.rounds()
    workers = {"running": rounds.running, "idle": rounds.idle, "limit": rounds.limit}
    message = f"{shapes.counted(rounds.limit, 'worker')} at most"
    table = Table("Workers", _WORKERS, (tuple(workers.values()),))
    return Reply("124", message, {"threads": workers}, table)


async def why(call: Call) -> Reply:
    """WHY [text]: what a URL, a host or the whole daemon waits for."""
    lines = tuple(call.hall.monitor.why(" ".join(call.words)))
    if not lines and call.words:
        raise refused("109", "nothing waits for it")
    message = shapes.counted(len(lines), "line")
    return Reply("126", message, {"lines": list(lines)}, lines=lines)


async def stats(call: Call) -> Reply:
    """STATS: figures."""
    found = await call.hall.monitor.stats()
    rows = tuple(_figures(found))
    message = shapes.counted(len(rows), "figure")
    return Reply("128", message, {"stats": found}, Table("Figures", _FIGURES, rows))


def _figures(found: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from _figures(value, f"{above}{name}.")
        elif isinstance(value, list | tuple):
            numbered = {str(place): one for place, one in enumerate(value, 1)}
            yield from _figures(numbered, f"{above}{name}.")
        else:
            yield f"{above}{name}", shapes.figure(value)
