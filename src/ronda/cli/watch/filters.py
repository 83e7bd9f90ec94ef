"""Which targets are meant: the options of `ronda target list` and `ronda round`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ronda import urls
from ronda.cli.watch import kinds
from ronda.errors import UrlError
from ronda.model import State

if TYPE_CHECKING:
    from ronda.store.sql.catalogue import Query

_FILTERS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (("--state",), {"type": kinds.STATE, "help": "Only those in this state."}),
    (("--owner",), {"metavar": "NAME", "help": "Only those this owner watches."}),
    (("--host",), {"metavar": "NAME", "help": "Only those of this host."}),
    (("--label",), {"metavar": "NAME", "help": "Only those with this label."}),
    (("--scheme",), {"metavar": "NAME", "help": "Only those of this scheme: ftp."}),
    (
        ("--reason",),
        {"metavar": "CODE", "help": "Only those of this reason: http_404."},
    ),
    (("--kind",), {"metavar": "NAME", "help": "Only those of this kind: service."}),
    (
        ("--choose",),
        {
            "type": click.Choice(["new", "failed", "unanswered"]),
            "help": "Only those never checked, that failed the last time, or that gave "
            "no answer then.",
        },
    ),
    (("--text",), {"metavar": "TEXT", "help": "Only those with this text in the URL."}),
    *(
        (
            (f"--{what}-{side}",),
            {
                "metavar": "MOMENT",
                "callback": kinds.moment,
                "help": f"Only those {words} {side}: 2026-01-31, or 7d ago.",
            },
        )
        for what, words in (
            ("checked", "last checked"),
            ("changed", "whose state changed"),
        )
        for side in ("after", "before")
    ),
    (
        ("--enabled/--disabled",),
        {"default": None, "help": "Only those that are checked, or are not."},
    ),
    (
        ("--acknowledged/--unacknowledged",),
        {"default": None, "help": "Only those that --owner has acknowledged, or not."},
    ),
    (
        ("--flapping/--steady",),
        {"default": None, "help": "Only those that change too often, or do not."},
    ),
)


def with_filters(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a command be told which targets are meant."""
    for flags, extra in reversed(_FILTERS):
        command = click.option(*flags, **extra)(command)
    return command


def query(given: dict[str, Any]) -> "Query":
    """What was given, as a question to the catalogue."""
    from ronda.store.sql.catalogue import Query  # noqa: PLC0415  # see Session.opened

    known = set(Query.__struct_fields__)
    chosen = {k: v for k, v in given.items() if k in known and v is not None}
    shaped = {name: _SHAPES.get(name, _as_is)(chosen[name]) for name in chosen}
    return Query(**shaped)


def _as_is(value: Any) -> Any:
    return value


def _host(name: str) -> str:
    """A host as the store spells it; classes of plug-ins have a colon, and stay."""
    try:
        return name if ":" in name else urls.host_key(urls.normalise(f"http://{name}/"))
    except UrlError:
        return name


def _scheme(name: str) -> str:
    return name.lower().rstrip(":/")


_SHAPES: dict[str, Callable[[Any], Any]] = {
    "state": State,
    "host": _host,
    "scheme": _scheme,
}


def is_moment(name: str) -> bool:
    """Whether an option is a moment."""
    return name.endswith(("_after", "_before"))


def filtered(given: dict[str, Any]) -> bool:
    """Whether any filter was given."""
    names = {flags[0].partition("/")[0] for flags, _ in _FILTERS}
    destinations = {name.lstrip("-").replace("-", "_") for name in names}
    return any(given[name] is not None for name in destinations)
