"""Writes docs/reference/ and ronda.example.toml from the code; `make docs` runs it.

With `--check` it writes nothing, and fails with the names of the files that are behind.
"""

import sys
from collections.abc import Iterable, Iterator
from errno import EACCES, ECONNREFUSED, EHOSTUNREACH
from inspect import cleandoc
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import Any

import click
import msgspec
import pycurl
from msgspec import Struct

from ronda import errors
from ronda.cli import INTERRUPTED, ronda
from ronda.cli.codes import BROKEN, UNUSABLE
from ronda.cli.options import OPTIONS
from ronda.cli.report import FORMATS
from ronda.config import IGNORE_NAME, Settings, section
from ronda.model import Answer, State, Timings
from ronda.probes import REASONS, SCHEMES, Handlers, http_verdict
from ronda.probes.faults import CURL_REASONS, VERIFY_REASONS, fault
from ronda.probes.http import PERMANENT, REDIRECTS
from ronda.probes.reasons import status_words
from ronda.probes.tasks import rows as task_rows
from ronda.targets import SOURCES

ROOT = Path(__file__).parents[1]
WIDTH = 80  # characters of the help texts, and of comments in ronda.example.toml
LOOK: dict[str, Any] = {"terminal_width": WIDTH, **ronda.context_settings}
STATUSES = (*range(200, 600), 999)
UNNAMED = status_words(599)  # the words of a status that nobody has defined

STATES = {
    State.OK: "It works.",
    State.WARNING: "It works, but needs a hand.",
    State.TEMPORARY: "It does not work now, and may heal by itself.",
    State.BROKEN: "It is dead. The only state that makes `ronda check` end with 1.",
    State.BLOCKED: "Not ours to judge: we are asked to stay away, or turned away.",
    State.UNSUPPORTED: "There is no handler for such a URL.",
    State.UNKNOWN: "Never checked, or our own fault. Never counts against a target.",
}
_DIALLED = Timings(connect=0.1)
# Where libcurl's number is too broad: what else decides, and such an answer.
REFINED = (
    ("the name server itself fails", Answer(error=6, errno=11)),
    ("the system says that it was refused", Answer(error=7, errno=ECONNREFUSED)),
    ("the system says unreachable, or forbids it", Answer(error=7, errno=EHOSTUNREACH)),
    ("instead of a status line", Answer(error=8, error_text="status line")),
    ("before the connection stands", Answer(error=28)),
    ("in the TLS handshake", Answer(error=28, error_text="SSL", timings=_DIALLED)),
    ("before the status line", Answer(error=28, timings=_DIALLED)),
    ("after the status line", Answer(status=200, error=28, timings=_DIALLED)),
    ("the system denies it", Answer(error=37, errno=EACCES)),
    ("a kept connection had died", Answer(error=55, error_text="Connection died")),
    ("a kept connection had died", Answer(error=56, error_text="Connection died")),
    ("within a chunked body", Answer(error=56, error_text="chunk")),
    ("the names differ", Answer(error=60, error_text="subject name")),
)

SETTINGS_PAGE = """\
# Settings

{note}

They stand in `ronda.toml` in the working directory, or in the file that `--config`
names; [ronda.example.toml](../../ronda.example.toml) has them all. What is given on the
command line goes over what the file says, and lists and tables are added to the file's.
An unknown key is an error. Patterns to leave out may also stand in `{ignore}`, one a
line.
"""

VERDICTS_PAGE = """\
# Verdicts

{note}

A verdict is a state, a reason code and words. Codes are stable, for programs; words are
for people, and may change.

## States

{states}

## Reason codes

Besides these there is one for every [HTTP status](#http-statuses): `http_` and its
number.

{reasons}

## HTTP statuses

Of the answer at the end of the way: redirects are followed, and judged by where they
lead. A failure that HEAD brings is asked again by GET. Some refusals are known by their
headers to come from a wall against programs: `bot_wall`.

{statuses}

## libcurl's errors

Any other number is `own_fault`. Those above 1000 are Ronda's own.

{curl}

## OpenSSL's verification codes

They refine libcurl's error 60, and are numbered as in OpenSSL's `x509_vfy.h`. Any other
is `tls_untrusted`.

{verify}
"""

FORMATS_PAGE = """\
# Formats, schemes and tasks

{note}

## What can be read

The format is told by the ending of a name (`.gz` may follow it), by the media type of
an answer, or by the first bytes. In a folder only documents are read, not lists.
Bookmarks of browsers are `html` or `json`. Sitemap indexes are `sitemap`, and are
followed.

{sources}

## What can be written

`--format` takes the name; `--output` picks it by the ending of the file.

{reports}

## What can be checked

Other schemes are `unsupported` until a plug-in knows them:
[a scheme of your own](../howto/own-scheme.md).

{schemes}

## The tasks of plans

These are built in; `ronda task list` also shows [those of your own](../howto/tasks.md).

{tasks}
"""

ERRORS_PAGE = """\
# Errors and exit codes

{note}

A link that does not work is no error, but a [verdict](verdicts.md). Errors are for what
keeps Ronda from working; each is one line on standard error.

## Exit codes of `ronda check`

{codes}

When links are broken *and* inputs cannot be used, it is {broken}.

## Errors

{tree}

{errors}
"""


class Setting(Struct, frozen=True):
    """One setting, as the JSON schema of the settings tells it."""

    section: str
    key: str
    schema: dict[str, Any]

    @property
    def words(self) -> str:
        """What it is for."""
        return str(self.schema["description"])

    @property
    def kind(self) -> str:
        """What may be given."""
        return _kind(self.schema)

    @property
    def default(self) -> str | None:
        """Its default as TOML; None when it has none."""
        default = self.schema.get("default")
        return None if default is None else _toml(default)

    @property
    def unset(self) -> str:
        """What holds when it has no default and nobody sets it."""
        return "not set" if "default" in self.schema else "must be set"

    @property
    def toml(self) -> str:
        """The line that sets it to its default; without one, a comment."""
        if self.default is None:
            return f"# {self.key} = {_toml(self.schema['examples'][0])}"
        return f"{self.key} = {self.default}"


def settings(name: str) -> list[Setting]:
    """The settings of a section, in their order."""
    _, defined = msgspec.json.schema_components([Settings])
    schema = defined["Settings"]["properties"][name]
    kind = schema.get("items", schema)["$ref"].rpartition("/")[2]
    table = defined[kind]["properties"]
    return [Setting(name, key, schema) for key, schema in table.items()]


def sections() -> dict[str, str]:
    """What each section of ronda.toml is about."""
    fields = msgspec.structs.fields(Settings)
    return {field.name: cleandoc(section(field.type).__doc__) for field in fields}


def heading(name: str) -> str:
    """How a section begins in ronda.toml: [one], or [[each]] of its rows."""
    rows = isinstance(getattr(Settings(), name), tuple)
    return f"[[{name}]]" if rows else f"[{name}]"


def _commented(line: str) -> str:
    return line if line.startswith("#") else f"# {line}"


_KINDS = {
    "array": "list of texts",
    "boolean": "true or false",
    "integer": "whole number",
    "number": "number",
    "object": "table of texts",
    "string": "text",
}


def _kind(schema: dict[str, Any]) -> str:
    match schema:
        case {"anyOf": [wanted, _]}:  # or not set
            return _kind(wanted)
        case {"enum": values}:
            return "one of " + ", ".join(values)
        case {"$ref": "#/$defs/State"}:
            return "one of " + ", ".join(State)
        case {"type": kind}:
            return _KINDS[kind] + _range(schema)
        case _:
            raise ValueError(f"a kind of setting that has no words yet: {schema}")


def _range(schema: dict[str, Any]) -> str:
    if "maximum" in schema:
        return f" from {schema['minimum']} to {schema['maximum']}"
    if "exclusiveMinimum" in schema:
        return f" above {schema['exclusiveMinimum']}"
    return f" from {schema['minimum']}" if "minimum" in schema else ""


def _toml(value: Any) -> str:
    return msgspec.json.encode(value).decode()  # the same for all that defaults hold


# -- pages -----------------------------------------------------------------------


def settings_page() -> str:
    """The settings by section, each with its option."""
    flags = {option.setting: option.flag for option in OPTIONS}
    head = ("key", "default", "type", "option", "meaning")
    blocks = [_filled(SETTINGS_PAGE, ignore=IGNORE_NAME)]
    for name, about in sections().items():
        rows = (
            (
                _code(item.key),
                item.unset if item.default is None else _code(item.default),
                item.kind,
                _codes(flags.get(f"{name}.{item.key}", "").split(", ")),
                item.words,
            )
            for item in settings(name)
        )
        title = heading(name)
        blocks.append(f"## {title}\n\n{about}\n\n{_table(head, rows)}\n")
    return "\n".join(blocks)


def verdicts_page() -> str:
    """States, reason codes, and where each of them comes from."""
    states = ((_code(state), STATES[state]) for state in State)
    reasons = ((_code(c), _code(r.state), r.words) for c, r in REASONS.items())
    verify = ((str(n), _code(code)) for n, code in VERIFY_REASONS.items())
    return _filled(
        VERDICTS_PAGE,
        states=_table(("state", "meaning"), states),
        reasons=_table(("code", "state", "words"), reasons),
        statuses=_table(("status", "state", "code", "words"), _statuses()),
        curl=_table(("number", "libcurl's name", "when", "code"), _curl_errors()),
        verify=_table(("number", "code"), verify),
    )


def _statuses() -> Iterator[tuple[str, ...]]:
    """Each status that has a name, and the ranges between them."""
    for (words, *_), group in groupby(STATUSES, key=_status_key):
        first, *rest = group
        if first in REDIRECTS:
            good = "moved_permanently" if first in PERMANENT else "redirected"
            yield str(first), "followed", f"{_code(good)} if all is well there", words
            continue
        found = http_verdict(first)
        numbers = f"{first}-{rest[-1]}" if rest else str(first)
        code = f"{_code('http_')} and the number" if rest else _code(found.reason)
        yield numbers, _code(found.state), code, words


def _status_key(status: int) -> tuple[str, object]:
    words = status_words(status)
    if words != UNNAMED:
        return words, status
    return "", (http_verdict(status).state, status // 100)


def _curl_errors() -> Iterator[tuple[str, ...]]:
    """Each of libcurl's numbers, and what else decides where it is too broad."""
    names = _curl_names()
    for number, code in sorted(CURL_REASONS.items()):
        refined = [(w, fault(a).reason) for w, a in REFINED if a.error == number]
        if code not in {found for _, found in refined}:
            refined.append(("otherwise" if refined else "", code))
        for words, found in refined:
            yield str(number), _codes(names.get(number, ())), words, _code(found)


def _curl_names() -> dict[int, list[str]]:
    """The names that libcurl has, or had, for a number, as far as pycurl knows them."""
    found: dict[int, list[str]] = {}
    for name in sorted(dir(pycurl)):
        if name.startswith("E_") and not name.startswith("E_MULTI_"):
            found.setdefault(getattr(pycurl, name), []).append(f"CURLE_{name[2:]}")
    return found


def commands_page() -> str:
    """The help text of every command, those of groups under their group."""
    top = click.Context(ronda, info_name="ronda", **LOOK)
    blocks = ["# Commands", NOTE, "## ronda", _fenced(ronda.get_help(top))]
    return "\n\n".join([*blocks, *_commands(ronda, top)]) + "\n"


def _commands(group: click.Group, above: click.Context) -> Iterator[str]:
    level = "#" * (above.command_path.count(" ") + 2)
    for name in group.list_commands(above):
        if command := group.get_command(above, name):
            context = click.Context(command, above, name, **LOOK)
            yield f"{level} {context.command_path}"
            yield _fenced(command.get_help(context))
            if isinstance(command, click.Group):
                yield from _commands(command, context)


def formats_page() -> str:
    """What can be read, written and checked."""
    kinds = {True: "a list: each URL stands alone", False: "a document"}
    sources = (
        (_code(s.name), _codes(s.suffixes), _codes(s.media_types), kinds[s.is_list])
        for s in SOURCES
    )
    moments = {True: "while the run goes on", False: "at the end"}
    reports = (
        (_code(f.name), _codes(f.suffixes), moments[f.line is not None])
        for f in FORMATS.values()
    )
    handlers = Handlers(Settings())
    made = ((name, handlers[name]) for name in SCHEMES)
    schemes = ((_code(name), str(handler.__doc__)) for name, handler in made)
    tasks = (
        (_code(row.name), row.description, ", ".join(row.kinds) or "all")
        for row in task_rows(handlers)
    )
    return _filled(
        FORMATS_PAGE,
        sources=_table(("format", "endings", "media types", "is"), sources),
        reports=_table(("format", "endings", "written"), reports),
        schemes=_table(("scheme", "leads to"), schemes),
        tasks=_table(("task", "what it is", "for"), tasks),
    )


def errors_page() -> str:
    """The errors raised on purpose, and how a command ends."""
    codes = (
        ("0", "nothing is broken"),
        (str(BROKEN), "something is broken"),
        (str(UNUSABLE), "wrong usage or settings, or an input that cannot be used"),
        (str(INTERRUPTED), "interrupted; the report holds what was done until then"),
    )
    kinds = _family(errors.RondaError)
    rows = ((_code(k.__name__), str(k.__doc__), str(k.exit_code)) for k in kinds)
    return _filled(
        ERRORS_PAGE,
        codes=_table(("code", "meaning"), codes),
        broken=str(BROKEN),
        tree=_fenced(str(errors.__doc__).partition("\n\n")[2]),
        errors=_table(("error", "meaning", "exit code where it ends the run"), rows),
    )


def _family(kind: type[errors.RondaError]) -> Iterator[type[errors.RondaError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _family(child)


def example() -> str:
    """Every setting at its default, ready to be copied."""
    lines = [
        "# Every setting of Ronda at its default; copy what you need to ronda.toml.",
        "# Made from the code by `make docs`: do not edit.",
    ]
    for name, about in sections().items():
        comment = [f"# {line}".rstrip() for line in about.splitlines()]
        # Rows that nobody has unless he writes them are shown as comments.
        shown = str if getattr(Settings(), name) else _commented
        lines += ["", *comment, shown(heading(name))]
        for item in settings(name):
            words = wrap(f"{item.words} ({item.kind})", WIDTH)
            lines += ["", *(f"# {line}" for line in words), shown(item.toml)]
    return "\n".join(lines) + "\n"


# -- Markdown ----------------------------------------------------------------------

NOTE = "<!-- Made from the code by `make docs`: do not edit. -->"


def _filled(page: str, **blocks: str) -> str:
    return page.format(note=NOTE, **blocks)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = (head, tuple("---" for _ in head), *rows)
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _code(text: str) -> str:
    return f"`{text}`"


def _codes(texts: Iterable[str]) -> str:
    return " ".join(_code(text) for text in texts if text)


def _fenced(text: str) -> str:
    return f"```text\n{text.strip()}\n```"


# -- files -------------------------------------------------------------------------


def files() -> dict[Path, str]:
    """Everything that is made, by its path from the root."""
    reference = Path("docs", "reference")
    return {
        reference / "settings.md": settings_page(),
        reference / "verdicts.md": verdicts_page(),
        reference / "commands.md": commands_page(),
        reference / "formats.md": formats_page(),
        reference / "errors.md": errors_page(),
        Path("ronda.example.toml"): example(),
    }


def main() -> None:
    """Write what is behind the code, or only name it."""
    behind = {
        name: text
        for name, text in files().items()
        if not (ROOT / name).is_file() or (ROOT / name).read_text("utf-8") != text
    }
    if "--check" in sys.argv[1:]:
        names = ", ".join(map(str, behind))
        sys.exit(f"behind the code: {names}; run `make docs`" if behind else 0)
    for name, text in behind.items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(text, "utf-8")
        sys.stdout.write(f"wrote {name}\n")


if __name__ == "__main__":
    main()
