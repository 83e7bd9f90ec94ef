"""`ronda robots` in a terminal."""

import io

from ronda.cli.report.style import Style
from ronda.cli.robots import text
from ronda.cli.robots.judged import Judged, Source, judge
from ronda.frontier.robots import Robots

RULES = b"User-agent: *\nDisallow: /a\nAllow: /a/b\n"


def written(*paths: str, colour: bool = False, width: int = 100) -> str:
    source = Source(name="robots.txt", robots=Robots.parse(RULES))
    judged: list[Judged] = [judge(source, "ronda", path) for path in paths]
    out = io.StringIO()
    text.write(source, "ronda", judged, out, Style(colour=colour, width=width))
    return out.getvalue()


def test_there_are_no_colours_where_nobody_wants_them() -> None:
    assert "\x1b" not in written("/a", "/b")


def test_what_is_allowed_is_green_and_what_is_not_is_in_another_colour() -> None:
    lines = written("/a", "/b", colour=True).splitlines()

    assert lines[-2].startswith("\x1b[35mdisallowed\x1b[0m  /a  Disallow: /a")
    assert lines[-1].startswith("\x1b[32mallowed   \x1b[0m  /b  no rule speaks")


def test_the_columns_stand_below_each_other() -> None:
    lines = written("/a", "/a/b/c", "/else").splitlines()[-3:]

    assert [line.find("/") for line in lines] == [12, 12, 12]
    assert lines[0].find("line 2") == lines[1].find("line 3")
    assert not any(line.endswith(" ") for line in lines)


def test_a_long_path_does_not_push_the_others_away() -> None:
    lines = written("/" + "x" * 70, "/a", width=50).splitlines()

    assert lines[-1].find("Disallow") < 40
