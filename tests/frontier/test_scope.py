"""Which URLs are ours to ask."""

from pathlib import Path

import pytest

from ronda.errors import SettingsError
from ronda.frontier import Scope
from ronda.frontier.scope import read_ignore

URL = "https://docs.example.org/guide/page.pdf?x=1"


def test_everything_is_in_scope_without_patterns() -> None:
    assert URL in Scope((), ())


@pytest.mark.parametrize(
    "pattern",
    [
        "docs.example.org",
        "https://docs.",
        "*.pdf*",
        "*example*guide*",
        r"re:\.pdf\?x=\d$",
    ],
)
def test_a_pattern_names_a_host_a_beginning_a_glob_or_a_regular_expression(
    pattern: str,
) -> None:
    assert URL not in Scope((), [pattern])
    assert URL in Scope([pattern], ())


@pytest.mark.parametrize("pattern", ["example.org", "guide", "*.pdf", "re:^guide"])
def test_a_pattern_that_does_not_match_leaves_the_url_alone(pattern: str) -> None:
    assert URL in Scope((), [pattern])
    assert URL not in Scope([pattern], ())


def test_exclude_wins_over_include() -> None:
    assert URL not in Scope(["docs.example.org"], ["*.pdf*"])


def test_a_bad_regular_expression_is_one_clear_line() -> None:
    with pytest.raises(SettingsError, match=r"check.exclude: 're:\(' is not a regular"):
        Scope((), ["re:("])


def test_the_ignore_file_holds_one_pattern_a_line(tmp_path: Path) -> None:
    file = tmp_path / ".rondaignore"
    file.write_text("# ours\n\n  example.org \n*.pdf\n")

    assert read_ignore(file) == ["example.org", "*.pdf"]
    assert read_ignore(tmp_path / "missing") == []


def test_an_ignore_file_that_cannot_be_read_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="Is a directory"):
        read_ignore(tmp_path)
