import io

from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from ronda import config
from ronda.model import Link, Place, Problem
from ronda.targets.jsontext import read, read_lines


def items(data: bytes) -> list[Link | Problem]:
    return list(read(io.BytesIO(data), "a.json", config.Check()))


def test_strings_that_are_urls_keep_their_line_and_path() -> None:
    found = items(
        b'{"items": [{"url": "https://a.example"},\n{"url":\n"https:\\/\\/b"}]}'
    )

    assert found == [
        Link("https://a.example", Place("a.json", 1, 0, "items[0].url")),
        Link("https://b", Place("a.json", 3, 0, "items[1].url")),
    ]


def test_keys_and_other_strings_are_not_links() -> None:
    assert items(b'{"https://a.example": "see https://b.example", "c": "/d"}') == []


def test_the_bookmarks_of_chrome_are_read() -> None:
    found = items(
        b'{"roots": {"bookmark_bar": {"children": [{"name": "A", "type": "url",'
        b' "url": "https://a.example/"}]}}, "version": 1}'
    )

    assert [item.place.text for item in found] == ["roots.bookmark_bar.children[0].url"]


def test_what_is_not_json_is_a_problem_with_its_line() -> None:
    (problem,) = items(b'{"a": 1,\n"b": x}')

    assert isinstance(problem, Problem)
    assert problem.place.line == 2
    assert problem.message.startswith("not JSON: invalid character")


def test_json_nested_too_deep_is_a_problem() -> None:
    (problem,) = items(b"[" * 100_000)

    assert isinstance(problem, Problem)


def test_a_bad_line_of_json_lines_costs_only_itself() -> None:
    data = b'{"u": "https://a.example"}\n\nfoo\n"https://b.example"\n'
    found = list(read_lines(io.BytesIO(data), "a.jsonl", config.Check()))

    assert [(type(item), item.place.line) for item in found] == [
        (Link, 1),
        (Problem, 3),
        (Link, 4),
    ]


VALUES = st.recursive(
    st.none() | st.integers(0, 9) | st.text() | st.just("https://a.example/\n"[:-1]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def counted(value: object) -> int:
    match value:
        case str():
            return value == "https://a.example/"
        case list():
            return sum(map(counted, value))
        case dict():
            return sum(map(counted, value.values()))
        case _:
            return 0


@given(value=VALUES)
def test_no_url_of_any_json_is_lost_or_made_up(value: object) -> None:
    found = items(json.format(json.encode(value)))

    assert len(found) == counted(value)
