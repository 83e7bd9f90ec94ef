"""`ronda db`: the store itself, kept in order."""

from pathlib import Path
from typing import Any

import click

from ronda.cli.codes import BROKEN
from ronda.cli.groups import Group
from ronda.cli.report.words import counted
from ronda.cli.watch import kinds
from ronda.cli.watch.session import Session, with_store
from ronda.cli.watch.times import iso, stamp
from ronda.cli.watch.transfer import export, import_
from ronda.cli.watch.trees import tree
from ronda.errors import UsageError
from ronda.urls import shown

HOUR, DAY = 3600.0, 86_400.0  # seconds


@click.group("db", cls=Group, short_help="Keep the store in order.")
def db() -> None:
    """Keep the store in order: migrate, check, prune, copy it, take it elsewhere.

    All of it can be done while daemons work on the store.

    \b
    Examples:
      ronda db check
      ronda db backup ronda.backup
      ronda db export everything.jsonl.gz --db ronda.db
    """  # noqa: D301  # click reads \b


@db.command(short_help="Bring the store to the version of this Ronda.")
@with_store
def migrate(session: Session) -> int:
    """Bring the store to the version of this Ronda, after an update.

    It is done as a whole or not at all. An empty database is set up.

    \b
    Examples:
      ronda db migrate
      ronda db migrate --db postgresql://ronda@db.example.org/ronda

    Ends with 0, with 2 when the store is of a newer Ronda, or of another program.
    """  # noqa: D301  # click reads \b
    from ronda.store.sql.migrating import migrate as take  # noqa: PLC0415

    with session.opened(make=True, as_it_is=True) as store:
        steps = take(store.database)
    session.tell(steps or ["There is nothing to migrate."], {"steps": steps})
    return 0


@db.command(short_help="Look whether all is as it should be.")
@with_store
def check(session: Session) -> int:
    """Look whether what the store says in one place agrees with what it says in others.

    \b
    Examples:
      ronda db check
      ronda db check --json

    Ends with 0 when all is well, 1 when something is wrong, 2 when it cannot be read.
    """  # noqa: D301  # click reads \b
    looked: list[str] = []
    with session.opened() as store:
        problems = store.upkeep.check(looked.append)
    good = [f"All is well: {counted(len(looked), 'rule')} looked at."]
    session.tell(problems or good, {"good": not problems, "problems": problems})
    return BROKEN if problems else 0


@db.command(short_help="Forget old history.")
@click.option(
    "--older-than",
    "age",
    metavar="TIME",
    callback=kinds.span,
    help="Forget results older than this, by whole hours: 90d; without it, as the "
    "settings say.",
)
@click.option(
    "--compact",
    is_flag=True,
    help="Give the space back too; it takes long, and daemons wait for it.",
)
@with_store
def prune(session: Session, age: float | None, compact: bool) -> int:
    """Forget results that are older than has to be, and what nobody needs any more.

    Daemons do it once a day. The last result of each target stays, however old.

    \b
    Examples:
      ronda db prune
      ronda db prune --older-than 30d --compact

    Ends with 0.
    """  # noqa: D301  # click reads \b
    if age is not None and age < HOUR:
        raise UsageError("--older-than: history goes by whole hours; 1h at least")
    retention = session.settings.store.retention * DAY if age is None else age
    with session.opened() as store:
        now = store.database.epoch()
        pruned = store.upkeep.prune(now, retention, compact=compact)
    before = (now - retention) // HOUR * HOUR
    others = (
        counted(pruned.hosts, "host"),
        counted(pruned.servers, "server"),
        counted(pruned.robots, "robots.txt file"),
    )
    told = f"{counted(pruned.results, 'result')} from before {stamp(before)}"
    found: dict[str, Any] = tree(pruned) | {"before": iso(before)}
    session.tell([f"Forgotten: {', '.join((told, *others))}."], found)
    return 0


@db.command(short_help="Copy the store into a file.")
@click.argument("file", type=click.Path(path_type=Path))
@with_store
def backup(session: Session, file: Path) -> int:
    """Copy the store as it is at this moment into a new FILE.

    An SQLite store gives an SQLite file, PostgreSQL a packed export.

    \b
    Examples:
      ronda db backup ronda.backup
      ronda db backup "ronda-$(date +%F).gz" --db postgresql://db.example.org/ronda

    Ends with 0, with 2 when the file is there already or cannot be written.
    """  # noqa: D301  # click reads \b
    if not str(file).isprintable():  # SQLite knows no such names
        raise UsageError(f"{shown(str(file))}: not a name in UTF-8")
    with session.opened() as store:
        store.upkeep.backup(file)
    size = file.stat().st_size
    session.tell([f"{file}: {size:,} bytes"], {"file": str(file), "bytes": size})
    return 0


@db.command(short_help="Fill an empty store from a backup.")
@click.argument("file", type=click.Path(path_type=Path))
@with_store
def restore(session: Session, file: Path) -> int:
    """Fill an empty store from a backup, or from an export.

    \b
    Examples:
      ronda db restore ronda.backup --db new.db
      ronda db restore everything.jsonl.gz --db postgresql://db.example.org/ronda

    Ends with 0, with 2 when the store is not empty or the file cannot be used.
    """  # noqa: D301  # click reads \b
    with session.opened(make=True) as store:
        store.upkeep.restore(file)
        number = sum(store.catalogue.counts().values())
        where = store.database.shown
    words = f"{where}: {counted(number, 'target')}"
    session.tell([words], {"db": where, "targets": number})
    return 0


db.add_command(export)
db.add_command(import_)
