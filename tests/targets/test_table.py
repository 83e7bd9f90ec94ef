import io

import pytest

from ronda import config
from ronda.model import Link, Place, Problem
from ronda.targets.table import read


def items(data: bytes, column: str = "url") -> list[Link | Problem]:
    return list(read(io.BytesIO(data), "a.csv", config.Check(column=column)))


def test_the_column_is_found_by_its_name_in_any_case() -> None:
    found = items(b"Name, URL\na,https://a.example\n\nb,https://b.example\n")

    assert found == [
        Link("https://a.example", Place("a.csv", 2)),
        Link("https://b.example", Place("a.csv", 4)),
    ]


def test_the_column_can_be_chosen() -> None:
    (link,) = items(b"url,home\nhttps://no.example,https://a.example\n", "HOME")

    assert isinstance(link, Link)
    assert link.url == "https://a.example"


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_told_by_the_first_line(mark: str) -> None:
    (link,) = items(f"a{mark}url\n1{mark}https://a.example\n".encode())

    assert isinstance(link, Link)


def test_the_one_column_of_urls_needs_no_name() -> None:
    (link,) = items(b"a,b\n1,https://a.example\n")

    assert link == Link("https://a.example", Place("a.csv", 2))


def test_a_table_may_have_no_header() -> None:
    found = items(b"https://a.example,1\nhttps://b.example,2\n")

    assert [item.place.line for item in found] == [1, 2]


def test_commas_in_the_urls_of_a_single_column_are_their_own() -> None:
    (link,) = items(b"url\nhttps://a.example/1,2\n")

    assert isinstance(link, Link)
    assert link.url == "https://a.example/1,2"


@pytest.mark.parametrize("data", [b"a,b\n1,2\n", b"a,b\nhttps://x,https://y\n"])
def test_without_such_a_column_one_problem_names_the_columns(data: bytes) -> None:
    (problem,) = items(data)

    assert problem == Problem(
        Place("a.csv", 1),
        "no column 'url'; the columns are: a, b; name one with --column",
    )


def test_a_row_over_several_lines_keeps_the_line_it_begins_at() -> None:
    found = items(b'url,b\nhttps://a.example,"x\ny"\nhttps://b.example,z\n')

    assert [item.place.line for item in found] == [2, 4]


def test_a_cell_too_large_costs_only_its_row() -> None:
    found = items(b"url,b\n" + b"x" * 200_000 + b",1\nhttps://a.example,2\n")

    assert [type(item) for item in found] == [Problem, Link]


def test_empty_cells_and_short_rows_are_skipped() -> None:
    assert items(b"a,url\n1,\n2\n") == []
