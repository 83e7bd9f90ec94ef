"""What is made from the code is up to date, and what the code has is in the docs."""

import io
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest
from msgspec.structs import fields

from ronda import errors, urls
from ronda.cli import Commands
from ronda.cli.options import OPTIONS
from ronda.cli.report import FORMATS
from ronda.config import Check, Settings, load, section
from ronda.model import Found, State
from ronda.probes import REASONS, SCHEMES
from ronda.probes.faults import CURL_REASONS, VERIFY_REASONS
from ronda.targets import SOURCES, anchors, gather

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
EXAMPLE = ROOT / "ronda.example.toml"
README_LINES = 120
GLOSSARY = (
    *("target", "owner", "plan", "task", "visit", "round", "request", "answer"),
    *("host", "server", "lease", "frontier", "crew", "worker", "verdict", "result"),
)
SETTINGS = [
    (table.name, field.name)
    for table in fields(Settings)
    for field in fields(section(table.type))
]
DOCUMENTS = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
    and "tests" not in path.parts
)


def test_what_is_made_from_the_code_is_not_behind_it():
    script = ROOT / "scripts" / "make_reference.py"
    command = [sys.executable, str(script), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


def test_the_readme_is_short():
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()

    assert len(lines) <= README_LINES


def test_the_readme_calls_ronda_as_it_is_called_in_a_fresh_checkout():
    text = (ROOT / "README.md").read_text("utf-8")
    code = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))

    assert "./ronda demo" in code
    assert re.findall(r"(?<!\./)\bronda .*", code) == []


@pytest.mark.parametrize("word", GLOSSARY)
def test_every_word_of_the_design_is_in_the_glossary(word):
    text = (ROOT / "docs" / "glossary.md").read_text("utf-8")

    assert f"| **{word}**" in text


# -- what the code has is in the reference -------------------------------------------


@pytest.mark.parametrize(("section", "key"), SETTINGS)
def test_every_setting_is_described_in_its_section(section, key):
    text = re.split(rf"## \[+{section}\]+\n", _page("settings.md"))[1]
    text = text.split("\n## ")[0]

    row = re.search(rf"^\| `{key}` \|.*\| (.*) \|$", text, re.MULTILINE)
    assert row, f"{section}.{key} has no row"
    assert row[1], f"{section}.{key} has no description"


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_option_stands_with_its_setting_and_in_the_help(option):
    key = option.setting.partition(".")[2]
    flag = option.flag.split(",")[0]

    assert re.search(rf"^\| `{key}` \|.* `{flag}`", _page("settings.md"), re.MULTILINE)
    assert re.search(rf"^  .*{flag}\b", _page("commands.md"), re.MULTILINE)


@pytest.mark.parametrize("name", Commands.table)
def test_every_command_has_its_help(name):
    assert f"## ronda {name}\n" in _page("commands.md")
    assert f"Usage: ronda {name} " in _page("commands.md")


@pytest.mark.parametrize(
    ("group", "name"),
    [
        (group, name)
        for group, load in Commands.table.items()
        for name in getattr(load(), "commands", ())
    ],
)
def test_every_command_of_a_group_has_its_help(group, name):
    assert f"### ronda {group} {name}\n" in _page("commands.md")
    assert f"Usage: ronda {group} {name} " in _page("commands.md")


@pytest.mark.parametrize("state", State)
def test_every_state_has_a_row(state):
    assert f"| `{state}` |" in _page("verdicts.md")


@pytest.mark.parametrize("code", REASONS)
def test_every_reason_has_a_row_with_its_state_and_words(code):
    reason = REASONS[code]

    assert f"| `{code}` | `{reason.state}` | {reason.words} |" in _page("verdicts.md")


def test_every_http_status_is_told_once():
    text = _part("verdicts.md", "HTTP statuses")
    told: list[int] = []
    for first, last in re.findall(r"^\| (\d+)(?:-(\d+))? \|", text, re.MULTILINE):
        told += range(int(first), int(last or first) + 1)

    assert told == [*range(200, 600), 999]


def test_every_error_of_libcurl_has_a_row():
    text = _part("verdicts.md", "libcurl's errors")
    told = {int(number) for number in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}

    assert told == set(CURL_REASONS)


def test_every_verification_code_has_a_row():
    text = _part("verdicts.md", "OpenSSL's verification codes")

    assert re.findall(r"^\| (\d+) \| `(\w+)` \|$", text, re.MULTILINE) == [
        (str(number), code) for number, code in VERIFY_REASONS.items()
    ]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_every_source_has_a_row_with_its_endings(source):
    text = _part("formats.md", "What can be read")

    assert f"| `{source.name}` |" in text
    assert all(f"`{suffix}`" in text for suffix in source.suffixes)


@pytest.mark.parametrize("report", FORMATS.values(), ids=lambda report: report.name)
def test_every_report_format_has_a_row_with_its_endings(report):
    text = _part("formats.md", "What can be written")

    assert f"| `{report.name}` |" in text
    assert all(f"`{suffix}`" in text for suffix in report.suffixes)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_has_a_row(scheme):
    assert f"| `{scheme}` |" in _part("formats.md", "What can be checked")


@pytest.mark.parametrize(
    "name", [name for name in vars(errors) if name.endswith("Error")]
)
def test_every_error_is_in_the_tree_and_has_a_row(name):
    text = _page("errors.md")

    assert re.search(rf"^\W*{name}\b", text, re.MULTILINE)
    assert f"| `{name}` |" in text


def _page(name: str) -> str:
    return (REFERENCE / name).read_text("utf-8")


def _part(name: str, title: str) -> str:
    return _page(name).split(f"## {title}\n")[1].split("\n## ")[0]


# -- the example ---------------------------------------------------------------------


def test_the_example_equals_the_defaults():
    assert load(EXAMPLE, {}) == Settings()


def test_the_example_names_every_setting_as_a_key_or_as_a_comment():
    told = []
    for line in EXAMPLE.read_text("utf-8").splitlines():
        if table := re.fullmatch(r"(?:# )?\[+(\w+)\]+", line):
            current = table[1]
        elif key := re.match(r"(?:# )?(\w+) = ", line):
            told.append((current, key[1]))

    assert told == SETTINGS


def test_what_the_example_leaves_out_can_be_set_to_what_it_proposes():
    text = re.sub(r"(?m)^# (\w+ = |\[\[)", r"\1", EXAMPLE.read_text("utf-8"))
    values = tomllib.loads(text)
    values = {s: t[0] if isinstance(t, list) else t for s, t in values.items()}

    assert load(EXAMPLE, values) != Settings()
    assert [(s, key) for s, table in values.items() for key in table] == SETTINGS


# -- links ---------------------------------------------------------------------------


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_relative_link_leads_somewhere(document):
    found = gather([str(document)], Check(fragments=True), io.BytesIO())

    assert [lost for item in found if (lost := _lost(item))] == []


def _lost(item: object) -> str:
    """Where a link to a file leads nowhere; anything else is not ours to follow."""
    if not isinstance(item, Found):
        return str(item)
    url, fragment = urls.split_fragment(item.url)
    if not url.startswith("file:"):
        return ""
    path = Path(unquote(url.removeprefix("file://")))
    place = f"line {item.place.line}: {path.relative_to(ROOT)}"
    if not path.exists():
        return place
    known = not fragment or unquote(fragment) in anchors(
        path.read_bytes(), "text/markdown"
    )
    return "" if known else f"{place}#{fragment}"
