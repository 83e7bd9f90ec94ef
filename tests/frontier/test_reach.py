"""How far a crawl reaches."""

from typing import Any

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.config import Crawl
from ronda.frontier.reach import Area, Reach, Step
from ronda.model import Target

SEED = "https://www.example.org/docs/index.html"
NEAR, FAR = "https://www.example.org/docs/a", "https://far.test/a"
PAGE = Target(SEED, "www.example.org")


def reach(*seeds: str, **settings: Any) -> Reach:
    return Reach(Crawl(**settings), seeds or [SEED], 2026)


def step(
    url: str, tag: str = "a", rel: str = "", *, parent: Target = PAGE, **settings: Any
) -> Step:
    return reach(**settings).judge(url, tag, rel, parent, False)


def page(depth: int = 0, outside: int = 0, url: str = SEED) -> Target:
    return Target(url, "www.example.org", depth=depth, outside=outside)


class TestScopes:
    @pytest.mark.parametrize(
        ("kind", "url", "inside"),
        [
            ("directory", "https://www.example.org/docs/", True),
            ("directory", "http://www.example.org/docs/a/b?x=/y", True),
            ("directory", "https://www.example.org/docs", False),
            ("directory", "https://www.example.org/docs?x=/", False),
            ("directory", "https://www.example.org/docs2/", False),
            ("directory", "https://example.org/docs/", False),
            ("host", "https://www.example.org/", True),
            ("host", "http://www.example.org/", True),
            ("host", "http://www.example.org:443/", True),
            ("host", "https://www.example.org:80/", True),
            ("host", "https://user:word@www.example.org/", True),
            ("host", "https://www.example.org./", True),
            ("host", "https://www.example.org:8443/", False),
            ("host", "https://example.org/", False),
            ("host", "https://www.example.org.evil.test/", False),
            ("domain", "https://example.org/", True),
            ("domain", "https://a.b.example.org:8443/x", True),
            ("domain", "https://badexample.org/", False),
            ("domain", "https://org/", False),
            ("any", "https://far.test/", True),
            ("any", "ftp://www.example.org/", False),
            ("host", "mailto:a@www.example.org", False),
        ],
    )
    def test_each_has_its_borders(self, kind: str, url: str, inside: bool) -> None:
        assert (url in Area(kind, [SEED])) is inside

    @pytest.mark.parametrize(
        ("seed", "url", "inside"),
        [
            ("http://10.1.2.3/", "http://10.1.2.3:81/", True),
            ("http://10.1.2.3/", "http://0.10.1.2/", False),
            ("http://[::1]:8080/", "http://[::1]/", True),
            ("http://[::1]/", "http://[::2]:80/", False),
            ("http://localhost/", "http://a.localhost/", True),
            ("https://www.com/", "https://www.com/a", True),
            ("https://www.com/", "https://other.com/", False),
        ],
    )
    def test_nothing_is_under_an_address_or_a_name_of_one_word(
        self, seed: str, url: str, inside: bool
    ) -> None:
        assert (url in Area("domain", [seed])) is inside

    def test_each_seed_has_its_own_borders(self) -> None:
        seeds = [
            "https://a.test/x/",
            "https://a.test/y/z",
            "https://b.test/#/x/",
            "ftp://c/",
        ]
        area = Area("directory", seeds)

        assert "https://a.test/x/1" in area
        assert "https://a.test/y/1" in area
        assert "https://b.test/x" in area
        assert "https://a.test/z" not in area

    @given(
        st.sampled_from(["directory", "host", "domain"]),
        st.lists(st.sampled_from(["a.test", "www.a.test", "b.a.test:81", "10.0.0.1"])),
        st.sampled_from(["http", "https"]),
        st.sampled_from(
            ["a.test", "www.a.test:80", "b.a.test", "b.a.test:81", "xa.test"]
        ),
        st.sampled_from(["", "d", "d/", "d/e", "d/e/f?x/y", "?d/e/"]),
    )
    def test_it_agrees_with_a_slow_and_obvious_version(
        self, kind: str, hosts: list[str], scheme: str, host: str, path: str
    ) -> None:
        seeds = [f"https://{host}/d/e" for host in hosts]
        url = str(ada_url.normalize_url(f"{scheme}://{host}/{path}"))

        assert (url in Area(kind, seeds)) == any(obvious(kind, s, url) for s in seeds)


def obvious(kind: str, seed: str, url: str) -> bool:
    one, other = ada_url.URL(seed), ada_url.URL(url)
    if kind == "domain":
        name = one.hostname.removeprefix("www.")
        is_under = name != "10.0.0.1" and other.hostname.endswith(f".{name}")
        return other.hostname == name or is_under
    ports = [
        None if url.port in {"", "80", "443"} else url.port for url in (one, other)
    ]
    if one.hostname != other.hostname or ports[0] != ports[1]:
        return False
    return kind == "host" or other.pathname.startswith("/d/")


class TestSteps:
    def test_a_page_in_scope_is_followed(self) -> None:
        assert step(NEAR, parent=page(3)) == Step(True, 4, 0)

    def test_one_out_of_scope_is_checked_only(self) -> None:
        assert step(FAR) == Step(False, 1, 1)

    @pytest.mark.parametrize(
        "settings",
        [{"scope": "host+1"}, {"scope": "directory+1"}, {"external_depth": 1}],
    )
    def test_one_step_outside_may_be_followed_and_none_from_there(
        self, settings: dict[str, Any]
    ) -> None:
        assert step(FAR, **settings) == Step(True, 1, 1)
        assert step(FAR, parent=page(1, 1), **settings) == Step(False, 2, 2)

    def test_of_two_numbers_of_steps_outside_the_larger_counts(self) -> None:
        settings: dict[str, Any] = {"scope": "host+1", "external_depth": 3}

        assert step(FAR, parent=page(2, 2), **settings).follow
        assert not step(FAR, parent=page(3, 3), **settings).follow

    def test_to_come_back_into_scope_begins_anew(self) -> None:
        assert step(NEAR, parent=page(1, 1), scope="host+1") == Step(True, 2, 0)

    @pytest.mark.parametrize(
        "url", ["mailto:a@b.test", "ftp://www.example.org/a", "tel:1"]
    )
    @pytest.mark.parametrize("scope", ["any", "host+1"])
    def test_only_the_web_is_followed(self, url: str, scope: str) -> None:
        assert step(url, scope=scope) == Step(False, 1, 1)

    def test_a_fragment_makes_no_difference(self) -> None:
        assert step(f"{NEAR}.html#x.zip").follow
        assert not step(f"{NEAR}.zip#top").follow


class TestKinds:
    @pytest.mark.parametrize(
        ("tag", "rel"),
        [
            ("a", "noopener"),
            ("area", ""),
            ("iframe", ""),
            ("frame", ""),
            ("meta", ""),
            ("", ""),
            ("link", "canonical"),
            ("link", "next"),
        ],
    )
    def test_pages_are_followed(self, tag: str, rel: str) -> None:
        assert step(NEAR, tag, rel) == Step(True, 1, 0)

    @pytest.mark.parametrize(
        ("tag", "rel", "url"),
        [
            ("link", "Stylesheet", NEAR),
            ("link", "manifest", NEAR),
            ("css", "import", NEAR),
            ("css", "", f"{NEAR}.css?v=1"),
            ("link", "preload", f"{NEAR}.CSS"),
        ],
    )
    def test_so_are_assets_that_name_others(self, tag: str, rel: str, url: str) -> None:
        assert step(url, tag, rel) == Step(True, 1, 0, asset=True)

    @pytest.mark.parametrize(
        ("tag", "rel"), [("img", ""), ("script", ""), ("css", ""), ("link", "icon")]
    )
    def test_other_assets_are_checked_only(self, tag: str, rel: str) -> None:
        assert step(NEAR, tag, rel) == Step(False, 1, 0, asset=True)

    @pytest.mark.parametrize("ending", ["zip", "PNG", "mp4", "pdf", "js", "tar.gz"])
    def test_so_is_what_a_page_links_to_but_nobody_can_read(self, ending: str) -> None:
        assert step(f"{NEAR}.{ending}?x=1") == Step(False, 1, 0, asset=True)

    @pytest.mark.parametrize(
        "name", ["File:View.jpg", "sitemap.xml.gz", "v1.2/", "x.php?f=a.zip", ".png/a"]
    )
    def test_what_only_ends_like_that_is_followed(self, name: str) -> None:
        assert step(f"https://www.example.org/{name}").follow

    @pytest.mark.parametrize(
        "kinds", [("application/pdf",), ("text/*", "application/*")]
    )
    def test_pdf_is_followed_by_who_asks_for_it(self, kinds: tuple[str, ...]) -> None:
        assert step(f"{NEAR}.pdf", content_types=kinds).follow
        assert not step(f"{NEAR}.pdf", content_types=("text/*",)).follow


class TestBeyond:
    def test_a_link_too_deep_is_checked_only(self) -> None:
        assert step(NEAR, parent=page(1), depth=2).follow
        assert step(NEAR, parent=page(2), depth=2) == Step(False, 3, 0, beyond="depth")
        assert step(NEAR, parent=page(10**6), depth=None).follow

    def test_a_link_that_says_nofollow_is_checked_only(self) -> None:
        assert step(NEAR, rel="noopener NoFollow").beyond == "nofollow"
        assert step(NEAR, rel="nofollow", nofollow=False).follow
        assert step(NEAR, rel="nofollower").follow

    def test_so_are_the_links_of_a_page_that_says_so_but_not_its_style(self) -> None:
        judge = reach().judge

        assert judge(NEAR, "a", "", PAGE, True) == Step(False, 1, 0, beyond="nofollow")
        assert judge(NEAR, "link", "stylesheet", PAGE, True).follow
        assert reach(nofollow=False).judge(NEAR, "a", "", PAGE, True).follow

    @pytest.mark.parametrize(
        ("path", "rule"),
        [("/a/a/a/", "trap: endless path"), ("/2050-01-01", "trap: calendar")],
    )
    def test_a_trap_is_checked_only(self, path: str, rule: str) -> None:
        url = f"https://www.example.org{path}"

        assert step(url) == Step(False, 1, 0, beyond=rule)
        assert step(url, traps=False).follow

    @pytest.mark.parametrize("traps", [True, False])
    def test_queries_are_limited_with_and_without_traps(self, traps: bool) -> None:
        judge = reach(max_queries=2, traps=traps).judge
        said = [judge(f"{NEAR}?{n}", "a", "", PAGE, False).beyond for n in range(3)]

        assert said == ["", "", "query strings"]

    def test_what_is_out_of_reach_anyway_is_beyond_no_rule(self) -> None:
        assert step(FAR, rel="nofollow", parent=page(99)).beyond == ""
        assert step(f"{NEAR}.zip", rel="nofollow", parent=page(99)).beyond == ""


urls = st.sampled_from([NEAR, FAR, f"{NEAR}?x", f"{NEAR}.zip", f"{NEAR}/2050/01/01"])


class TestPages:
    def test_the_seeds_count_as_pages(self) -> None:
        crawl = reach(SEED, FAR, max_pages=3)
        said = [crawl.judge(f"{NEAR}{n}", "a", "", PAGE, False) for n in range(2)]

        assert said == [Step(True, 1, 0), Step(False, 1, 0, beyond="max_pages")]
        assert crawl.granted == 3

    def test_a_crawl_that_goes_on_knows_how_many_there_were(self) -> None:
        crawl = reach(max_pages=100)
        crawl.granted = 100

        assert crawl.judge(NEAR, "a", "", PAGE, False).beyond == "max_pages"

    @given(
        st.integers(1, 10) | st.none(),
        st.lists(st.tuples(urls, st.sampled_from(["a", "img", "link"]), st.booleans())),
    )
    def test_never_are_more_granted_and_every_grant_is_counted(
        self, most: int | None, links: list[tuple[str, str, bool]]
    ) -> None:
        crawl = reach(max_pages=most, max_queries=2)
        steps = [crawl.judge(url, tag, "", PAGE, no) for url, tag, no in links]

        assert crawl.granted == 1 + sum(one.follow for one in steps)
        assert most is None or crawl.granted <= most
        assert not any(one.follow and one.beyond for one in steps)


class TestAfter:
    def test_a_page_that_came_is_read(self) -> None:
        assert reach().after(page(2), SEED, "text/html") == Step(True, 2, 0)

    @pytest.mark.parametrize(
        ("kinds", "media_type", "follow"),
        [
            (("text/html",), "text/html; charset=utf-8", True),
            (("Text/*",), "text/CSS", True),
            (("text/html",), "application/xml", False),
            (("text/html",), "", False),
        ],
    )
    def test_only_pages_of_the_kinds_that_are_wanted(
        self, kinds: tuple[str, ...], media_type: str, follow: bool
    ) -> None:
        found = reach(content_types=kinds).after(PAGE, SEED, media_type)

        assert found.follow is follow
        assert found.beyond == ("" if follow else "content type")

    def test_not_one_that_was_redirected_out_of_scope(self) -> None:
        target = page(1, url=NEAR)

        assert reach().after(target, FAR, "") == Step(False, 1, 1, beyond="redirect")
        assert reach().after(target, SEED, "") == Step(True, 1, 0)
        assert reach().after(PAGE, FAR, "").beyond == "redirect"

    def test_where_steps_outside_are_followed_a_redirect_is_one(self) -> None:
        crawl = reach(scope="host+1")

        assert crawl.after(page(1, 0, NEAR), FAR, "") == Step(True, 1, 1)
        assert crawl.after(page(1, 1, FAR), f"{FAR}/", "") == Step(True, 1, 1)
        assert crawl.after(page(1, 1, FAR), NEAR, "") == Step(True, 1, 0)
        assert crawl.after(page(1, 1, FAR), "ftp://far.test/", "").follow is False

    def test_a_page_that_was_not_redirected_is_read_wherever_it_is(self) -> None:
        assert reach().after(page(0, 0, FAR), FAR, "application/xml").follow


class TestASeedThatMoved:
    def test_it_takes_its_scope_along_within_its_name(self) -> None:
        old, new = "http://example.org/", "https://www.example.org/en/"
        crawl = reach(old)

        assert crawl.after(page(0, 0, old), new, "") == Step(True, 0, 0)
        assert crawl.judge(f"{new}a", "a", "", PAGE, False).follow
        assert crawl.judge(f"{old}a", "a", "", PAGE, False).follow
        assert crawl.seeds == [old, new]

    @pytest.mark.parametrize(
        "url", [FAR, "ftp://example.org/", "https://m.example.org/"]
    )
    def test_elsewhere_it_does_not(self, url: str) -> None:
        seed = "https://example.org/"
        crawl = reach(seed)

        assert not crawl.after(page(0, 0, seed), url, "").follow
        assert crawl.seeds == [seed]

    def test_a_page_that_is_no_seed_does_not(self) -> None:
        crawl = reach("https://example.org/")
        target = page(1, 0, "https://example.org/a")

        assert not crawl.after(target, "https://www.example.org/a", "").follow
