"""`ronda service`: targets that are more than a URL, and have a plan of tasks."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from ronda import urls
from ronda.cli.codes import NOTHING, UNUSABLE
from ronda.cli.groups import Group
from ronda.cli.report.words import counted, problem_line
from ronda.cli.watch.adding import unserved
from ronda.cli.watch.lookup import OPERATOR, owner_named
from ronda.cli.watch.rows import due, marks
from ronda.cli.watch.session import Session, wake, with_store
from ronda.cli.watch.table import Column, facts, lines
from ronda.cli.watch.times import stamp
from ronda.cli.watch.trees import tree
from ronda.errors import NotFoundError, UrlError, UsageError
from ronda.model import Problem, Service
from ronda.probes import Handlers
from ronda.targets.services import Listed, read

if TYPE_CHECKING:
    from ronda.store.sql.catalogue import Shown
    from ronda.store.sql.services import Detail
    from ronda.store.sql.store import Store

MOST = 10_000  # rows of a list
_COLUMNS = (
    Column("id", right=True),
    Column("state"),
    Column("type"),
    Column("version"),
    Column("description", most=60),
    Column("url"),
)
_TASKS = (
    Column("task"),
    Column("state"),
    Column("reason"),
    Column("took", right=True),
    Column("checked"),
    Column("message", most=100),
)


@click.group("service", cls=Group, short_help="Watch services: each has a plan.")
def service() -> None:
    """Watch services, such as WMS and WFS: targets with a plan of several tasks.

    Their tasks are those of `ronda task list`; rounds and `ronda serve` carry them out.

    \b
    Examples:
      ronda service add --file services.csv
      ronda service list --owner "Direção-Geral do Território"
      ronda service show 12
    """  # noqa: D301  # click reads \b


@service.command("add", short_help="Watch services, one by one or by a list.")
@click.argument("url", required=False)
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="FILE",
    help="A table or JSON Lines with the columns url, type, version, uuid, description "
    "and owner; - is standard input.",
)
@click.option("--type", "type_", default="", metavar="NAME", help="WMS, WFS, ...")
@click.option("--version", default="", metavar="TEXT", help="Of the service: 1.3.0.")
@click.option("--uuid", default="", metavar="TEXT", help="Of its catalogue record.")
@click.option("--description", default="", metavar="TEXT", help="What it is.")
@click.option(
    "--owner",
    default=OPERATOR,
    show_default=True,
    metavar="NAME",
    help="Who watches those for which the list names no owner.",
)
@with_store
def add(
    session: Session, url: str | None, files: tuple[str, ...], owner: str, **given: str
) -> int:
    """Watch services from now on; owners that a list names are made if need be.

    \b
    Examples:
      ronda service add 'https://geo.your.site/ows?service=WMS' --type WMS \\
          --version 1.3.0 --description 'Land cover'
      ronda service add --file services.csv --owner dgt

    Ends with 0, with 1 when a list names none, 2 when nothing was given or some of it
    cannot be used; the others are watched all the same.
    """  # noqa: D301  # click reads \b
    if not url and not files:
        raise UsageError("no service named: give a URL, or --file FILE")
    found = [*_single(url, given), *_of_files(files)]
    wrong = [one for one in found if isinstance(one, Problem)]
    listed = [one for one in found if isinstance(one, Listed)]
    with session.opened(make=True) as store:
        owner_named(store, owner)
        new = _watch(session, store, listed, owner)
        alone = unserved(store)
    for problem in wrong:
        click.echo(problem_line(problem), err=True)
    told = [f"{counted(len(listed), 'service')}, {new:,} of them new."]
    told += alone if new else []
    session.tell(told, {"services": len(listed), "new": new, "problems": len(wrong)})
    wake()
    if wrong:
        return UNUSABLE
    return 0 if listed else NOTHING


def _single(url: str | None, given: dict[str, str]) -> Iterator[Listed]:
    if url:
        try:
            page = urls.split_fragment(urls.normalise(url))[0]
        except UrlError as error:
            raise UsageError(str(error)) from None
        known = Service(
            id=0,
            description=given["description"],
            type=given["type_"],
            version=given["version"],
            uuid=given["uuid"],
        )
        yield Listed(page, url, known)


def _of_files(names: Iterable[str]) -> Iterator[Listed | Problem]:
    for name in names:
        if name == "-":
            yield from read(sys.stdin.buffer, name)
            continue
        try:
            with Path(name).open("rb") as file:
                yield from read(file, name)
        except OSError as error:
            raise UsageError(f"{urls.shown(name)}: {error.strerror}") from None


def _watch(
    session: Session, store: "Store", listed: Iterable[Listed], owner: str
) -> int:
    """Have services watched by their owners, and describe them; how many are new."""
    from ronda.workers.enrolment import enrolled  # noqa: PLC0415  # see Session.opened

    handlers, now = Handlers(session.settings), store.database.epoch()
    owners = {one.name: one.id for one in store.owners.list()}
    by_owner: dict[str, list[Listed]] = {}
    for one in listed:
        by_owner.setdefault(one.owner or owner, []).append(one)
    new = 0
    for name, some in by_owner.items():
        if name not in owners:
            owners[name] = store.owners.add(name, now=now)[0].id
        given = [enrolled(one.url, one.written, handlers) for one in some]
        new += store.adding.add(owners[name], given, now).new
        described = {one.url: replace(one.service, owner=name) for one in some}
        store.services.describe(described)
    return new


@service.command("list", short_help="Show services and their states.")
@click.option("--owner", metavar="NAME", help="Only those this owner watches.")
@click.option(
    "--offset", type=click.IntRange(0), default=0, help="Leave out so many first."
)
@click.option(
    "--limit",
    type=click.IntRange(1, MOST),
    default=100,
    show_default=True,
    help="Show so many at most.",
)
@with_store
def list_(session: Session, owner: str | None, offset: int, limit: int) -> int:
    """Show services, by their ids.

    \b
    Examples:
      ronda service list
      ronda service list --owner dgt --offset 100 --json

    Ends with 0, with 1 when there is none.
    """  # noqa: D301  # click reads \b
    with session.opened() as store:
        eid = owner_named(store, owner).id if owner else None
        found = store.services.of_owner(eid, offset, limit)
    rows = (
        (
            str(one.gid),
            one.state.value,
            one.type,
            one.version,
            one.description,
            urls.without_credentials(one.url),
        )
        for one in found
    )
    told = [*lines(_COLUMNS, rows, session.style)] if found else ["No service."]
    if len(found) == limit:
        told.append(f"There may be more: --offset {offset + limit}")
    session.tell(told, {"services": tree(found)})
    return 0 if found else NOTHING


@service.command("show", short_help="Show a service and what its tasks found.")
@click.argument("named", metavar="ID|URL")
@with_store
def show(session: Session, named: str) -> int:
    """Show all that is known of a service, and what each of its tasks found last.

    \b
    Examples:
      ronda service show 12
      ronda service show 'https://geo.your.site/ows?service=WMS' --json

    Ends with 0, with 1 when there is no such service.
    """  # noqa: D301  # click reads \b
    with session.opened() as store:
        from ronda.store.sql.adding import key_of  # noqa: PLC0415  # see Session.opened

        found = service_named(store, named)
        shown = store.catalogue.show(key_of(found.url))
        now = store.database.epoch()
    told = [*facts(_facts(found, shown, now), session.style)]
    if found.tasks:
        told += ["", *lines(_TASKS, _tasks(found), session.style)]
    session.tell(told, {"service": tree(found)})
    return 0


def service_named(store: "Store", named: str) -> "Detail":
    """A service by its id or its URL.

    Raises:
        NotFoundError: there is none.
    """
    if named.isdecimal():
        found = store.services.find([int(named)])
    else:
        page = urls.split_fragment(_normalised(named))[0]
        found = [one for one in store.services.find((), [page]) if one.url == page]
    if not found:
        advice = "`ronda service list` shows all"
        raise NotFoundError(f"no service {urls.shown(named)}; {advice}")
    return found[0]


def _normalised(text: str) -> str:
    try:
        return urls.normalise(text)
    except UrlError as error:
        raise UsageError(str(error)) from None


def _facts(
    found: "Detail", shown: "Shown | None", now: float
) -> Iterator[tuple[str, str]]:
    yield "id", str(found.gid)
    yield "url", urls.without_credentials(found.url)
    yield "state", found.state.value
    yield "reason", found.reason
    yield "message", found.message
    if shown is not None:
        yield "remarks", "; ".join(marks(shown.target))
        yield "next check", due(shown.target, now)
    yield "description", found.description
    yield "owners", ", ".join(shown.owners) if shown is not None else found.owner
    yield "kind", found.kind
    yield "type", found.type
    yield "version", found.version
    yield "uuid", found.uuid


def _tasks(found: "Detail") -> Iterator[tuple[str, ...]]:
    for one in found.tasks:
        took = f"{one.seconds * 1000:,.0f} ms" if one.seconds else ""
        moment = stamp(one.at)
        yield one.task, one.state.value, one.reason, took, moment, one.message
