import builtins
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda.config import Check
from ronda.model import Found, Problem
from ronda.targets import links_of

pypdf = pytest.importorskip("pypdf")
annotations = pytest.importorskip("pypdf.annotations")
generic = pytest.importorskip("pypdf.generic")

PAGE = "https://a.example/dir/a.pdf"


def document(*pages: list[str]) -> bytes:
    """A PDF with links on its pages."""
    writer = pypdf.PdfWriter()
    for number, links in enumerate(pages):
        writer.add_blank_page(100, 100)
        for url in links:
            link = annotations.Link(rect=(0, 0, 9, 9), url=url)
            writer.add_annotation(number, link)
        inner = annotations.Link(rect=(0, 0, 9, 9), target_page_index=0)
        writer.add_annotation(number, inner)
    packed = io.BytesIO()
    writer.write(packed)
    return packed.getvalue()


def found(body: bytes, kind: str = "application/pdf") -> list[Found | Problem]:
    return list(links_of(body, PAGE, kind, Check()))


def test_the_links_of_a_pdf_have_their_page() -> None:
    items = found(document(["https://b.example/"], [], ["c", "mailto:me@d.example"]))

    assert [
        (item.url, item.place.text) for item in items if isinstance(item, Found)
    ] == [
        ("https://b.example/", "page 1"),
        ("https://a.example/dir/c", "page 3"),
        ("mailto:me@d.example", "page 3"),
    ]


def test_a_link_is_found_through_references() -> None:
    writer = pypdf.PdfWriter()
    page = writer.add_blank_page(100, 100)
    link = annotations.Link(rect=(0, 0, 9, 9), url="c")
    action = generic.NameObject("/A")
    link[action] = writer._add_object(link["/A"])
    array = generic.ArrayObject([writer._add_object(link)])
    page[generic.NameObject("/Annots")] = writer._add_object(array)
    packed = io.BytesIO()
    writer.write(packed)

    assert len(found(packed.getvalue())) == 1


def test_a_pdf_is_told_by_its_type_its_name_and_its_beginning() -> None:
    body = document(["c"])

    assert len(found(body, "application/octet-stream")) == 1
    assert len(list(links_of(body, "https://a.example/x", "", Check()))) == 1


def test_a_damaged_pdf_is_one_problem_and_no_mistake_of_the_user() -> None:
    (problem,) = found(document(["c"])[:200])

    assert isinstance(problem, Problem)
    assert not problem.grave
    assert len(problem.message) <= 120


def test_what_only_says_that_it_is_a_pdf_gives_nothing() -> None:
    assert found(b"<html><a href=x>") == []


def test_without_the_library_a_pdf_gives_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name == "pypdf":
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)

    assert found(document(["c"])) == []


def test_no_more_pages_and_annotations_are_read_than_a_bound() -> None:
    assert len(found(document([f"/{number}" for number in range(1100)]))) == 1000


SAMPLE = document(["https://b.example/"], ["c"])
CUTS = st.tuples(
    st.integers(0, len(SAMPLE)),
    st.integers(0, 30),
    st.sampled_from([b"", b"\0", b"9", b"/Kids", b"<<", b"[", b"1 0 R", b"stream"]),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(CUTS, min_size=1, max_size=4))
def test_any_pdf_gives_only_urls_and_at_most_one_problem(
    cuts: list[tuple[int, int, bytes]],
) -> None:
    data = SAMPLE
    for start, length, put in cuts:
        data = data[:start] + put + data[start + length :]
    items = found(data)

    assert (
        sum(isinstance(item, Problem) and "PDF" in item.message for item in items) <= 1
    )
    assert all(isinstance(item, Found | Problem) for item in items)
