import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.targets import anchors
from ronda.targets.slugs import slug, slugs


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Hello World", "hello-world"),
        ("What's new?", "whats-new"),
        ("`__init__` and snake_case", "__init__-and-snake_case"),
        ("_emphasis_ **strong**", "emphasis-strong"),
        ("[words](https://a.example) on", "words-on"),
        ("C++ & C#", "c--c"),
        ("Ça va, 日本語 हिन्दी", "ça-va-日本語-हिन्दी"),
        ("🎉 News", "-news"),
        ("<b>bold</b> 1.2", "bold-12"),
        ("this &amp; that", "this--that"),
    ],
)
def test_a_heading_becomes_the_anchor_that_github_gives(
    heading: str, anchor: str
) -> None:
    assert slug(heading) == anchor


def test_headings_of_one_name_are_numbered() -> None:
    assert list(slugs("# A\n# A\n# A-1\n# A\n")) == ["a", "a-1", "a-1-1", "a-2"]


def test_all_kinds_of_headings_and_names_count_but_not_code() -> None:
    text = (
        "# One #\nTwo\n===\n> ## Three\n#No\n```\n# No\n```\n<!--\n# No\n-->\n"
        '<a name="Four"></a>\n<p id=five>\n\n# Six {#own}\n'
    )

    assert anchors(text.encode(), "text/markdown") == {
        *("one", "two", "three", "Four", "five", "six", "own")
    }


def test_a_page_has_its_ids_and_the_names_of_its_anchors() -> None:
    page = b"<p id=a><a name=b></a><a id=c name=d></a><input name=no><i id=''>"

    assert anchors(page, "text/html; charset=utf-8") == {"a", "b", "c", "d"}


def test_ids_that_github_prefixes_are_found_without_prefix() -> None:
    assert "usage" in anchors(b"<h2 id=user-content-usage>", "text/html")


def test_the_charset_of_the_header_counts() -> None:
    page = "<p id=я>".encode("koi8-r")

    assert anchors(page, "text/html; charset=koi8-r") == {"я"}


def test_of_other_documents_nothing_is_known() -> None:
    assert anchors(b"<p id=a>", "application/pdf") is None
    assert anchors(b"<p>", "text/html") == frozenset()


@given(st.text())
def test_an_anchor_has_no_space_punctuation_or_capital(heading: str) -> None:
    anchor = slug(heading)

    assert not re.search(r"[\s!-,./:-@\[-^`{-~]", anchor)
    assert anchor == anchor.lower() or not anchor.isascii()


@given(st.lists(st.sampled_from(["a", "b", "a-1", "a-2", "A"]), max_size=20))
def test_no_two_headings_have_one_anchor(names: list[str]) -> None:
    found = list(slugs("".join(f"# {name}\n" for name in names)))

    assert len(found) == len(set(found)) == len(names)
