import gzip
import io
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ronda.config import Check
from ronda.model import Found, Place, Problem
from ronda.targets import gather

URL = "https://a.example/"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(path: str, text: str | bytes = f"[a]({URL})\n") -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def gathered(
    *arguments: str, stdin: bytes = b"", check: Check | None = None
) -> list[Found | Problem]:
    return list(gather(arguments, check or Check(), io.BytesIO(stdin)))


def documents(*arguments: str) -> list[str]:
    found = gathered(*arguments)
    assert all(isinstance(item, Found) for item in found), found
    return [item.place.document for item in found]


def message(*arguments: str) -> str:
    (problem,) = gathered(*arguments)
    assert isinstance(problem, Problem), problem
    return problem.message


def test_urls_come_first_and_are_read_if_links_are_wanted() -> None:
    write("a.md", "[b](https://b.example/)")

    found = gathered("a.md", "https://A.example", "mailto:me@a.example")

    assert found == [
        Found(URL, Place(""), reads=True, written="https://A.example"),
        Found("mailto:me@a.example", Place(""), reads=True),
        Found("https://b.example/", Place("a.md", 1, 1, "b")),
    ]
    assert gathered(URL, check=Check(links=False)) == [Found(URL, Place(""))]


def test_a_file_that_looks_like_a_url_is_a_file() -> None:
    write("http:", f"{URL}\n")

    assert documents("http:") == ["http:"]


def test_a_url_that_does_not_parse_is_a_problem() -> None:
    assert message("https://[") == "not a URL: https://["


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (URL, URL),
        (f"<a href='{URL}'>", URL),
        (f'\n{{"a": "{URL}"}}', URL),
        (f'["{URL}"]', URL),
        (f'{{"a": "{URL}"}}\n{{"a": 1}}\n', URL),
        (f"<?xml version='1.0'?><urlset><loc>{URL}</loc></urlset>", URL),
        (f"[a]({URL}) words", URL),
    ],
)
def test_the_format_of_standard_input_is_told_by_its_beginning(
    text: str, url: str
) -> None:
    (found,) = gathered("-", stdin=text.encode())

    assert isinstance(found, Found)
    assert (found.url, found.place.document) == (url, "-")


def test_relative_links_of_standard_input_are_seen_from_here() -> None:
    (found,) = gathered("-", stdin=b"<a href=x>")

    assert isinstance(found, Found)
    assert found.url == f"{Path.cwd().as_uri()}/x"


def test_a_folder_is_walked_in_order_without_what_machines_put_there() -> None:
    for name in ("d/b.md", "d/a.rst", "d/sub/c.html", "d/sub/data.json", "d/x.txt"):
        write(name, f"<{URL}>\n\n{URL}" if name[-1] != "l" else f"<a href={URL}>")
    for name in (".git", "node_modules", "__pycache__", ".venv", "sub/.hidden"):
        write(f"d/{name}/no.md")

    assert sorted(set(documents("d"))) == ["d/a.rst", "d/b.md", "d/sub/c.html"]


def test_a_folder_without_documents_is_a_problem() -> None:
    Path("d").mkdir()

    assert message("d").startswith("no documents in it")


def test_a_pipe_in_a_folder_is_not_waited_on() -> None:
    write("d/a.md")
    os.mkfifo("d/b.md")

    assert documents("d") == ["d/a.md"]


def test_a_link_in_a_circle_of_folders_ends() -> None:
    write("d/a.md")
    Path("d/again").symlink_to(Path("d").absolute())

    assert documents("d") == ["d/a.md"]


def test_a_pattern_is_expanded_and_sorted() -> None:
    for name in (
        "d/b.md",
        "d/sub/a.md",
        "d/node_modules/no.md",
        "d/.no/no.md",
        "d/x.rst",
    ):
        write(name)

    assert documents("d/**/*.md") == ["d/b.md", "d/sub/a.md"]
    assert documents("d/[bx].md") == ["d/b.md"]
    assert documents(str(Path("d/b.*").absolute())) == [str(Path("d/b.md").absolute())]


def test_a_hidden_folder_can_be_asked_for_by_name() -> None:
    write("d/.github/a.md")

    assert documents("*/.github/*.md") == ["d/.github/a.md"]


def test_what_is_not_there_is_said() -> None:
    assert message("missing.md") == "no such file"
    assert message("d/*.md") == "the pattern matches no file"
    assert message("**a").startswith("not a pattern")
    assert message("x" * 5000) == "no such file"
    assert message("nul\0") == "no such file"


@pytest.mark.parametrize(
    "name", ["example.org", "example.org/page", "localhost:8080/x"]
)
def test_a_host_without_scheme_is_told_from_a_file(name: str) -> None:
    assert message(name).endswith(f"write it with its scheme, as https://{name}")


def test_a_drive_letter_is_not_a_scheme() -> None:
    assert message("c:\\docs\\a.md") == "no such file"


def test_an_empty_file_is_said() -> None:
    assert gathered(write("a.md", "")) == [
        Problem(Place("a.md"), "empty: nothing in it to check", grave=False)
    ]


def test_a_file_of_no_known_kind_is_one_problem() -> None:
    assert message(write("a.bin", b"\x89PNG\0\0\xff\n\0\n")).startswith("not text")


NOBODY = 65534


@pytest.fixture
def as_nobody() -> Iterator[None]:
    """Root reads everything, so it must not be root who reads."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    yield
    os.seteuid(before)


@pytest.fixture
def open_folder() -> Iterator[str]:
    """Unlike pytest's own, one that anybody may enter."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield folder


def test_what_cannot_be_read_is_said_and_the_rest_goes_on(
    open_folder: str, request: pytest.FixtureRequest
) -> None:
    write(f"{open_folder}/a.md")
    write(f"{open_folder}/b.md")
    Path(open_folder, "a.md").chmod(0)
    write(f"{open_folder}/closed/no.md")
    Path(open_folder, "closed").chmod(0)
    request.getfixturevalue("as_nobody")

    found = gathered(open_folder)

    assert sorted(type(item).__name__ for item in found) == [
        "Found",
        "Problem",
        "Problem",
    ]


def test_a_file_that_opens_but_cannot_be_read_is_a_problem() -> None:
    assert message("/proc/self/mem").startswith("cannot be read: ")


def test_a_folder_named_as_a_document_is_not_read_as_one() -> None:
    write("d/a.md/inner.txt")

    assert message("d").startswith("no documents in it")


def test_packed_sitemaps_are_unpacked() -> None:
    packed = gzip.compress(f"<urlset><loc>{URL}</loc></urlset>".encode())

    assert documents(write("sitemap.xml.gz", packed)) == ["sitemap.xml.gz"]


@pytest.mark.parametrize("cut", [5, 30, -3])
def test_damaged_packed_files_are_a_problem(cut: int) -> None:
    packed = gzip.compress(b"<urlset><loc>https://a.example/</loc></urlset>")

    found = gathered(write("a.xml.gz", packed[:cut]))

    assert isinstance(found[-1], Problem)
    assert "gzip" in found[-1].message


def test_an_index_of_sitemaps_is_to_be_read() -> None:
    index = f"<sitemapindex><sitemap><loc>{URL}s.xml</loc></sitemap></sitemapindex>"

    (found,) = gathered(write("a.xml", index))

    assert isinstance(found, Found)
    assert found.reads


def test_root_relative_links_start_at_the_folder_that_was_named() -> None:
    write("d/sub/a.md", "[a](/x.md)")

    for argument, root in (("d", "d"), ("d/sub/a.md", "d/sub"), ("d/**/*.md", "d")):
        (found,) = gathered(argument)

        assert isinstance(found, Found)
        assert found.url == f"{Path(root).absolute().as_uri()}/x.md"


def test_a_name_that_is_not_utf_8_is_shown_and_read() -> None:
    name = os.fsdecode(b"d/\xff.md")
    Path("d").mkdir()
    Path(name).write_text("[a](b)")

    (found,) = gathered("d")

    assert isinstance(found, Found)
    assert found.place.document == "d/\ufffd.md"
    assert found.url.endswith("/d/b")


def test_an_entry_of_a_list_that_is_not_a_url_is_a_problem() -> None:
    assert "not a URL" in message(write("a.csv", "url\nfoo\n"))
    assert "not a URL" in message(write("a.txt", "foo\n"))
