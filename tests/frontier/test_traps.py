"""What a site makes up without end, noticed by the URL alone."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.frontier.traps import DATED, DEEPEST, IN_ALL, LONGEST, SESSIONS, Traps

SITE = "https://example.org"
YEAR = 2026
ENDLESS, SESSION, CALENDAR = "trap: endless path", "trap: session id", "trap: calendar"

words = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=8)
paths = st.lists(words, max_size=12)


def why(path: str, max_queries: int = 1000) -> str:
    return Traps(max_queries).why(f"{SITE}{path}", YEAR)


def followed(paths: list[str], max_queries: int = 1000) -> int:
    traps = Traps(max_queries)
    return sum(not traps.why(f"{SITE}{path}", YEAR) for path in paths)


class TestSitesAsTheyAre:
    def test_a_hundred_thousand_numbered_pages_are_all_followed(self) -> None:
        traps = Traps(1000)
        pages = (f"{SITE}/p/{number}.html" for number in range(100_000))

        assert not any(traps.why(page, YEAR) for page in pages)

    def test_so_are_nine_hundred_pages_of_a_list(self) -> None:
        pages = [f"/list?page={number}" for number in range(1, 901)]

        assert followed(pages) == 900

    def test_so_are_the_threads_of_a_forum_and_their_pages(self) -> None:
        pages = [f"/t/{thread}/{page}" for thread in range(5000) for page in (0, 13)]

        assert followed(pages) == 10_000

    def test_so_are_all_months_of_forty_years_and_the_posts_of_a_blog(self) -> None:
        months = [f"/{y}/{m:02}/" for y in range(1990, 2029) for m in range(1, 13)]
        posts = [f"{month}12/post-{n}" for month in months for n in range(9)]

        assert followed(months + posts) == len(months + posts)

    @pytest.mark.parametrize(
        "path",
        [
            "/",
            "/a/a/b/b",
            "/11/11/11/",
            "/valve-1950-12",
            "/CVE-1950-01234/",
            "/1950/12/45",
            "/film?year=1950",
            "/x?update=1",
            "/x?day=12345",
            "/a//b/",
            "/1950/1/2345",
            "/at?time=1893456000",
            "/x?date=",
            "/a?session=open",
            "/x-1234-5-6",
        ],
    )
    def test_what_only_looks_like_a_trap_is_followed(self, path: str) -> None:
        assert followed([path] * 20) == 20

    @given(st.lists(words, max_size=DEEPEST - 1, unique=True))
    def test_a_path_that_does_not_repeat_itself_is_followed(
        self, path: list[str]
    ) -> None:
        assert why("/" + "/".join(path)) == ""


class TestEndlessPaths:
    @given(paths, st.lists(words, min_size=1, max_size=2), paths)
    def test_a_segment_or_a_pair_of_them_thrice_in_a_row(
        self, before: list[str], again: list[str], behind: list[str]
    ) -> None:
        assert why("/" + "/".join(before + again * 3 + behind)) == ENDLESS

    def test_a_segment_that_comes_back_again_and_again(self) -> None:
        path = "".join(f"/{number}/up" for number in range(IN_ALL))

        assert why(path) == ""
        assert why(f"{path}/x/up") == ENDLESS

    def test_a_number_in_a_row_is_a_date_or_a_place_until_there_are_too_many(
        self,
    ) -> None:
        assert why("/7" * IN_ALL) == ""
        assert why("/7" * (IN_ALL + 1)) == ENDLESS

    def test_a_path_too_deep(self) -> None:
        assert why("".join(f"/{number}" for number in range(DEEPEST))) == ""
        assert why("".join(f"/{number}" for number in range(DEEPEST + 1))) == ENDLESS

    def test_a_url_too_long(self) -> None:
        room = LONGEST - len(SITE) - 1

        assert why("/" + "x" * room) == ""
        assert why("/" + "x" * (room + 1)) == ENDLESS


class TestSessions:
    @pytest.mark.parametrize(
        "path",
        [
            "/a;jsessionid={}",
            "/a;JSESSIONID={}?x=1",
            "/a?PHPSESSID={}&x=1",
            "/a?x=1&sid={}",
            "/a?sessionid={}",
            "/a?session_id={}",
            "/a?CFID=1&CFTOKEN={}",
            "/a?zenid={}",
            "/a?ASPSESSIONIDQQ={}",
            "/a?osCsid={}",
            "/(S({}))/a",
            "/(A(x)S({}))/a?x=1",
        ],
    )
    def test_of_urls_equal_but_for_their_session_the_first_are_followed(
        self, path: str
    ) -> None:
        pages = [path.format(f"{number:08x}f0") for number in range(30)]
        others = [page.replace("/a", "/b") for page in pages[:5]]
        traps = Traps(1000)
        said = [traps.why(f"{SITE}{page}", YEAR) for page in pages]

        assert said == [""] * SESSIONS + [SESSION] * (30 - SESSIONS)
        assert not any(traps.why(f"{SITE}{page}", YEAR) for page in others)

    def test_sid_also_numbers_articles(self) -> None:
        assert followed([f"/article?sid={n}" for n in range(10**8, 10**8 + 99)]) == 99
        assert followed([f"/article?sid=26/01/02/{n}" for n in range(99)]) == 99


class TestCalendars:
    @pytest.mark.parametrize("year", [1989, YEAR + 3])
    @pytest.mark.parametrize(
        "path",
        [
            "/{}/05",
            "/{}/5/",
            "/cal/{}/05/13",
            "/{}-05",
            "/{}-05-13/x",
            "/x-{}-05-13",
            "/{}-W20",
            "/{}/1/2/14",
            "/e?d={}-05",
            "/e?eventDate={}0513",
            "/e?date={}05",
            "/e?month=5&year={}",
            "/e?year:int={}&month:int=5",
            "/e?date=13.05.{}",
            "/e?week=20&year={}",
            "/e?date={}%2F05%2F13",
            "/1999-01-01/{}-05-13",
        ],
    )
    def test_years_that_nobody_has_a_use_for_are_not_followed(
        self, path: str, year: int
    ) -> None:
        assert why(path.format(year)) == CALENDAR
        assert why(path.format(YEAR)) == ""

    @pytest.mark.parametrize(
        "path", ["/0001-01-01", "/day/9999-12-31", "/e?d=3000-01-01"]
    )
    def test_a_whole_date_may_be_of_any_year(self, path: str) -> None:
        assert why(path) == CALENDAR

    @given(st.integers(0, 3000))
    def test_the_years_that_are_followed_are_one_range(self, year: int) -> None:
        assert (why(f"/{year:04}-05-13") == "") == (1990 <= year <= YEAR + 2)

    @pytest.mark.parametrize("path", ["/{}/{:02}/{:02}", "/{}-{:02}-{:02}/list"])
    def test_of_one_shape_only_so_many_are_followed(self, path: str) -> None:
        ymd = [
            (y, m, d) for y in range(2000, 2010) for m in range(1, 13) for d in (1, 28)
        ]
        days = [path.format(*day) for day in ymd] * 10
        rooms = [f"/room/{n}{path.format(*day)}" for n in (1, 2) for day in ymd]

        assert followed(days) == DATED
        assert followed(days + rooms) == DATED + len(rooms)

    def test_dates_in_keys_have_a_shape_too(self) -> None:
        days = [f"/e?view=day&date=2020{n % 12 + 1:02}01" for n in range(2000)]

        assert followed(days, max_queries=10_000) == DATED


class TestQueries:
    @given(st.integers(0, 30), st.integers(0, 60))
    def test_one_path_has_only_so_many_of_them(self, most: int, count: int) -> None:
        pages = [f"/list?sort={number}" for number in range(count)]

        assert followed(pages, most) == min(most, count)

    def test_filters_in_every_order_come_to_an_end(self) -> None:
        orders = permutations(["a=1", "b=2", "c=3", "d=4", "e=5", "f=6", "g=7"])
        pages = [f"/shop?{'&'.join(order)}" for order in orders]

        assert len(pages) == 5040
        assert followed(pages) == 1000

    def test_each_path_has_its_own(self) -> None:
        pages = [f"/{path}?x={x}" for path in range(50) for x in range(3)]

        assert followed(pages, 2) == 100

    def test_they_are_limited_also_where_traps_are_not_looked_for(self) -> None:
        traps = Traps(1)
        said = [traps.queries(f"{SITE}{path}") for path in ("/", "/?1984-01-01", "/?b")]

        assert said == ["", "", "query strings"]


class TestMemory:
    @given(st.lists(st.integers(0, 40), max_size=200), st.integers(1, 8))
    def test_it_holds_no_more_than_it_may(self, paths: list[int], many: int) -> None:
        traps = Traps(1000, many)
        for path in paths:
            traps.why(f"{SITE}/{path}?x", YEAR)

            assert len(traps._counts) <= many

    def test_a_trap_is_found_though_there_is_more_than_can_be_counted(self) -> None:
        traps = Traps(1000, 100)
        said = []
        for number in range(3000):
            traps.queries(f"{SITE}/{number}?x")
            said.append(traps.queries(f"{SITE}/shop?{number}"))

        assert said.index("query strings") == 1000
        assert said.count("") == 1000
