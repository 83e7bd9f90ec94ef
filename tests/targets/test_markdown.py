import io

import pytest

from ronda import config
from ronda.model import Link
from ronda.targets.markdown import read


def links(text: str) -> list[Link]:
    found = list(read(io.BytesIO(text.encode()), "a.md", config.Check()))
    assert all(isinstance(item, Link) for item in found)
    return found  # type: ignore[return-value]


def urls(text: str) -> list[str]:
    return [link.url for link in links(text)]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("[a](b.md)", "b.md"),
        ("![a](b.png)", "b.png"),
        ('[a](b "title")', "b"),
        ("[a](b 'title (x)')", "b"),
        ("[a](b\n  (title))", "b"),
        ("[a](<b c.md>)", "b c.md"),
        ("[a [b] c](d)", "d"),
        ("[a](b_(c)_d)", "b_(c)_d"),
        (r"[a](b\)c)", "b)c"),
        ("[a](b?x=1&amp;y=2)", "b?x=1&y=2"),
        ("[`code`](b)", "b"),
        ("<https://a.example/x>", "https://a.example/x"),
        ("<me@a.example>", "mailto:me@a.example"),
        ("(https://a.example/x).", "https://a.example/x"),
        ("*https://a.example/x*", "https://a.example/x"),
        ("[a](mailto:me@a.example)", "mailto:me@a.example"),
        ("[a](#part)", "#part"),
        ("[^1]: https://a.example", "https://a.example"),
        ('<a\nhref="b">c</a>', "b"),
        ("<img src='b'>", "b"),
    ],
)
def test_every_way_to_write_a_link_gives_its_url(text: str, url: str) -> None:
    assert urls(f"words {text} words" if "^" not in text else text) == [url]


@pytest.mark.parametrize(
    "text",
    [
        "`[a](b)`",
        "``a ` [a](b)``",
        "```\n[a](b)\n```",
        "~~~ python\n[a](b)\n```\n~~~",
        "- item\n\n  ```\n  [a](b)\n  ```",
        "> ```\n> [a](b)\n> ```",
        "text\n\n    [a](b)\n\n    [a](b)\n",
        "- item\n\n        [a](b)",
        "<!-- [a](b)\n\n    [a](b) -->",
        "<!-- <a href=b> -->",
        r"\[a](b)",
        "[a] (b)",
        "[a](b c)",
        "[a][b]",
        "[ ] task",
        "`<a href='b'>`",
    ],
)
def test_code_comments_and_what_is_no_link_give_nothing(text: str) -> None:
    assert urls(text) == []


def test_a_badge_is_two_links() -> None:
    found = links("[![build](b.svg)](c)")

    assert [(link.url, link.place.text) for link in found] == [
        ("c", "build"),
        ("b.svg", "build"),
    ]


def test_a_link_keeps_its_line_column_and_words() -> None:
    (link,) = links("first\n\nsee [the\n  page](b)")

    assert (link.place.document, link.place.line, link.place.column) == ("a.md", 3, 5)
    assert link.place.text == "the page"


def test_a_definition_that_is_used_stands_where_it_is_used() -> None:
    found = links("[one][A], [A][] and [a]\n\n[a]: <https://a.example/x y> 'title'")

    assert [link.place.line for link in found] == [1, 1, 1]
    assert {link.url for link in found} == {"https://a.example/x y"}


def test_a_definition_that_is_not_used_stands_where_it_is() -> None:
    (link,) = links("words\n\n[a]: b")

    assert (link.url, link.place.line) == ("b", 3)


def test_the_first_of_two_definitions_counts() -> None:
    assert urls("[a]\n\n[a]: one\n[a]: two") == ["one"]


def test_text_after_an_unclosed_backtick_is_text() -> None:
    assert urls("it`s [a](b)\n\n- one ` [c](d)\n- two ` [e](f)") == ["b", "d", "f"]


def test_text_in_a_list_item_is_not_indented_code() -> None:
    assert urls("1. item\n\n    [a](b)\n\n2. item\n\n   [c](d)") == ["b", "d"]


def test_text_that_continues_a_paragraph_is_not_indented_code() -> None:
    assert urls("words\n      [a](b)") == ["b"]


def test_a_fence_ends_with_its_quotation() -> None:
    assert urls("> ```\n> [a](b)\n[c](d)") == ["d"]


def test_a_comment_without_end_hides_nothing() -> None:
    assert urls("<!-- [a](b)") == ["b"]


def test_a_url_in_a_tag_is_not_found_twice() -> None:
    assert urls('<a href="https://a.example">words</a>') == ["https://a.example"]


def test_a_table_row_is_cut_at_its_bars() -> None:
    assert urls("| https://a.example | https://b.example|") == [
        "https://a.example",
        "https://b.example",
    ]
