from hypothesis import given
from hypothesis import strategies as st

from ronda.cli.report.order import Row, by_place, by_url, in_order
from ronda.model import Place, Result, State


@given(
    items=st.lists(st.tuples(st.integers(0, 50), st.text())), batch=st.integers(1, 7)
)
def test_sorting_on_disk_is_sorting(items, batch):
    kind = tuple[int, str]

    assert list(in_order(items, kind, tuple, batch)) == sorted(items)


def test_results_survive_the_disk(results):
    rows = list(by_place(results, ok=True, batch=2))

    assert rows == list(by_place(results, ok=True))
    assert {row.result.url for row in rows} == {result.url for result in results}


def test_rows_go_by_document_line_and_column(results):
    places = [row.place for row in by_place(results, ok=True)]

    assert places == sorted(places, key=lambda p: (p.document, p.line, p.column))


def test_links_that_work_are_left_out_unless_wanted(results):
    bad = list(by_place(results, ok=False))

    assert all(row.result.verdict is not State.OK for row in bad)
    assert len(list(by_place(results, ok=True))) == len(bad) + 1


def test_a_result_without_a_place_came_from_the_command_line():
    result = Result(url="a:b", verdict=State.BROKEN, reason="r", message="m")

    assert list(by_place([result], ok=False)) == [Row(Place(""), result)]


def test_results_go_by_url(results):
    assert [r.url for r in by_url(results)] == sorted(r.url for r in results)
