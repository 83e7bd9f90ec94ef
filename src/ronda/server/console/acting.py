"""The commands that change something: rounds, the connection, the daemon."""

from ronda import urls
from ronda.server.console import shapes
from ronda.server.console.calls import Call
from ronda.server.console.grammar import chosen, keyed, number, refused
from ronda.server.console.pages import PAGES, page
from ronda.server.console.replies import FORMS, Reply
from ronda.server.console.sessions import TRIES

# -- rounds --------------------------------------------------------------------------


async def check(call: Call) -> Reply:
    """CHECK: begin rounds."""
    asked = chosen(call.words, ("gid", "eid"))
    begun = await call.hall.monitor.check(
        asked.gids, asked.eids, asked.patterns, call.who
    )
    if not begun:
        raise refused("109", "no valid records found")
    visits = shapes.counted(sum(one.total for one in begun), "visit")
    fields = {
        "rounds": [
            {
                "sequence": one.round,
                "description": one.description,
                "total_jobs_number": one.total,
            }
            for one in begun
        ]
    }
    lines = tuple(
        f"round {one.round}: {one.description} ({shapes.counted(one.total, 'visit')})"
        for one in begun
    )
    message = f"OK: {shapes.counted(len(begun), 'round')} of {visits}"
    return Reply("102", message, fields, lines=lines)


async def stop(call: Call) -> Reply:
    """STOP [round=ID]: stop one round, or all that he may stop who asks."""
    asked = None
    if call.words:
        key, value = keyed(call.words[0], ("round",))
        asked = number(value, key or "round")
    ended = await call.hall.monitor.stop(asked, call.who)
    fields = {
        "rounds": [
            {"sequence": one.round, "description": one.description} for one in ended
        ]
    }
    lines = tuple(f"round {one.round}: {one.description}" for one in ended)
    message = f"stopping {shapes.counted(len(ended), 'round')}"
    return Reply("502", message, fields, lines=lines)


async def subscribe(call: Call) -> Reply:
    """SUBSCRIBE: have results told as they happen."""
    session = call.session
    if session.end is None:
        session.end = call.hall.monitor.subscribe(session.tell)
    return Reply("102", "OK: results follow as they happen")


async def unsubscribe(call: Call) -> Reply:
    """UNSUBSCRIBE: no more results."""
    ended = call.session.unsubscribe()
    return Reply("102", "OK: no more results" if ended else "OK: there was nothing")


# -- the connection ------------------------------------------------------------------


async def auth(call: Call) -> Reply:
    """AUTH name token: say who you are."""
    name, token = call.words
    who = await call.hall.monitor.who(name, token)
    session = call.session
    if who is None:
        session.failures += 1
        closes = session.failures >= TRIES
        raise refused("107", "no such name and token", "auth_failed", closes=closes)
    session.who, session.failures = who, 0
    return Reply("102", f"OK: you are {who.name}", {"login": who.name})


async def format_(call: Call) -> Reply:
    """FORMAT [HR [COLOUR]|JSON [PRETTY]]: how replies are to be written."""
    if call.words:
        asked = " ".join(call.words)
        form = FORMS.get(asked.upper())
        if form is None:
            known = ", ".join(FORMS)
            words = f"invalid format '{urls.shown(asked)}'; known: {known}"
            raise refused("113", words)
        call.session.form = form
    name = call.session.form.name
    return Reply("104", f"current format: {name}", {"format": name})


async def noop(call: Call) -> Reply:
    """NOOP: nothing; the connection is kept."""
    return Reply("120", "nothing done")


async def quit_(call: Call) -> Reply:
    """QUIT: end the connection."""
    return Reply("100", "goodbye", closes=True)


async def help_(call: Call) -> Reply:
    """HELP [command]: what can be asked."""
    if not call.words:
        commands = [f"{one.usage:<36}{one.words}" for one in PAGES]
        message = shapes.counted(len(PAGES), "command")
        return Reply("130", message, {"commands": commands}, lines=tuple(commands))
    found = page(call.words[0])
    if found is None:
        raise refused("103", f"no such command: {urls.shown(call.words[0])}")
    return Reply("130", found.name, {"lines": found.lines}, lines=tuple(found.lines))


# -- the daemon ----------------------------------------------------------------------


async def shutdown(call: Call) -> Reply:
    """SHUTDWN: end the daemon."""
    if not call.who.administrator:
        raise refused("107", "only an administrator may end the daemon", "denied")
    call.hall.monitor.shutdown()
    return Reply("100", "the daemon ends", closes=True)
