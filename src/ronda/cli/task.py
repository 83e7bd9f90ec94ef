"""`ronda task`: the tasks of plans: which there are, and one tried by hand."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ronda import urls
from ronda.cli.codes import BROKEN, NOTHING
from ronda.cli.groups import Group
from ronda.cli.options import OPTIONS, as_settings, with_config, with_options
from ronda.cli.outputs import terminal_style
from ronda.cli.watch.table import Column, facts, lines
from ronda.cli.watch.trees import tree
from ronda.config import load
from ronda.errors import NotFoundError, UrlError, UsageError
from ronda.model import Answer, Request, Service, State, Via

if TYPE_CHECKING:
    from ronda.app.trying import Tried
    from ronda.config import Settings
    from ronda.probes.task import Row

_COLUMNS = (
    Column("task"),
    Column("language"),
    Column("for"),
    Column("description", most=60),
    Column("file"),
    Column("fault"),
)
_GOOD = {State.OK, State.WARNING}


@click.group("task", cls=Group, short_help="Show tasks, or try one by hand.")
def task() -> None:
    """Tasks: the steps of a plan. Built in, a plug-in, or a program in any language.

    \b
    Examples:
      ronda task list
      ronda task run url_status_codes https://your.site/wms
    """  # noqa: D301  # click reads \b


def _options(command: Any) -> Any:
    """What all of them can be told."""
    command = click.option("--json", "as_json", is_flag=True, help="Print JSON.")(
        command
    )
    command = click.option(
        "--folder",
        default="",
        metavar="PATH",
        help="Where the programs are; without it, tasks.folder of the settings.",
    )(command)
    colour = [option for option in OPTIONS if option.setting == "report.colour"]
    return with_config(with_options(colour)(command))


def _settings(config_file: Path | None, folder: str, **given: Any) -> "Settings":
    tasks = {"tasks": {"folder": folder}} if folder else {}
    return load(config_file, as_settings(given) | tasks)


@task.command("list", short_help="Show all tasks, and why some cannot be used.")
@_options
def list_(as_json: bool, **given: Any) -> int:
    """Show all tasks in the order in which plans have them.

    A program that does not tell its name, or not in time, is shown with the reason.

    \b
    Examples:
      ronda task list
      ronda task list --folder docs/tasks --json

    Ends with 0, with 1 when one of them cannot be used.
    """  # noqa: D301  # click reads \b
    settings = _settings(**given)
    rows = _rows(settings)
    if as_json:
        _write({"tasks": [_tree(row) for row in rows]})
    else:
        style = terminal_style(sys.stdout, settings.report)
        cells = (
            (
                row.name,
                row.language,
                ", ".join(row.kinds) or "all",
                row.description,
                row.script,
                row.fault,
            )
            for row in rows
        )
        click.echo("\n".join(lines(_COLUMNS, cells, style)))
    return BROKEN if any(row.fault for row in rows) else 0


@task.command("show", short_help="Show one task.")
@click.argument("name")
@_options
def show(name: str, as_json: bool, **given: Any) -> int:
    """Show what is known of a task.

    \b
    Examples:
      ronda task show url_status_codes

    Ends with 0, with 1 when there is no such task.
    """  # noqa: D301  # click reads \b
    settings = _settings(**given)
    found = [row for row in _rows(settings) if name in {row.name, row.script}]
    if not found:
        words = "`ronda task list` shows all"
        raise NotFoundError(f"there is no task {urls.shown(name)}: {words}")
    if as_json:
        _write({"task": _tree(found[0])})
    else:
        style = terminal_style(sys.stdout, settings.report)
        click.echo("\n".join(facts(_facts(found[0]), style)))
    return 0


@task.command("run", short_help="Try a task on a target, and see what it does.")
@click.argument("name")
@click.argument("url", metavar="TARGET")
@click.option("--type", "type_", default="", metavar="NAME", help="WMS, WFS, ...")
@click.option("--version", default="", metavar="TEXT", help="Of the service: 1.3.0.")
@click.option("--uuid", default="", metavar="TEXT", help="Of its catalogue record.")
@click.option("--description", default="", metavar="TEXT", help="What it is.")
@click.option(
    "--db",
    default="",
    metavar="FILE|URL",
    help="The store in which a TARGET that is an id is looked up.",
)
@_options
def run(name: str, url: str, as_json: bool, db: str, **given: Any) -> int:
    """Carry out one task on one target, and tell what was asked, answered and found.

    TARGET is a URL, or the id of a service in the store. Nothing is stored.

    \b
    Examples:
      ronda task run congruence https://your.site/wms
      ronda task run page_title https://your.site/ --folder docs/tasks
      ronda task run url_status_codes 12

    Ends with 0 when it is well, 1 when it is not, or when there is no such task or
    target.
    """  # noqa: D301  # click reads \b
    from ronda.app.trying import try_task  # noqa: PLC0415  # slow to load

    settings = _settings(**given)
    where, service = _target(url, db or settings.store.db, given)
    tried = asyncio.run(try_task(settings, name, where, service))
    if as_json:
        _write(_tried_tree(tried))
    else:
        style = terminal_style(sys.stdout, settings.report)
        click.echo("\n".join(facts(_told(tried), style)))
    if tried.result is None:
        return NOTHING
    return 0 if tried.result.state in _GOOD else BROKEN


def _target(text: str, db: str, given: dict[str, Any]) -> tuple[str, Service]:
    """A target by its id in the store, or by its URL and what was said of it."""
    if text.isdecimal():
        from ronda.cli.watch.service import service_named  # noqa: PLC0415
        from ronda.store.sql.store import Store  # noqa: PLC0415

        with Store(db) as store:
            found = service_named(store, text)
            known = store.services.facts([found.gid])
        return found.url, known.get(found.gid) or Service(found.gid)
    try:
        url = urls.split_fragment(urls.normalise(text))[0]
    except UrlError as error:
        raise UsageError(str(error)) from None
    return url, Service(
        id=0,
        description=given["description"],
        type=given["type_"],
        version=given["version"],
        uuid=given["uuid"],
    )


def _rows(settings: "Settings") -> list["Row"]:
    from ronda.app.trying import tasks  # noqa: PLC0415  # slow to load

    return asyncio.run(tasks(settings))


def _facts(row: "Row") -> Iterator[tuple[str, str]]:
    yield "task", row.name
    yield "description", row.description
    yield "for", ", ".join(row.kinds) or "all kinds of targets"
    yield "language", row.language
    yield "file", row.script
    yield "run by", row.procedure
    yield "in the code", row.function
    yield "time-out", f"{row.timeout:g} s" if row.timeout else ""
    yield "fault", row.fault


def _told(tried: "Tried") -> Iterator[tuple[str, str]]:
    yield "task", tried.row.name
    for request, answer in tried.asked:
        yield "asked", _asked(request)
        yield "answered", _answered(answer)
    result = tried.result
    if result is None:
        yield "found", "not applicable: it has nothing to say of such a target"
        return
    yield "state", result.state.value
    yield "reason", result.reason
    yield "message", result.message
    yield "data", result.data
    yield "took", f"{result.seconds * 1000:,.0f} ms" if result.seconds else ""
    for line in result.output.splitlines():
        yield "output", line


def _asked(request: Request) -> str:
    if request.via is Via.PROGRAM:
        job = msgspec.json.decode(request.payload)
        return " ".join([job["program"], *job["arguments"]])
    return f"{request.method} {urls.without_credentials(request.url)}"


def _answered(answer: Answer) -> str:
    ran = answer.ran
    if ran is None:
        return answer.error_text or str(answer.status)
    if ran.failure:
        return ran.failure
    how = "timed out" if ran.timed_out else f"killed by signal {ran.signal}"
    return how if ran.code is None else f"exit code {ran.code}"


def _tree(row: "Row") -> dict[str, Any]:
    found: dict[str, Any] = {
        name: getattr(row, name) for name in row.__struct_fields__ if name != "task"
    }
    return found


def _tried_tree(tried: "Tried") -> dict[str, Any]:
    asked = [
        {"asked": _asked(request), "answered": _answered(answer)}
        for request, answer in tried.asked
    ]
    return {"task": tried.row.name, "asked": asked, "result": tree(tried.result)}


def _write(found: dict[str, Any]) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(found) + b"\n")
