"""Owners and targets by name; where there is none such, what to do and what is near."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from ronda.cli.watch.session import Session
from ronda.errors import NotFoundError, UrlError, UsageError
from ronda.model import Place
from ronda.probes import Handlers
from ronda.targets.source import not_a_url
from ronda.targets.textlist import is_absolute
from ronda.urls import shown

if TYPE_CHECKING:
    from ronda.store.sql.catalogue import Shown
    from ronda.store.sql.store import Store
    from ronda.store.sql.values import Owner

OPERATOR = "operator"  # the owner that is always there
ALIKE = 0.66  # of 1: how much of a path must be the same to be a slip of the finger
NEAR = 200  # targets of a host among which a near name is sought


def with_owner(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a command be told for whom it works."""
    return click.option(
        "--owner",
        default=OPERATOR,
        show_default=True,
        metavar="NAME",
        help="Who watches.",
    )(command)


def owner_named(store: "Store", name: str) -> "Owner":
    """An owner by name."""
    owners = {owner.name: owner for owner in store.owners.list()}
    if name in owners:
        return owners[name]
    advice = near(name, owners) or f"`ronda owner add {shown(name)}` makes one"
    raise NotFoundError(f"no owner '{shown(name)}'; {advice}")


def target_named(session: Session, store: "Store", text: str) -> "Shown":
    """A target by its URL."""
    from ronda.store.sql.adding import key_of  # noqa: PLC0415  # see Session.opened
    from ronda.workers.enrolment import enrol  # noqa: PLC0415

    if not is_absolute(text):
        raise UsageError(not_a_url(text, Place("")).message)
    try:
        given = enrol(text, Handlers(session.settings))
    except UrlError as error:
        raise UsageError(str(error)) from None
    found = store.catalogue.show(key_of(given.url))
    if found is None:
        raise not_watched(store, given.url, given.host)
    return found


def near(name: str, known: Iterable[str]) -> str:
    """What may have been meant, as a question; empty when nothing is near."""
    found = get_close_matches(name, list(known), 1)
    return f"did you mean {shown(found[0])}?" if found else ""


def near_url(url: str, known: Iterable[str]) -> str:
    """The same of URLs of one host: only what follows the host says anything."""
    paths = {_path(one): one for one in known}
    found = get_close_matches(_path(url), list(paths), 1, ALIKE)
    return f"did you mean {shown(paths[found[0]])}?" if found else ""


def _path(url: str) -> str:
    return url.partition("://")[2].partition("/")[2]


def not_watched(store: "Store", url: str, host: str) -> NotFoundError:
    """Nobody watches a URL: name the nearest of its host that somebody does."""
    from ronda.store.sql.catalogue import Query  # noqa: PLC0415  # see Session.opened

    page = store.catalogue.find(Query(host=host, limit=NEAR))
    advice = near_url(url, [row.url for row in page.rows])
    advice = advice or "`ronda target add` watches it, `ronda target list` shows all"
    return NotFoundError(f"{shown(url)}: not watched; {advice}")
