import pytest
from msgspec.structs import replace

from ronda.cli.report import FORMATS, Style, format_for
from ronda.errors import UsageError
from ronda.model import Hop, Place, Problem, Result, Site, Slow, State, Summary


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("report.txt", "text"),
        ("report.json", "json"),
        ("report.jsonl", "jsonl"),
        ("a.b/report.csv", "csv"),
        ("README.md", "markdown"),
        ("REPORT.HTML", "html"),
        ("junit.xml", "junit"),
        ("report.sarif", "sarif"),
        ("report.sarif.json", "sarif"),
    ],
)
def test_the_name_of_the_output_picks_the_format(path, name):
    assert format_for(path).name == name


@pytest.mark.parametrize("path", ["report.pdf", "report", "json", ""])
def test_an_unknown_ending_is_an_error_that_names_the_known_ones(path):
    with pytest.raises(UsageError, match=r"\.txt, \.json, .*\.sarif") as caught:
        format_for(path)

    assert f"'{path}'" in str(caught.value)


def test_no_two_formats_share_an_ending():
    endings = [suffix for row in FORMATS.values() for suffix in row.suffixes]

    assert len(endings) == len(set(endings))
    assert all(name == row.name for name, row in FORMATS.items())


def test_only_jsonl_is_streamed():
    assert [name for name, row in FORMATS.items() if row.line] == ["jsonl"]


SECRET = "https://bob:hunter2@example.org/a"


@pytest.fixture
def secret_result():
    return Result(
        url=SECRET,
        verdict=State.BROKEN,
        reason="http_404",
        message=f"moved to {SECRET}",
        hops=(Hop(SECRET, 301, SECRET),),
        found_in=(Place(SECRET, 1, 1, f"see {SECRET}"),),
    )


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("verbose", [False, True])
def test_no_format_shows_credentials(name, verbose, secret_result, write):
    problem = Problem(Place(SECRET, 1), f"not a URL: {SECRET}")
    summary = Summary(counts={State.BROKEN: 1}, problems=(problem,))

    written = write(name, (secret_result,), summary, verbose=verbose, hyperlinks=True)

    assert "hunter2" not in written
    assert "bob" not in written
    assert "https://example.org/a" in written


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("verbose", [False, True])
def test_no_crawl_shows_credentials(name, verbose, secret_result, write):
    places = (Place(SECRET, 1, tag=SECRET), Place("b"), Place("c"))
    site = Site(
        slowest=(Slow(SECRET, 2.0),),
        duplicates=((SECRET, SECRET),),
        orphans=(SECRET,),
        beyond={f"trap: {SECRET}": 1},
    )
    summary = Summary(
        counts={State.BROKEN: 1},
        interrupted=SECRET,
        left=1,
        left_at={"bob:hunter2@example.org": 1},
        site=site,
        remarks=(SECRET,),
    )
    result = replace(secret_result, found_in=places, media_type=SECRET, evidence=SECRET)

    written = write(name, (result,), summary, verbose=verbose, hyperlinks=True)

    assert "hunter2" not in written
    assert "bob" not in written


def test_a_streamed_line_shows_no_credentials(secret_result):
    assert "hunter2" not in FORMATS["jsonl"].line(secret_result)


@pytest.mark.parametrize("name", FORMATS)
def test_the_order_of_results_and_places_does_not_change_a_byte(name, results, write):
    turned = tuple(
        Result(**{f: getattr(r, f) for f in r.__struct_fields__ if f != "found_in"},
               found_in=r.found_in[::-1])
        for r in reversed(results)
    )  # fmt: skip

    assert write(name, turned) == write(name, results)


@pytest.mark.parametrize("name", FORMATS)
def test_the_order_of_a_crawl_does_not_change_a_byte(name, crawled, write):
    results, summary = crawled
    turned = tuple(replace(r, found_in=r.found_in[::-1]) for r in reversed(results))
    left_at = dict(reversed(summary.left_at.items()))

    assert write(name, turned, replace(summary, left_at=left_at)) == write(
        name, *crawled
    )


@pytest.mark.parametrize("name", FORMATS)
def test_a_run_without_results_is_written(name, write):
    assert isinstance(write(name, (), Summary()), str)
    assert isinstance(write(name, (), Summary(site=Site())), str)


@pytest.mark.parametrize("name", ["junit", "sarif"])
def test_build_servers_are_told_of_links_not_of_sites(name, crawled, write):
    results, summary = crawled

    written = write(name, results, summary)

    assert written == write(name, results, replace(summary, site=None))
    assert "Ended early (Ctrl-C): 1,025 not checked." in written


def test_a_style_is_plain_unless_told():
    assert Style() == Style(colour=False, verbose=False, width=100, hyperlinks=False)
