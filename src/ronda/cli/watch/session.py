"""What every command over the store shares: where it is, and how to answer."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ronda.cli.options import OPTIONS, as_settings, with_config, with_options
from ronda.cli.outputs import terminal_style
from ronda.cli.report.style import Style
from ronda.config import Settings, load
from ronda.errors import StoreError, UsageError
from ronda.urls import shown

if TYPE_CHECKING:
    from ronda.store.sql.store import Store

# Of the settings, those that such a command can be given as options.
_SHARED = {"report.colour"}
_LISTS = {"check.column", "report.progress"}
_LONG = {"report.progress"}
_FILES = {"file", "files", "urls"}  # and URLs, which have their own rules


class Session:
    """One call of a command: its settings, its store, and how it prints."""

    def __init__(self, settings: Settings, as_json: bool) -> None:
        self.settings = settings
        self.as_json = as_json

    @property
    def style(self) -> Style:
        """What standard output can show."""
        return terminal_style(sys.stdout, self.settings.report)

    @contextmanager
    def opened(
        self, *, make: bool = False, as_it_is: bool = False
    ) -> Iterator["Store"]:
        """The store.

        Args:
            make: make one where there is none; only who adds to it does, and if he
                fails before there is anything in it, it is gone again.
            as_it_is: whatever its version.
        """
        # SQLAlchemy takes longer to load than most commands to run, --help among them.
        from ronda.store.sql.store import Store  # noqa: PLC0415

        where = self.settings.store.db
        if not make:
            require(where)
        path = _file(where)
        begun = path if path is not None and not _is_there(path) else None
        try:
            with Store(where, as_it_is=as_it_is) as store:
                yield store
        except BaseException:
            if begun is not None:
                _discard(begun)
            raise

    def tell(self, lines: Iterable[str], tree: Any) -> None:
        """Print an answer: for people, or with --json for programs."""
        if self.as_json:
            sys.stdout.buffer.write(msgspec.json.encode(tree) + b"\n")
        else:
            for line in lines:
                click.echo(line)


def require(where: str) -> None:
    """Do not make a store out of a slip in its name."""
    path = _file(where)
    if path is not None and not _is_there(path):
        words = "no store there yet; `ronda target add URL` makes one"
        raise StoreError(f"--db {path}: {_no_folder(where) or words}")


def _file(where: str) -> Path | None:
    """The file of a store; None: it is none."""
    from ronda.store.sql.engines import default_path  # noqa: PLC0415

    if "://" in where or where.startswith(("postgresql:", "postgres:")):
        return None
    return Path(where) if where else default_path()


def _no_folder(where: str) -> str:
    """That its folder is missing; that of the user's own store is made with it."""
    from ronda.store.sql.engines import no_folder  # noqa: PLC0415

    return no_folder(where) if where else ""


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:  # a folder that is closed to us
        raise StoreError(f"--db {path}: {error.strerror}") from None


def _discard(path: Path) -> None:
    from ronda.store.sql.copies import discard  # noqa: PLC0415

    discard(path)


def wake() -> None:
    """Let daemons look at once at what is due now."""
    from ronda.server.control import wake_all  # noqa: PLC0415

    wake_all()


def with_store(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command its session, from the options that all of them have."""

    @wraps(command)
    def called(db: str, as_json: bool, config_file: Path | None, **given: Any) -> int:
        options = as_settings(given) | ({"store": {"db": db}} if db else {})
        rest = {name: value for name, value in given.items() if "__" not in name}
        _require_text(rest)
        return command(Session(load(config_file, options), as_json), **rest)

    decorated = _chosen(_SHARED)(called)
    decorated = with_config(decorated)
    decorated = click.option(
        "--db",
        default="",
        metavar="FILE|URL",
        help="The store: a file, or postgresql://…; without it, that of the settings.",
    )(decorated)
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(
        decorated
    )


def _require_text(given: dict[str, Any]) -> None:
    """No database takes what is not UTF-8; only names of files may be anything."""
    for name, value in given.items():
        texts = value if isinstance(value, tuple) else (value,)
        for text in texts if name not in _FILES else ():
            if isinstance(text, str) and not text.isprintable():
                words = "not a line of text, or not in UTF-8"
                raise UsageError(f"{name.replace('_', '-')} '{shown(text)}': {words}")


def reads_lists(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that reads lists what `ronda check` has for them."""
    return _chosen(_LISTS)(command)


def shows_progress(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a command that may take long be silent about it."""
    return _chosen(_LONG)(command)


def _chosen(settings: set[str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return with_options([o for o in OPTIONS if o.setting in settings])
