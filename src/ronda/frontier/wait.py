"""What a host waits for: the answer to `why`."""

from collections.abc import Iterator

from msgspec import Struct

from ronda import urls
from ronda.frontier.host import Host


class Wait(Struct, frozen=True, omit_defaults=True):
    """By which rule a host is not asked right now, and until when."""

    host: str
    rule: str  # a key of RULES
    seconds: float | None = None  # from now; None when no moment is known
    queued: int = 0  # items that wait for it
    active: int = 0  # requests under way
    address: str = ""
    detail: str = ""


# Every rule by which something waits, in words.
RULES = {
    "retry-after": "the host asked us to wait (Retry-After)",
    "backoff": "the host asked us to slow down (429 or 503)",
    "circuit": "the host rests: it could not be reached too often",
    "robots": "its robots.txt is being asked for",
    "name": "the name servers are being asked for its address",
    "queue": "all host queues are taken (queue_count)",
    "crowd": "too many hosts on its address have a queue (hosts_per_server)",
    "interval": "the gap between two requests to the host (interval)",
    "class-interval": "the gap between two calls for the class (class_interval)",
    "adaptive": "the host answers slowly, so its gap has grown (factor)",
    "crawl-delay": "the gap that its robots.txt asks for (Crawl-delay)",
    "per-host": "as many requests to the host are under way as may be (per_host)",
    "per-server": "as many requests to its address are under way (per_server)",
    "server-interval": "the gap between two requests to its address (server_interval)",
    "retry": "a visit waits to be tried once more",
    "turn": "nothing but its turn",
    "asked": "it is being asked now",
    "done": "nothing: it has its verdict",
}


def words_of(wait: Wait) -> Iterator[str]:
    """What a host waits for, in words for people."""
    yield RULES.get(wait.rule, wait.rule)
    if wait.detail:
        yield urls.shown(wait.detail, 200)
    if wait.seconds is not None:
        yield f"next request in {wait.seconds:.1f} s"
    if wait.queued:
        yield f"{wait.queued:,} waiting"
    if wait.active:
        yield f"{wait.active:,} under way"
    if wait.address:
        yield f"at {wait.address}"


def standing(host: Host, now: float) -> Wait:
    """What a host that has a queue waits for."""
    rule, until = _rule(host, now)
    return Wait(
        host.name,
        rule,
        seconds=None if until is None else max(0.0, until - now),
        queued=host.size,
        active=host.active,
        address=host.server.address if host.server is not None else "",
    )


def _rule(host: Host, now: float) -> tuple[str, float | None]:
    if host.limits is None:
        return "name", None
    if host.active and not host.queue:
        return "asked", None
    if host.active >= host.limits.per_host:
        return "per-host", None
    if host.next_at > now:
        return host.rule, host.next_at
    return _server_rule(host, now)


def _server_rule(host: Host, now: float) -> tuple[str, float | None]:
    server = host.server
    if server is None or host.limits is None:
        return "turn", None
    if server.active >= host.limits.per_server:
        return "per-server", None
    due = max(server.next_at, server.started_at + host.limits.server_interval)
    return ("server-interval", due) if due > now else ("turn", None)
