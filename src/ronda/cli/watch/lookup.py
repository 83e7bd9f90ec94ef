"""Owners and targets by name; where there is none such, what to do and what is near."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from itertools import islice, takewhile
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
ALIKE = 0.9  # of 1: how much of a name must be the same to be a slip of the finger
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
    advice = f"`ronda owner add {shown(name)}` makes one"
    raise NotFoundError(
        _advised(f"no owner '{shown(name)}'", advice, near(name, owners))
    )


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
    found = _nearest(name, list(known))
    return f"did you mean {shown(found[0])}?" if found else ""


def near_url(url: str, known: Iterable[str]) -> str:
    """The same of URLs of one host: only what follows the host says anything."""
    paths = {_path(one): one for one in known}
    found = _nearest(_path(url), list(paths))
    return f"did you mean {shown(paths[found[0]])}?" if found else ""


def _path(url: str) -> str:
    return url.partition("://")[2].partition("/")[2]


def _nearest(name: str, known: list[str]) -> list[str]:
    """What differs by one slip of the finger, or by next to nothing; one at most."""
    slips = (one for one in known if _is_slip(name, one))
    return [*islice(slips, 1)] or get_close_matches(name, known, 1, ALIKE)


def _is_slip(one: str, other: str) -> bool:
    """Whether one letter is too many, missing, another, or in the place of the next."""
    if one == other:
        return True
    start = _same(one, other)
    one, other = one[start:], other[start:]
    end = _same(one[::-1], other[::-1])
    one, other = one[: len(one) - end], other[: len(other) - end]
    swapped = len(one) == 2 and one == other[::-1]
    return start + end > 0 and (swapped or max(len(one), len(other)) <= 1)


def _same(one: str, other: str) -> int:
    """With how many same letters both begin."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in alike)


def not_watched(store: "Store", url: str, host: str) -> NotFoundError:
    """Nobody watches a URL: name the nearest of its host that somebody does."""
    from ronda.store.sql.catalogue import Query  # noqa: PLC0415  # see Session.opened

    page = store.catalogue.find(Query(host=host, limit=NEAR))
    advice = "`ronda target add` watches it, `ronda target list` shows all"
    question = near_url(url, [row.url for row in page.rows])
    return NotFoundError(_advised(f"{shown(url)}: not watched", advice, question))


def _advised(*parts: str) -> str:
    """What is wrong, what to do, and what may have been meant, if anything."""
    return "; ".join(filter(None, parts))
