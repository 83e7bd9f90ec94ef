"""Lists of services: tables and JSON Lines, by the names of their columns."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.model import Problem, Service
from ronda.targets.services import Listed, read

A = "http://geo.test/ows?service=WMS"


def listed(text: str | bytes) -> list[Listed | Problem]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(read(io.BytesIO(data), "list"))


def test_a_table_is_read_by_the_names_of_its_columns() -> None:
    [found] = listed(f"Description;URL;type;version;uuid;entity\nRoads;{A};WMS;1.3;u;d")

    assert found == Listed(
        A, A, Service(0, description="Roads", type="WMS", version="1.3", uuid="u"), "d"
    )


def test_json_lines_have_the_same_names() -> None:
    [found] = listed(f'{{"uri": "{A}", "uri_type": "WFS", "title": "Rivers", "n": 3}}')

    assert isinstance(found, Listed)
    assert found.service == Service(0, description="Rivers", type="WFS")


def test_a_line_that_cannot_be_used_is_named_and_the_rest_goes_on() -> None:
    first, second, third = listed(f"url,type\nno url,WMS\n{A},WFS\n,WMS\n")

    assert isinstance(first, Problem)
    assert first.place.line == 2
    assert isinstance(second, Listed)
    assert isinstance(third, Problem)
    assert "needs a column" in third.message


def test_a_table_without_urls_says_what_it_has() -> None:
    [found] = listed("name,place\nx,y\n")

    assert isinstance(found, Problem)
    assert "the columns are: name, place" in found.message


@pytest.mark.parametrize("line", ["{", "[1]", '{"url": ', "{}"])
def test_json_that_is_none_is_a_problem(line: str) -> None:
    found = listed(f'{{"url": "{A}"}}\n{line}\n')

    assert isinstance(found[0], Listed)
    assert all(isinstance(one, Problem) for one in found[1:])
    assert len(found) == 2


def test_words_of_several_lines_become_one() -> None:
    [found] = listed(f'url,description\n{A},"two\nlines"\n')

    assert isinstance(found, Listed)
    assert found.service.description == "two lines"


def test_the_fragment_is_no_part_of_a_service() -> None:
    [found] = listed(f"url\n{A}#map\n")

    assert isinstance(found, Listed)
    assert (found.url, found.written) == (A, f"{A}#map")


def test_an_empty_list_is_a_problem_of_its_columns() -> None:
    [found] = listed("")

    assert isinstance(found, Problem)


@given(st.binary(max_size=300))
def test_whatever_is_in_it_nothing_is_raised(data: bytes) -> None:
    assert all(isinstance(one, Listed | Problem) for one in listed(data))


@given(st.text(max_size=300))
def test_whatever_text_is_in_it_nothing_is_raised(text: str) -> None:
    body = ("url," + text).encode("utf-8", "surrogatepass")

    assert all(isinstance(one, Listed | Problem) for one in listed(body))
