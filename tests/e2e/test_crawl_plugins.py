"""Plug-ins of a crawl, installed as a package that only PYTHONPATH knows."""

import json
from pathlib import Path

import pytest

from e2e.command import Command, Ended
from e2e.site import crawl, made, page

MODULE = '''
import json, os


class Diary:
    """Writes down what it is told, and says no to what it was told to."""

    def __init__(self):
        self.seen = []

    def before_request(self, request):
        self.seen.append(["before", request.url])
        return "/vetoed" not in request.url

    def after_request(self, request, answer):
        self.seen.append(["after", request.url, answer.status])

    def link_found(self, found):
        self.seen.append(["link", found.url, found.place.document])
        return not found.url.endswith("/unwanted")

    def page_parsed(self, url, answer):
        self.seen.append(["page", url, len(answer.body)])

    def run_ended(self, summary):
        self.seen.append(["ended", summary.checked])
        with open("diary.json", "w") as file:
            json.dump(self.seen, file)


class Faulty:
    def before_request(self, request):
        raise RuntimeError("it broke")

    def link_found(self, found):
        return 1 / 0

    def run_ended(self, summary):
        raise KeyError("at the end")


class Silent:
    pass


class Broken:
    def __init__(self):
        raise OSError("no such luck")


class Deadly:
    """Kills the process before anything is asked."""

    def __init__(self):
        os.kill(os.getpid(), 9)


class Late:
    """Says no by None, 0 and "": nothing but False is a no."""

    def before_request(self, request):
        return None

    def link_found(self, found):
        return 0
'''
POINTS = """[ronda.events]
diary = told:Diary
faulty = told:Faulty
silent = told:Silent
broken = told:Broken
late = told:Late
deadly = told:Deadly
missing = told:NotThere
"""


def install(folder: Path) -> str:
    """Write the package; what PYTHONPATH must be."""
    facts = folder / "told-1.0.dist-info"
    facts.mkdir(parents=True)
    (folder / "told.py").write_text(MODULE)
    (facts / "entry_points.txt").write_text(POINTS)
    words = "Metadata-Version: 2.1\nName: told\nVersion: 1.0\n"
    (facts / "METADATA").write_text(words)
    return str(folder)


def crawled(ronda: Command, url: str, *names: str) -> Ended:
    env = {"PYTHONPATH": install(ronda.folder / "plugins")}
    options = [word for name in names for word in ("--plugin", name)]
    return crawl(ronda, url, *options, env=env)


def answers(path: str) -> bytes:
    ways = {"/": ("/a", "/vetoed", "/unwanted"), "/a": ("/", "/unwanted")}
    return page(*ways.get(path, ())).encode()


class TestTold:
    def test_each_hook_is_told_and_may_say_no(self, ronda: Command) -> None:
        with made(answers) as server:
            ended = crawled(ronda, server.url(), "diary")
        seen = json.loads((ronda.folder / "diary.json").read_text())
        url = server.url

        assert sorted(server.asked) == ["/", "/a", "/robots.txt"]
        assert set(ended.results) == {url(), url("/a"), url("/vetoed")}
        veto = ended.results[url("/vetoed")]
        assert (veto["verdict"], veto["reason"]) == ("blocked", "vetoed")
        assert ended.summary["excluded"] == 1
        told = [row[:2] for row in seen]
        paths = ("/robots.txt", "/", "/a")
        assert [row for row in told if row[0] == "before"] == [
            ["before", url(path)] for path in (*paths, "/vetoed")
        ]
        assert [row for row in seen if row[0] == "after"] == [
            ["after", url(path), 200] for path in paths
        ]
        assert [row for row in seen if row[0] == "page"] == [
            ["page", url(path), len(answers(path))] for path in ("/", "/a")
        ]
        links = [row[1:] for row in seen if row[0] == "link"]
        assert links[0] == [url(), ""]
        assert [url("/unwanted"), url("/a")] in links
        assert seen[-1] == ["ended", 3]
        assert ended.code == 0

    def test_only_false_is_a_no(self, ronda: Command) -> None:
        with made(answers) as server:
            ended = crawled(ronda, server.url(), "late")

        assert len(ended.results) == 4
        assert ended.summary["remarks"] == []

    def test_one_that_raises_is_told_of_once_and_the_run_goes_on(
        self, ronda: Command
    ) -> None:
        with made(answers) as server:
            ended = crawled(ronda, server.url(), "faulty", "diary")

        assert len(ended.results) == 3  # the other one still says no
        remarks = ended.summary["remarks"]
        assert len(remarks) == len(set(remarks)) == 3
        assert any("faulty.before_request" in r and "it broke" in r for r in remarks)
        assert any("faulty.link_found" in r and "ZeroDivision" in r for r in remarks)
        assert any("faulty.run_ended" in r and "at the end" in r for r in remarks)
        assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nobody", "no plug-in 'nobody'; known: broken, deadly, diary, faulty"),
        ("silent", "'silent' has none of before_request"),
        ("broken", "'broken' cannot be loaded: OSError: no such luck"),
        ("missing", "'missing' cannot be loaded: AttributeError"),
    ],
)
def test_one_that_cannot_be_is_one_clear_line(
    ronda: Command, name: str, words: str
) -> None:
    ended = crawled(ronda, "http://127.0.0.1:1/", name)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"ronda: crawl.plugins: {words}")
    assert ended.err.count("\n") == 1
