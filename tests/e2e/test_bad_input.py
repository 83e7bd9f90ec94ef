"""Input that is wrong: one clear line with its place, and the rest is still checked."""

import os
import re
import sys
from pathlib import Path

import pytest

from e2e.command import Command, Ended
from e2e.test_verdicts import without_privileges
from servers.rude import Rude

MOST_MEMORY = 300  # megabytes
LONG_LINE = 100_000_000

# Tells the most memory its command ever had, as the last line of standard error.
_MEASURED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
kilobytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(kilobytes // 1024, file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture
def good(rude: Rude) -> str:
    return rude.url("/ok")


def measured(ronda: Command, *arguments: str) -> tuple[Ended, int]:
    """What came of a command, and how many megabytes it took."""
    prefix = (sys.executable, "-c", _MEASURED)
    ended = ronda.json("--no-robots", *arguments, prefix=prefix)
    assert "Traceback" not in ended.err
    return ended, int(ended.err.split()[-1])


def checked(ronda: Command, *arguments: str) -> Ended:
    ended = ronda.json("--no-robots", *arguments)
    assert "Traceback" not in ended.err
    return ended


class TestLines:
    @pytest.mark.parametrize(
        ("line", "words"),
        [
            (b"http://", "not a URL: http://"),
            (b"http://[::1", "not a URL: http://[::1"),
            (b"http://a\0b.test/", "NUL"),
            (b"http://a.test/\xff\xfe", "UTF-8"),
            (b"http://a.test/" + b"x" * 1_000_000, "too long"),
            (b"x" * 2_000_000, "a line of more than"),
            (b"just-a-word", "write it with its scheme"),
            (b"http://a.test:99999/", "not a URL"),
            (b"http://exa<mple.test/", "not a URL"),
        ],
    )
    def test_one_bad_line_is_told_and_the_others_are_checked(
        self, ronda: Command, good: str, line: bytes, words: str
    ) -> None:
        lines = [good.encode(), line, good.encode() + b"?2", b""]
        (ronda.folder / "list.txt").write_bytes(b"\r\n".join(lines))
        ended = checked(ronda, "list.txt")

        [(document, number, message)] = ended.problems
        assert (document, number) == ("list.txt", 2)
        assert words in message
        assert message.isprintable()
        assert len(message) < 400
        assert set(ended.results) == {good, f"{good}?2"}
        assert ended.code == 2

    def test_a_bad_line_is_one_line_of_the_report(
        self, ronda: Command, good: str
    ) -> None:
        bad = "http://[::1\nhttp://\n\x1b[31mred\x07\n"
        (ronda.folder / "list.txt").write_text(f"{bad}{good}\n")
        ended = ronda("check", "--no-robots", "list.txt")

        first, second, third, *_ = ended.out.splitlines()
        assert first.startswith("list.txt:1: ")
        assert second.startswith("list.txt:2: ")
        assert third.startswith("list.txt:3: ")
        assert "\x1b" not in ended.out
        assert "\x07" not in ended.out
        assert "3 problems" in ended.out
        assert ended.code == 2

    def test_what_is_broken_outweighs_what_is_wrong(
        self, ronda: Command, rude: Rude
    ) -> None:
        ronda.listed(["http://", rude.url("/status/404")], "list.txt")

        assert checked(ronda, "list.txt").code == 1

    def test_a_line_of_a_hundred_megabytes_is_skipped(
        self, ronda: Command, good: str
    ) -> None:
        with (ronda.folder / "list.txt").open("wb") as file:
            file.write(b"http://a.test/")
            file.write(b"x" * LONG_LINE)
            file.write(b"\n" + good.encode() + b"\n")
        ended, megabytes = measured(ronda, "list.txt")

        [(_, number, message)] = ended.problems
        assert (number, message[:20]) == (1, "a line of more than ")
        assert set(ended.results) == {good}
        assert megabytes < MOST_MEMORY

    @pytest.mark.parametrize("name", ["list.json", "list.jsonl", "list.csv"])
    def test_a_document_of_one_such_line_takes_no_more_memory(
        self, ronda: Command, good: str, name: str
    ) -> None:
        before, after = {
            "list.json": (b'["', b'", "%b"]'),
            "list.jsonl": (b'{"url": "', b'"}\n{"url": "%b"}\n'),
            "list.csv": (b"url\n", b"\n%b\n"),
        }[name]
        with (ronda.folder / name).open("wb") as file:
            file.write(before)
            file.write(b"x" * LONG_LINE)
            file.write(after % good.encode())
        ended, megabytes = measured(ronda, name)

        assert set(ended.results) == {good}
        assert megabytes < MOST_MEMORY

    def test_brackets_that_never_close_do_not_take_for_ever(
        self, ronda: Command, good: str
    ) -> None:
        (ronda.folder / "a.md").write_text(f"{'[' * 1_000_000}\n\n<{good}>\n")
        ended = checked(ronda, "a.md")

        assert set(ended.results) == {good}
        assert ended.summary["seconds"] < 20


class TestFiles:
    def test_an_empty_file_is_told_and_no_mistake(
        self, ronda: Command, good: str
    ) -> None:
        (ronda.folder / "empty.txt").touch()
        ended = checked(ronda, "empty.txt", ronda.listed([good]))

        [(document, _, message)] = ended.problems
        assert (document, "empty" in message) == ("empty.txt", True)
        assert (set(ended.results), ended.code) == ({good}, 0)

    @pytest.mark.parametrize("name", ["missing.txt", "no/such/folder/", "none-*.txt"])
    def test_a_missing_file_is_told_by_its_name(
        self, ronda: Command, good: str, name: str
    ) -> None:
        ended = checked(ronda, name, ronda.listed([good]))

        [(document, _, message)] = ended.problems
        assert document == name
        assert re.search("no such file|matches no file", message)
        assert (set(ended.results), ended.code) == ({good}, 2)

    @pytest.mark.parametrize("closed", ["folder", "folder/inner", "folder/a.md"])
    def test_what_may_not_be_read_is_told_by_its_name(
        self, ronda: Command, good: str, closed: str
    ) -> None:
        folder = ronda.folder / "folder"
        (folder / "inner").mkdir(parents=True)
        (folder / "a.md").write_text(f"[a]({good}?a)\n")
        (folder / "b.md").write_text(f"[b]({good}?b)\n")
        (folder / "inner" / "c.md").write_text(f"[c]({good}?c)\n")
        mode = (ronda.folder / closed).stat().st_mode
        (ronda.folder / closed).chmod(0)
        ended = ronda.json(
            "--no-robots", "folder", ronda.listed([good]), prefix=without_privileges()
        )
        (ronda.folder / closed).chmod(mode)

        [(document, _, message)] = ended.problems
        assert (document, message) == (closed, "cannot be read: permission denied")
        unread = {
            "folder": {"?a", "?b", "?c"},
            "folder/inner": {"?c"},
            "folder/a.md": {"?a"},
        }[closed]
        assert set(ended.results) == {
            f"{good}{query}" for query in {"", "?a", "?b", "?c"} - unread
        }
        assert ended.code == 2
        assert "Traceback" not in ended.err

    def test_a_file_that_is_no_text_is_told(self, ronda: Command, good: str) -> None:
        (ronda.folder / "program").write_bytes(b"\x7fELF\0\0\1\2" * 100)
        ended = checked(ronda, "program", ronda.listed([good]))

        [(document, _, message)] = ended.problems
        assert (document, message[:8]) == ("program", "not text")
        assert set(ended.results) == {good}

    def test_a_name_that_is_not_utf8_can_be_told(
        self, ronda: Command, good: str
    ) -> None:
        name = os.fsdecode(b"odd-\xff.txt")
        (ronda.folder / name).write_text(f"http://\n{good}\n")
        ended = checked(ronda, name)

        assert ended.problems[0][1] == 1
        assert set(ended.results) == {good}

    def test_damaged_gzip_is_told(self, ronda: Command, good: str) -> None:
        (ronda.folder / "map.xml.gz").write_bytes(b"\x1f\x8b\x08damaged")
        ended = checked(ronda, "map.xml.gz", ronda.listed([good]))

        [(document, _, message)] = ended.problems
        assert (document, "gzip" in message) == ("map.xml.gz", True)
        assert set(ended.results) == {good}


class TestSettings:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("[check]\nrobot = true\n", ["check.robot", "robots"]),
            ("[chek]\n", ["chek", "check, crawl, politeness, frontier, fetch, guard"]),
            ("[fetch]\ntimeout = 'long'\n", ["fetch.timeout"]),
            ("[fetch]\ntimeout = 0\n", ["fetch.timeout"]),
            ("[fetch]\nretries = -1\n", ["fetch.retries"]),
            ("[check]\naccept = ['4xx']\n", ["check.accept", "4xx"]),
            ("[check]\nexclude = ['re:(']\n", ["check.exclude"]),
            ("[report]\nformat = 'pdf'\n", ["report.format", "pdf"]),
            ("[check\n", ["TOML"]),
            ("check = 3\n", ["check"]),
            ("[fetch]\nname_servers = ['nonsense']\n", ["fetch.name_servers"]),
        ],
    )
    def test_a_wrong_setting_is_one_line_that_names_it(
        self, ronda: Command, good: str, text: str, words: list[str]
    ) -> None:
        (ronda.folder / "ronda.toml").write_text(text)
        ended = ronda("check", good)

        assert (ended.code, ended.out) == (2, "")
        assert ended.err.count("\n") == 1
        assert ended.err.startswith("ronda: ")
        assert all(word in ended.err for word in words)

    def test_a_file_of_settings_that_is_missing_is_told(self, ronda: Command) -> None:
        ended = ronda("check", "--config", "none.toml", "http://127.0.0.1:1/")

        assert ended.code == 2
        assert ended.err == "ronda: none.toml: No such file or directory\n"

    @pytest.mark.parametrize(
        ("arguments", "word"),
        [
            ((), "nothing to check"),
            (("--format", "pdf", "x.txt"), "pdf"),
            (("--timeout", "soon", "x.txt"), "soon"),
            (("--no-such-option", "x.txt"), "--no-such-option"),
            (("--output", "report.pdf", "x.txt"), "report.pdf"),
            (("--output", "no/such/folder/r.json", "x.txt"), "r.json"),
            (("--header", "no colon", "x.txt"), "no colon"),
            (("--accept", "nonsense", "x.txt"), "nonsense"),
            (("--name-server", "nonsense", "x.txt"), "nonsense"),
        ],
    )
    def test_a_wrong_option_is_told_before_anything_is_asked(
        self, ronda: Command, arguments: tuple[str, ...], word: str
    ) -> None:
        ended = ronda("check", *arguments)

        assert (ended.code, ended.out) == (2, "")
        assert word in ended.err
        assert "Traceback" not in ended.err

    def test_a_missing_file_of_authorities_is_told(
        self, ronda: Command, good: str
    ) -> None:
        ended = ronda("check", "--ca-file", "none.pem", good)

        assert ended.code == 2
        assert "none.pem" in ended.err


class TestArguments:
    @pytest.mark.parametrize("url", ["http://", "http://[::1", "https://a b/"])
    def test_a_bad_url_on_the_command_line_is_told(
        self, ronda: Command, good: str, url: str
    ) -> None:
        ended = checked(ronda, "--no-links", url, good)

        [(document, _, message)] = ended.problems
        assert (document, url in message) == ("", True)
        assert (set(ended.results), ended.code) == ({good}, 2)

    def test_a_very_long_one_is_told(self, ronda: Command, good: str) -> None:
        ended = checked(ronda, "--no-links", "http://a.test/" + "x" * 100_000, good)

        [(_, _, message)] = ended.problems
        assert "too long" in message
        assert set(ended.results) == {good}

    def test_a_host_without_its_scheme_is_advised(self, ronda: Command) -> None:
        ended = checked(ronda, "www.example.test/page")

        [(_, _, message)] = ended.problems
        assert "https://www.example.test/page" in message

    def test_standard_input_is_told_as_such(self, ronda: Command, good: str) -> None:
        ended = ronda.json("--no-robots", "-", stdin=f"http://\n{good}\n".encode())

        [(document, number, _)] = ended.problems
        assert (document, number) == ("-", 1)
        assert set(ended.results) == {good}


def test_the_folder_is_left_as_it_was(ronda: Command, good: str) -> None:
    name = ronda.listed([good])
    ronda("check", "--no-robots", name)

    assert [path.name for path in Path(ronda.folder).iterdir()] == [name]
