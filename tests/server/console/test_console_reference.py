"""What the control socket can do stands in its reference."""

import re
from pathlib import Path

import pytest

from ronda.server.console import acting, commands, grammar, listening, talk, telling
from ronda.server.console.pages import PAGES

TEXT = Path(__file__).parents[3].joinpath("docs/reference/control.md").read_text()
SOURCE = "".join(
    Path(module.__file__).read_text()
    for module in (acting, commands, grammar, listening, talk, telling)
)
CODES = {*re.findall(r'(?:Reply|refused)\(\s*"(\d{3})"', SOURCE)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_has_a_row_with_its_other_names(page):
    names = ", ".join(f"`{name}`" for name in page.aliases)

    assert f"| `{page.name}` | {names}".rstrip() in TEXT


def test_every_code_has_a_row_and_every_row_a_code():
    assert set(re.findall(r"^\| (\d{3}) \|", TEXT, re.MULTILINE)) == CODES
