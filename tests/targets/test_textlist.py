import io
import time
import tracemalloc

import pytest

from ronda import config
from ronda.model import Link, Place, Problem
from ronda.targets.textlist import LONGEST_LINE, SPACE, read


def items(data: bytes, base_url: str = "", **more: bool) -> list[Link | Problem]:
    options = config.Check(base_url=base_url, **more)
    return list(read(io.BytesIO(data), "list", options))


def urls(data: bytes) -> list[str]:
    return [item.url for item in items(data) if isinstance(item, Link)]


def test_a_line_is_a_url_and_keeps_its_number() -> None:
    found = items(b"# a comment\n\nhttps://a.example/\r\n  http://b.example \n")

    assert found == [
        Link("https://a.example/", Place("list", 3)),
        Link("http://b.example", Place("list", 4)),
    ]


def test_a_word_that_is_not_a_url_is_a_problem_that_says_what_to_do() -> None:
    (problem,) = items(b"foo\n")

    assert problem == Problem(
        Place("list", 1),
        "'foo' is not a URL; write it with its scheme, as https://foo",
    )


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("foo.example/x?y", "write it with its scheme, as https://foo.example/x?y"),
        ("//foo.example", "write it with its scheme, as https://foo.example"),
        ("https//foo.example", "write it as https://foo.example"),
        ("HTTP;//foo.example", "write it as http://foo.example"),
        ("me@foo.example", "write it with its scheme, as mailto:me@foo.example"),
        ("C:\\x", "write it whole, as https://example.org/page"),
        ("?", "write it whole, as https://example.org/page"),
    ],
)
def test_nothing_is_advised_that_is_no_url_either(word: str, advice: str) -> None:
    (problem,) = items(word.encode())

    assert isinstance(problem, Problem)
    assert problem.message == f"'{word}' is not a URL; {advice}"


def test_a_host_with_a_port_is_not_taken_for_a_scheme() -> None:
    (problem,) = items(b"localhost:8080/x")

    assert isinstance(problem, Problem)
    assert problem.message.endswith("https://localhost:8080/x")


def test_with_a_base_url_relative_lines_are_links() -> None:
    assert items(b"/x", "https://a.example") == [Link("/x", Place("list", 1))]


def test_mail_addresses_and_other_schemes_are_urls() -> None:
    found = urls(b"mailto:a@b.example\nFTP://c.example/\ntel:+351\n")

    assert found == ["mailto:a@b.example", "FTP://c.example/", "tel:+351"]


def test_every_url_of_a_line_of_prose_is_taken_and_other_prose_is_ignored() -> None:
    found = items(
        b"see (https://a.example/x_(y)), or http://b.example.\nno link here\n"
    )

    assert found == [
        Link("https://a.example/x_(y)", Place("list", 1, 6)),
        Link("http://b.example", Place("list", 1, 35)),
    ]


def test_a_wrapped_url_is_unwrapped() -> None:
    assert urls(b'<https://a.example>\n"https://b.example"') == [
        "https://a.example",
        "https://b.example",
    ]


def test_bad_bytes_cost_their_own_line_only() -> None:
    found = items(b"https://a.example\nhttps://\xff\nnul\0\nhttps://b.example\n")

    assert [(type(item), item.place.line) for item in found] == [
        (Link, 1),
        (Problem, 2),
        (Problem, 3),
        (Link, 4),
    ]


def test_utf_8_and_utf_16_marks_are_understood() -> None:
    assert urls("https://é.example".encode("utf-8-sig")) == ["https://é.example"]
    assert urls("https://é.example\n".encode("utf-16")) == ["https://é.example"]


def test_a_line_without_end_is_one_problem_in_little_memory() -> None:
    data = b"https://a.example\n" + b"x" * (LONGEST_LINE * 20) + b"\nhttps://b.example"
    stream = io.BytesIO(data)
    tracemalloc.start()

    found = list(read(stream, "list", config.Check()))

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [type(item) for item in found] == [Link, Problem, Link]
    assert [item.place.line for item in found] == [1, 2, 3]
    assert peak < LONGEST_LINE * 10


def test_twenty_thousand_lines_are_read_in_a_moment() -> None:
    data = b"".join(b"https://h%d.example/p?x=1\n" % number for number in range(20_000))
    stream = io.BytesIO(data)
    before = time.process_time()

    count = sum(1 for _ in read(stream, "list", config.Check()))

    assert count == 20_000
    assert time.process_time() - before < 0.15  # five times what it may take


@pytest.mark.parametrize(
    "line",
    [
        "http://a.example/my page.html",
        "  http://a.example/my page.html ",
        "http://a.example/Smith, John.pdf",
        "http://a.example/one - two.mp3",
        "<http://a.example/my page.html>",
        '"HTTP://a.example/my page.html"',
        "file:///my page.html",
    ],
)
def test_half_of_a_url_with_a_space_is_never_taken(line: str) -> None:
    found = items(f"{line}\nhttps://b.example\n{line}\n".encode())

    assert found == [
        Problem(Place("list", 1), SPACE),
        Link("https://b.example", Place("list", 2)),
        Problem(Place("list", 3), SPACE),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "https://a.example\tthe label",
        "https://a.example   the label",
        "https://a.example # the remark",
        "https://a.example | the label",
        "<https://a.example> the label",
    ],
)
def test_what_can_be_no_part_of_a_url_may_follow_one(line: str) -> None:
    assert urls(line.encode()) == ["https://a.example"]


def test_a_line_may_hold_several_urls() -> None:
    data = b"https://a.example https://b.example\n"

    assert urls(data) == ["https://a.example", "https://b.example"]


def test_running_text_may_break_before_a_url() -> None:
    data = b"All of it is told at\nhttps://a.example and at\nhttp://b.example too.\n"

    assert urls(data) == ["https://a.example", "http://b.example"]


def test_a_text_of_the_web_is_not_held_to_be_a_list() -> None:
    stream = io.BytesIO(b"https://a.example is a site\n")
    found = list(read(stream, "https://b.example/read.me", config.Check()))

    assert found == [
        Link("https://a.example", Place("https://b.example/read.me", 1, 1))
    ]


def test_in_a_strict_list_every_line_names_a_url_or_is_told_of() -> None:
    lines = (
        b"My links\nhttps://a.example/my page\nhello world\n"
        b"A page\thttps://b.example/\n# a note\nhttps://c.example/\n"
    )
    first, second, third, *links = items(lines, strict_lists=True)

    assert [p.place.line for p in (first, second, third)] == [1, 2, 3]
    assert isinstance(second, Problem)
    assert second.message == SPACE
    assert [link.url for link in links if isinstance(link, Link)] == [
        "https://b.example/",
        "https://c.example/",
    ]
    assert urls(lines) == ["https://a.example/my", *(x.url for x in links)]
