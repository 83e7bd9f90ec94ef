"""The table of commands: a line comes in, a reply goes out, whatever the line is."""

import logging
import re
from collections.abc import Awaitable, Callable

from ronda import urls
from ronda.errors import DeniedError, NotFoundError, RondaError, UsageError
from ronda.server.console import acting, telling
from ronda.server.console.calls import Call
from ronda.server.console.grammar import RefusedError, refused, words
from ronda.server.console.pages import Page, page
from ronda.server.console.replies import Reply
from ronda.server.console.sessions import Hall, Session

log = logging.getLogger(__name__)

COMMANDS: dict[str, Callable[[Call], Awaitable[Reply]]] = {
    "CHECK": acting.check,
    "STOP": acting.stop,
    "JOBLIST": telling.joblist,
    "QUERY": telling.query,
    "REGTASKS": telling.regtasks,
    "ENTITIES": telling.entities,
    "LSSERV": telling.lsserv,
    "QSERVICE": telling.qservice,
    "QTASK": telling.qtask,
    "WHY": telling.why,
    "STATS": telling.stats,
    "THREADS": telling.threads,
    "SUBSCRIBE": acting.subscribe,
    "UNSUBSCRIBE": acting.unsubscribe,
    "FORMAT": acting.format_,
    "WHOS": telling.whos,
    "AUTH": acting.auth,
    "NOOP": acting.noop,
    "SHUTDWN": acting.shutdown,
    "QUIT": acting.quit_,
    "HELP": acting.help_,
}


async def answer(line: bytes, session: Session, hall: Hall) -> Reply:
    """Carry a line out, and say what came of it."""
    try:
        name, *given = words(line)
        found = page(name)
        if found is None:
            raise refused("101", f"unknown command '{urls.shown(name, 40)}'; see HELP")
        call = Call(given, session, hall)
        _require(found, call)
        return await COMMANDS[found.name](call)
    except RefusedError as no:
        return no.reply
    except RondaError as error:
        return _told(error)
    except Exception:
        # The client is told that we are at fault, and nothing else.
        log.exception("command failed command=%s", urls.shown(_first(line), 40))
        return Reply("501", "internal error; the daemon's log tells more")


def _require(found: Page, call: Call) -> None:
    if call.session.who is None and not found.open:
        words_ = "say who you are first: AUTH name token"
        raise refused("107", words_, "auth_required")
    if len(call.words) < found.least:
        raise refused("503", f"missing argument: {found.usage}")
    if found.most is not None and len(call.words) > found.most:
        raise refused("103", f"too many arguments: {found.usage}")


def _told(error: RondaError) -> Reply:
    words_ = urls.shown(str(error), 1000)
    match error:
        case NotFoundError():
            return Reply("105", words_)
        case UsageError():
            return Reply("103", words_)
        case DeniedError():
            return Reply("107", words_, error="denied")
        case _:
            kind = type(error).__name__.removesuffix("Error")
            name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower()
            return Reply("107", words_, error=name)


def _first(line: bytes) -> str:
    """The name of a command: what follows it may be a secret."""
    return line.decode("utf-8", "replace").split(maxsplit=1)[0]
