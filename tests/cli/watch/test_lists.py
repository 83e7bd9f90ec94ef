from pathlib import Path

import pytest

from ronda.cli.watch.lists import MANY, Named, Reader
from ronda.cli.watch.session import Session
from ronda.config import Settings
from ronda.errors import UsageError

A = "https://a.example/"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(named: Named) -> tuple[list[str], Reader]:
    reader = Reader(Session(Settings(), as_json=False), named)
    return [given.url for given in reader], reader


def test_urls_come_first_then_lists_in_their_order(folder: Path) -> None:
    (folder / "1.txt").write_text("https://b.example/\n")
    (folder / "2.txt").write_text("https://c.example/\nhttps://a.example/\n")
    found, reader = read(Named((A,), ("1.txt", "2.txt")))

    assert found == [A, "https://b.example/", "https://c.example/", A]
    assert not reader.failed


def test_the_rest_of_a_list_is_read_after_a_bad_line(folder: Path) -> None:
    (folder / "l.txt").write_text(f"http://[\n{A}\n")
    found, reader = read(Named((), ("l.txt",)))

    assert found == [A]
    assert reader.failed
    assert reader.trees() == [
        {"document": "l.txt", "line": 1, "message": "not a URL: http://["}
    ]


def test_half_a_url_is_refused_with_its_place(folder: Path) -> None:
    (folder / "l.txt").write_text(f"{A}\nhttps://a.example/my page\n")
    found, reader = read(Named((), ("l.txt",)))

    assert found == [A]
    assert reader.failed
    (problem,) = reader.trees()
    assert (problem["document"], problem["line"]) == ("l.txt", 2)
    assert str(problem["message"]).startswith("a space in a URL: write %20")


def test_too_many_bad_lines_are_counted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "l.txt").write_text("http://[\n" * (MANY + 5))
    _, reader = read(Named((), ("l.txt",)))
    reader.tell()

    *lines, last = capsys.readouterr().err.splitlines()
    assert len(lines) == MANY
    assert last == "… and 5 more"


def test_a_bad_line_is_one_line_whatever_stands_in_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "l.txt").write_text("http://me:secret@[\n\x1b[31mred\x07\n")
    _, reader = read(Named((), ("l.txt",)))
    reader.tell()

    first, second = capsys.readouterr().err.splitlines()
    assert "secret" not in first
    assert second.isprintable()


@pytest.mark.parametrize(
    ("urls", "files", "words"),
    [
        ((), (), "no target named"),
        (("-", "-"), (), "once only"),
        (("-",), ("-",), "once only"),
        (("there.txt",), (), "is a file; write --file there.txt"),
        ((), (A,), "leave out --file"),
    ],
)
def test_slips_are_told_before_anything_is_read(
    folder: Path, urls: tuple[str, ...], files: tuple[str, ...], words: str
) -> None:
    (folder / "there.txt").write_text(A)

    with pytest.raises(UsageError, match=words):
        Named(urls, files)


def test_a_file_may_have_the_name_of_a_url(folder: Path) -> None:
    (folder / "http:").write_text(f"{A}\n")

    assert read(Named((), ("http:",)))[0] == [A]
