"""How far `ronda crawl` goes: scopes, limits, rules and traps, by the servers' logs."""

from collections.abc import Iterator

import pytest

from e2e.command import Command, Ended
from e2e.site import crawl, made, page
from servers.names import Names
from servers.process import HOST
from servers.site import Site

B, C = "127.0.0.2", "127.0.0.3"
LOCATIONS = (
    "location = /said.html { add_header X-Robots-Tag nofollow; }",
    f"location = /robots.txt {{ if ($host = {C}) {{ rewrite ^ /named.txt; }} }}",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("site") / "nginx", *LOCATIONS) as opened:
        yield opened


@pytest.fixture
def asked(site: Site) -> Iterator["Log"]:
    return Log(site)


class Log:
    """What was asked since the test began: by GET to be read, by HEAD to be checked."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._mark = site.mark()

    @property
    def read(self) -> list[str]:
        return self._by("GET")

    @property
    def checked(self) -> list[str]:
        return self._by("HEAD")

    def _by(self, method: str) -> list[str]:
        return [
            (a.host if a.host != HOST else "") + a.target
            for a in self._site.asked(self._mark)
            if a.method == method and a.target != "/robots.txt"
        ]


class TestScope:
    @pytest.fixture(autouse=True)
    def pages(self, site: Site) -> None:
        outside = site.url("/ext1.html", B)
        site.write("/docs/start.html", page("/docs/in.html", "/out1.html", outside))
        site.write("/docs/in.html", page("/docs/start.html"))
        for number in (1, 2):
            site.write(f"/out{number}.html", page(f"/out{number + 1}.html"))
        site.write("/out3.html", page())
        site.write("/ext1.html", page("/ext2.html"))
        site.write("/ext2.html", page(site.url("/ext3.html", C)))
        site.write("/ext3.html", page("/ext4.html"))
        site.write("/ext4.html", page())

    @pytest.mark.parametrize(
        ("options", "read", "checked"),
        [
            ("--scope directory", "in", f"/out1.html {B}/ext1.html"),
            ("--scope host", "in /out1 /out2 /out3", f"{B}/ext1.html"),
            (
                "--scope directory+1",
                f"in /out1 {B}/ext1",
                f"/out2.html {B}/ext2.html",
            ),
            (
                "--scope host+1",
                f"in /out1 /out2 /out3 {B}/ext1",
                f"{B}/ext2.html",
            ),
            (
                "--external-depth 2",
                f"in /out1 /out2 /out3 {B}/ext1 {B}/ext2",
                f"{C}/ext3.html",
            ),
            (
                "--scope any --depth 2",
                f"in /out1 {B}/ext1 /out2 {B}/ext2",
                f"/out3.html {C}/ext3.html",
            ),
            ("--depth 0", "", f"/docs/in.html /out1.html {B}/ext1.html"),
            ("--depth 1", "in /out1", f"/out2.html {B}/ext1.html"),
        ],
    )
    def test_what_is_in_scope_is_read_and_what_it_links_to_is_checked(
        self,
        ronda: Command,
        site: Site,
        asked: Log,
        options: str,
        read: str,
        checked: str,
    ) -> None:
        # Nothing of it is C's: its sitemap is asked for by another test.
        crawl(ronda, site.url("/docs/start.html"), "--no-sitemaps", *options.split())

        names = [f"{name}.html" for name in read.split()]
        wanted = {name.replace("in.html", "/docs/in.html") for name in names}
        assert set(asked.read) == {"/docs/start.html", *wanted}
        assert set(asked.checked) == set(checked.split())
        assert len(asked.read + asked.checked) == len({*asked.read, *asked.checked})

    def test_domain_takes_in_the_names_under_it(
        self, ronda: Command, site: Site, names: Names, asked: Log
    ) -> None:
        under = site.url("/under.html", "h2.ronda.test")
        site.write("/domain.html", page(under))
        site.write("/under.html", page(site.url("/ext1.html", B)))

        url = site.url("/domain.html", "www.ronda.test")
        options = ("--scope", "domain", "--name-server", names.server)
        ended = crawl(ronda, url, *options)

        assert asked.read == ["www.ronda.test/domain.html", "h2.ronda.test/under.html"]
        assert asked.checked == [f"{B}/ext1.html"]
        assert ended.code == 0

    def test_the_sitemaps_of_others_are_left_alone(
        self, ronda: Command, site: Site, asked: Log
    ) -> None:
        loc = f"<url><loc>{site.url('/foreign.html', C)}</loc></url>"
        site.write("/foreign.xml", f"<urlset>{loc}</urlset>")
        site.write("/named.txt", "Sitemap: /foreign.xml")
        site.write("/leads-away.html", page(site.url("/ext4.html", C)))

        ended = crawl(ronda, site.url("/leads-away.html"), "--scope", "directory")

        assert asked.read == ["/leads-away.html"]
        assert asked.checked == [f"{C}/ext4.html"]
        assert ended.summary["site"]["orphans"] == []


class TestLimits:
    @pytest.fixture(autouse=True)
    def pages(self, site: Site) -> None:
        for number in range(10):
            words = "word " * 2500  # twice on the page: 25 kB
            site.write(f"/l/{number}.html", page(f"{number + 1}.html", words=words))

    def crawled(self, ronda: Command, site: Site, *options: str) -> Ended:
        return crawl(ronda, site.url("/l/0.html"), "--concurrency", "1", *options)

    def test_max_pages(self, ronda: Command, site: Site, asked: Log) -> None:
        ended = self.crawled(ronda, site, "--max-pages", "3")

        assert asked.read == [f"/l/{number}.html" for number in range(3)]
        assert asked.checked == ["/l/3.html"]
        assert ended.summary["site"]["beyond"] == {"max_pages": 1}
        assert (ended.summary["interrupted"], ended.code) == ("", 0)

    def test_max_bytes_ends_it_in_order(
        self, ronda: Command, site: Site, asked: Log
    ) -> None:
        ended = self.crawled(ronda, site, "--max-bytes", "60000")

        assert len(asked.read) == 3
        words = "60,000 bytes were received (max_bytes)"
        assert ended.summary["interrupted"] == words
        assert ended.summary["left"] >= 0
        assert len(ended.results) == 3

    def test_max_page_size_cuts_a_page_and_says_so(
        self, ronda: Command, site: Site, asked: Log
    ) -> None:
        ended = self.crawled(ronda, site, "--max-page-size", "10000")

        assert asked.read == ["/l/0.html"]  # its link stands at its end
        [(document, _, words)] = ended.problems
        assert document == site.url("/l/0.html")
        assert "links may be missing" in words

    def test_bandwidth(self, ronda: Command, site: Site) -> None:
        limit = 130_000
        ended = self.crawled(ronda, site, "--bandwidth", str(limit))

        size = ended.summary["site"]["bytes"]
        last = 25_200
        assert size > 250_000
        # One second's worth may come at once, and nobody waits after the last page.
        assert ended.summary["seconds"] >= (size - last) / limit - 1

    def test_max_time_ends_even_a_page_that_does_not(self, ronda: Command) -> None:
        ways = {"/": "/held", "/held": "/never"}
        with made(lambda path: page(ways.get(path, "/")).encode()) as server:
            ended = crawl(ronda, server.url(), "--max-time", "0.5")

        assert ended.summary["interrupted"] == "out of time"
        assert set(ended.results) == {server.url()}
        assert ended.summary["left"] == 1
        assert ended.summary["seconds"] < 10


class TestRules:
    def test_include_and_exclude_say_what_is_asked_at_all(
        self, ronda: Command, site: Site, asked: Log
    ) -> None:
        site.write("/r/", page("good.html", "bad.html", "/elsewhere.html", "x.png"))
        site.write("/r/good.html", page("better.html"))
        site.write("/r/better.html", page())
        rules = ("--include", "re:/r/", "--exclude", "*bad*", "--exclude", "*.png")

        ended = crawl(ronda, site.url("/r/"), *rules)

        assert asked.read == ["/r/", "/r/good.html", "/r/better.html"]
        assert asked.checked == []
        assert ended.summary["excluded"] == 3

    def test_content_type_says_what_is_read(
        self, ronda: Command, site: Site, asked: Log
    ) -> None:
        style = '<link rel="stylesheet" href="a.css">'
        site.write("/t/", page("b.html", head=style))
        site.write("/t/a.css", "a { b: url(c.png) }")
        site.write("/t/b.html", page("d.html"))

        ended = crawl(ronda, site.url("/t/"), "--content-type", "text/html")

        assert "/t/c.png" not in asked.checked
        assert {"/t/a.css", "/t/d.html"} <= set(asked.read)
        assert ended.summary["site"]["beyond"] == {"content type": 1}

    @pytest.mark.parametrize("ignored", [False, True])
    @pytest.mark.parametrize("how", ["rel", "meta", "header"])
    def test_nofollow_is_obeyed_unless_it_is_ignored(
        self, ronda: Command, site: Site, asked: Log, how: str, ignored: bool
    ) -> None:
        rel = 'rel="ugc NoFollow"' if how == "rel" else ""
        head = '<meta name="robots" content="nofollow">' if how == "meta" else ""
        start = "/said.html" if how == "header" else "/unsaid.html"
        link = f'<a {rel} href="/beyond.html">beyond</a>'
        site.write(start, page(link, head=head))
        site.write("/beyond.html", page("/further.html"))
        site.write("/further.html", page())
        options = ("--ignore-nofollow",) if ignored else ()

        ended = crawl(ronda, site.url(start), *options)

        if ignored:
            assert asked.read == [start, "/beyond.html", "/further.html"]
        else:
            assert (asked.read, asked.checked) == ([start], ["/beyond.html"])
            assert ended.summary["site"]["beyond"] == {"nofollow": 1}

    def test_near_pages_come_first_then_assets_and_what_has_priority_before_all(
        self, ronda: Command, site: Site
    ) -> None:
        image = '<img src="i.png" alt="">'
        site.write("/o/", page(image, "a.html", "b.html", "c.html"))
        site.write("/o/a.html", page("deep.html", "dear.html"))
        for name in ("b", "c", "deep", "dear"):
            site.write(f"/o/{name}.html", page())
        site.write("/o/i.png", "")
        orders = []
        for options in ((), ("--priority", "*dear*=+5", "--priority", "*/b.html=-1")):
            mark = site.mark()
            crawl(ronda, site.url("/o/"), "--concurrency", "1", *options)
            asked = [a.target for a in site.asked(mark) if a.target != "/robots.txt"]
            orders.append([target.removeprefix("/o/") for target in asked])

        pages = ["a.html", "b.html", "c.html"]
        assert orders[0] == ["", *pages, "i.png", "deep.html", "dear.html"]
        # While one page is read for its links, the next one is asked for already.
        assert orders[1][:2] == ["", "a.html"]
        assert sorted(orders[1][2:4]) == ["c.html", "dear.html"]
        assert sorted(orders[1][4:]) == ["b.html", "deep.html", "i.png"]

    def test_a_priority_that_is_none_is_one_clear_line(self, ronda: Command) -> None:
        ended = crawl(ronda, "http://127.0.0.1:1/", "--priority", "dear")

        assert (ended.code, ended.err.count("\n")) == (2, 1)
        assert "PATTERN=+n" in ended.err


class TestTraps:
    def calendar(self, path: str) -> bytes:
        year, _, month = path.partition("date=")[2].partition("-")
        number = int(year or 2026) * 12 + int(month or 1)
        return page(f"/c?date={number // 12}-{number % 12 + 1:02}").encode()

    def sessions(self, path: str) -> bytes:
        number = len(path) * 1000 + sum(map(ord, path))
        return page(f"/s?sid=abc{number:08}", f"/s?sid=xyz{number + 1:08}").encode()

    def queries(self, path: str) -> bytes:
        number = int(path.partition("=")[2] or 0)
        return page(f"/q?page={number + 1}", f"/q?page={number + 2}").encode()

    @pytest.mark.parametrize(
        ("kind", "rule", "most"),
        [
            ("calendar", "trap: calendar", 60),
            ("sessions", "trap: session id", 40),
            ("queries", "query strings", 60),
        ],
    )
    def test_what_never_ends_is_noticed(
        self, ronda: Command, kind: str, rule: str, most: int
    ) -> None:
        with made(getattr(self, kind)) as server:
            ended = crawl(ronda, server.url(), "--max-queries", "45")

        assert ended.summary["site"]["beyond"][rule] > 0
        assert len(server.asked) < most
        assert (ended.summary["left"], ended.code) == (0, 0)

    def test_without_traps_only_the_limits_end_it(self, ronda: Command) -> None:
        options = ("--no-traps", "--max-pages", "60", "--depth", "100")
        with made(self.sessions) as server:
            ended = crawl(ronda, server.url(), *options)

        assert ended.summary["site"]["pages"] == 60
        assert list(ended.summary["site"]["beyond"]) == ["max_pages"]
