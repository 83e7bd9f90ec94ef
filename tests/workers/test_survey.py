"""What a crawl finds out about a site: its slow, double and lost pages."""

from collections import defaultdict
from typing import Any

from fake_parts import QUICK, Play, Reply, found, page, with_check
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ronda.config import Crawl
from ronda.frontier.reach import Reach
from ronda.model import (
    Answer,
    Hop,
    Place,
    Request,
    Result,
    Slow,
    State,
    Target,
    Timings,
    Visit,
)
from ronda.simulation.loop import VirtualClock
from ronda.workers.survey import GROUP, GROUPS, MOST, SLOWEST, Survey

A = "http://a.test/"


def read(survey: Survey, url: str, **more: Any) -> None:
    seconds, digest = more.pop("seconds", 0.0), more.pop("digest", "")
    answer = Answer(**{"status": 200, "timings": Timings(total=seconds), **more})
    survey.read(Visit(Target(url, ""), Request(url), ""), answer, digest)


def digest(number: int) -> str:
    return f"{number:032x}" + "0" * 32


def site(survey: Survey, **places: tuple[Place, ...]) -> Any:
    return survey.site(lambda url: places.get(url, ()), {})


class TestSlowest:
    @settings(deadline=None)
    @given(st.lists(st.floats(0.0, 100.0), max_size=40))
    def test_they_are_the_slowest_with_the_slowest_first(
        self, seconds: list[float]
    ) -> None:
        survey = Survey()
        for number, value in enumerate(seconds):
            read(survey, f"{A}{number}", seconds=value)

        told = [slow.seconds for slow in site(survey).slowest]
        expected = sorted(seconds, reverse=True)[:SLOWEST]
        assert told == [value for value in expected if value]
        assert survey.pages == len(seconds)

    def test_each_is_told_with_its_time(self) -> None:
        survey = Survey()
        read(survey, A, seconds=2.5)

        assert site(survey).slowest == (Slow(A, 2.5),)


class TestDuplicates:
    @settings(deadline=None)
    @given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=30))
    def test_pages_are_equal_whose_digests_are(
        self, pages: list[tuple[int, int]]
    ) -> None:
        """Against the obvious; a page may be read more than once."""
        survey, groups, known = Survey(), defaultdict[int, list[str]](list), {}
        for number, body in pages:
            body = known.setdefault(number, body)  # noqa: PLW2901
            read(survey, f"{A}{number}", digest=digest(body))
            if f"{A}{number}" not in groups[body]:
                groups[body].append(f"{A}{number}")

        expected = {tuple(urls) for urls in groups.values() if len(urls) > 1}
        assert set(site(survey).duplicates) == expected

    def test_two_ways_to_one_page_are_no_two_pages(self) -> None:
        survey = Survey()
        read(survey, A, digest=digest(1))
        read(survey, A, digest=digest(1))

        assert site(survey).duplicates == ()

    def test_pages_without_a_body_are_not_compared(self) -> None:
        survey = Survey()
        read(survey, A)
        read(survey, f"{A}2")

        assert site(survey).duplicates == ()

    def test_of_a_large_group_and_of_many_the_first_are_told(self) -> None:
        survey = Survey()
        for number in range(GROUP + 5):
            read(survey, f"{A}{number}", digest=digest(0))
        for number in range(GROUPS + 5):
            read(survey, f"{A}one/{number}", digest=digest(number + 1))
            read(survey, f"{A}two/{number}", digest=digest(number + 1))

        told = site(survey).duplicates
        assert len(told) == GROUPS
        assert len(told[0]) == GROUP
        assert all(len(group) == 2 for group in told[1:])

    def test_no_more_are_compared_than_fit_into_memory(self) -> None:
        survey = Survey()
        survey._first = {b"%d" % n: "x" for n in range(MOST)}
        read(survey, A, digest=digest(1))
        read(survey, f"{A}2", digest=digest(1))

        assert len(survey._first) == MOST
        assert site(survey).duplicates == ()


class TestOrphans:
    def test_what_only_a_sitemap_names_is_one(self) -> None:
        survey = Survey()
        survey.named(["lonely", "linked", "given", "unknown"])

        told = site(
            survey,
            lonely=(Place(f"{A}map.xml", 3),),
            linked=(Place(f"{A}map.xml", 4), Place(A, 1, tag="a")),
            given=(Place(""),),  # on the command line
        )

        assert told.orphans == ("lonely", "unknown")

    def test_each_is_told_once(self) -> None:
        survey = Survey()
        survey.named(["x", "x"])
        survey.named(["x"])

        assert site(survey).orphans == ("x",)

    def test_no_more_are_kept_than_fit_into_memory(self) -> None:
        survey = Survey()
        survey.named(str(n) for n in range(MOST + 5))

        assert len(survey._named) == MOST


class TestCounts:
    def test_pages_bytes_and_rules_are_counted(self) -> None:
        survey = Survey()
        read(survey, A)
        read(survey, f"{A}2", status=304)

        survey.bytes += 150
        told = survey.site(lambda _: (), {"depth": 3})
        assert (told.pages, told.unchanged, told.bytes) == (2, 1, 150)
        assert told.beyond == {"depth": 3}

    def test_what_an_earlier_process_read_is_counted_too(self) -> None:
        survey = Survey()
        result = Result(
            url=A,
            verdict=State.OK,
            reason="http_200",
            message="",
            media_type="text/html",
        )
        style = replace(result, url=f"{A}style", media_type="text/css")
        timings = Timings(total=3.0)
        pages = [
            replace(result, bytes=10, digest=digest(1), timings=timings),
            replace(result, url=f"{A}2", bytes=5, digest=digest(1), status=304),
            replace(style, bytes=7, digest=digest(1)),
            replace(
                result,
                url=f"{A}moved",
                digest=digest(1),
                hops=(Hop(f"{A}moved", 301, A),),
            ),
        ]
        for page_read in pages:
            survey.restore(page_read)

        told = site(survey)
        assert (told.pages, told.unchanged, told.bytes) == (3, 1, 22)
        assert told.slowest == (Slow(A, 3.0),)
        assert told.duplicates == ((A, f"{A}2"),)


class TestOfARun:
    MAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>'
    INDEX = (
        '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        "{}</sitemapindex>"
    )

    def site(self, replies: dict[str, Reply], *urls: str, **more: Any) -> Any:
        wanted = urls or (A,)
        survey = Survey()
        play = Play(
            found(*wanted, document="", reads=True),
            replies,
            clock=VirtualClock(),
            more={"survey": survey, "reach": Reach(Crawl(), wanted, 2026)},
            **more,
        )
        assert play.summary.left == 0
        return play.summary.site

    def sitemap(self, *urls: str, form: str = "") -> Answer:
        tag = "sitemap" if form else "url"
        entries = "".join(f"<{tag}><loc>{url}</loc></{tag}>" for url in urls)
        return page((form or self.MAP).format(entries), "application/xml")

    def test_pages_that_a_sitemap_names_and_no_page_links_to(self) -> None:
        told = self.site(
            {
                A: page(f'<a href="{A}1">x</a>'),
                f"{A}map": self.sitemap(f"{A}1", f"{A}lonely"),
            },
            A,
            f"{A}map",
        )

        assert told.orphans == (f"{A}lonely",)

    def test_the_sitemaps_of_an_index_are_no_pages_without_links(self) -> None:
        told = self.site(
            {
                f"{A}index": self.sitemap(f"{A}map", form=self.INDEX),
                f"{A}map": self.sitemap(f"{A}lonely"),
            },
            f"{A}index",
        )

        assert told.orphans == (f"{A}lonely",)

    def test_what_a_page_links_to_with_a_fragment_is_linked_to(self) -> None:
        told = self.site(
            {
                A: page(f'<a href="{A}1#part">x</a>'),
                f"{A}map": self.sitemap(f"{A}1"),
            },
            A,
            f"{A}map",
            settings=with_check(QUICK, fragments=True),
        )

        assert told.orphans == ()

    def test_what_a_feed_names_is_in_no_sitemap(self) -> None:
        feed = page(
            f"<rss><channel><item><link>{A}post</link></item></channel></rss>",
            "application/rss+xml",
        )
        told = self.site({A: page(f'<a href="{A}feed">x</a>'), f"{A}feed": feed})

        assert told.orphans == ()

    def test_pages_with_the_same_body_are_told(self) -> None:
        links = "".join(f'<a href="{A}{n}">x</a>' for n in range(3))
        told = self.site({A: page(links), f"{A}2": page("other")}, default=page("one"))

        assert told.duplicates == ((f"{A}0", f"{A}1"),)
        assert told.pages == 4
