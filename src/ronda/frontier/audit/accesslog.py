"""A server's view: the variables of a line of its access log as an entry."""

import re
from functools import lru_cache

from ronda import networks
from ronda.errors import InputError
from ronda.frontier.audit.entries import Entry
from ronda.frontier.audit.moments import moment, number

_HOSTS = ("host", "http_host", "server_name")
_NOBODY = frozenset({"", "-", "_"})  # as servers write what they do not know
_PORT = re.compile(r":\d*$", re.ASCII)


def entry(fields: dict[str, str]) -> tuple[Entry, float]:
    """What was asked, and the step of the clock its moment is known by.

    Raises:
        InputError: it has no moment.
    """
    found = moment(fields)
    if found is None:
        raise InputError("no moment: $msec, $time_iso8601 or $time_local")
    at, step = found
    # nginx writes a line at the end of its request.
    seconds = number(fields.get("request_time", ""))
    host = next((h for name in _HOSTS if (h := _host(fields.get(name, "")))), "")
    made = Entry(
        at=max(0.0, at - (seconds or 0.0)),
        seconds=seconds,
        host=host,
        server=address(fields.get("server_addr", "")),
        asked=_asked(fields, host),
        agent=fields.get("http_user_agent", ""),
        client=fields.get("remote_addr", ""),
    )
    return made, step


@lru_cache(65_536)  # most logs tell of fewer
def address(text: str) -> str:
    """An address in its one spelling; empty for anything else, such as a socket."""
    try:
        found = networks.parse(text)
    except ValueError:
        return ""
    # A server that listens on both families calls the short ones mapped.
    return str(getattr(found, "ipv4_mapped", None) or found)


def _host(text: str) -> str:
    """A host without its port; empty for a server that answers to any name."""
    if text in _NOBODY:
        return ""
    if text.count(":") == 1 or "]:" in text:
        text = _PORT.sub("", text)
    return text.lower()


def _asked(fields: dict[str, str], host: str) -> str:
    method, _, rest = fields.get("request", "").partition(" ")
    target = rest.rpartition(" ")[0] or rest
    method = fields.get("request_method", "") or method
    target = fields.get("request_uri", "") or target or fields.get("uri", "")
    return f"{method} {host if target.startswith('/') else ''}{target}".strip()
