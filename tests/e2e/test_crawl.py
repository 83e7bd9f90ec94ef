"""`ronda crawl` on a small site that has everything, judged by nginx's log."""

from collections.abc import Iterator

import pytest

from e2e.command import Command, Ended
from e2e.forks import Forked
from e2e.site import crawl, page, paths
from servers.site import Site

AWAY = "127.0.0.2"
LOCATIONS = (
    f"location = /away {{ return 302 http://{AWAY}:PORT/other/; }}",
    "location = /moved { return 301 /there.html; }",
    "location = /twice { return 302 /moved; }",
    "location = /by-header.html { charset iso-8859-1; }",
    "location = /wall.html { return 403; }",
    f"location = /robots.txt {{ if ($host = {AWAY}) {{ return 404; }} }}",
)
HEAD = """
<link rel="stylesheet" href="style.css">
<link rel="manifest" href="app.webmanifest">
<link rel="preconnect" href="https://nowhere.test/">
<link rel="next" href="next.html">
<style>h1 { background: url(inline.png) }</style>"""
FIRST = (
    '<a href="linked.html">The <b>linked</b> page</a>',
    '<a href="nope.html">No   such\npage</a>',
    '<iframe src="frame.html"></iframe>',
    '<img src="one.png" srcset="small.png 1x, large.png 2x" alt="picture">',
    '<picture><source srcset="wide.png"><img src="gone.png" alt="Gone"></picture>',
    '<video src="film.mp4" poster="poster.png"><track src="words.vtt"></video>',
    '<map><area href="area.html"></map>',
    "<p style=\"background: url('attribute.png')\">",
    '<object data="object.html"></object>',
    '<a href="base/">base</a> <a href="refresh.html">refresh</a>',
    '<a href="by-header.html">h</a> <a href="by-meta.html">m</a>',
    '<a href="/away">a</a> <a href="/moved">b</a> <a href="/twice">c</a>',
    '<a href="twin1.html">1</a> <a href="twin2.html">2</a>',
    '<a href="file.pdf">pdf</a> <a href="/private/secret.html">secret</a>',
    '<a href="#part">part</a> <a href="linked.html#part">again</a>',
    '<a href="mailto:nobody@h1.ronda.test">mail</a>',
    '<a href="/wall.html">wall</a>',
)
READ = {  # asked by GET, since they can name others
    *("/", "/style.css", "/more.css", "/app.webmanifest", "/next.html"),
    *("/linked.html", "/frame.html", "/area.html", "/base/"),
    *("/elsewhere/page.html", "/refresh.html", "/refreshed.html", "/by-header.html"),
    *("/by-meta.html", "/caf%C3%A9.html", "/t%C3%BCr.html", "/twin1.html"),
    *("/twin2.html", "/started.html", "/sitemap.xml", "/orphan.html", "/deep.html"),
    *("/nope.html", "/wall.html", "/away", "/moved", "/twice"),
}
CHECKED = {  # asked by HEAD
    *("/inline.png", "/one.png", "/small.png", "/large.png", "/wide.png", "/film.mp4"),
    *("/poster.png", "/words.vtt", "/attribute.png", "/file.pdf", "/icon.png"),
    *("/img/back.png", "/deep.png", "/gone.png", "/object.html"),
}


def write(site: Site) -> None:
    site.write(
        "/robots.txt", "User-agent: *\nDisallow: /private/\nSitemap: /sitemap.xml"
    )
    locs = "".join(
        f"<url><loc>{site.url(p)}</loc></url>\n" for p in ("/", "/orphan.html")
    )
    site.write("/sitemap.xml", f"<urlset>\n{locs}</urlset>")
    site.write("/", page(*FIRST, head=HEAD))
    site.write(
        "/style.css", '@import "more.css";\nbody { background: url(img/back.png) }'
    )
    site.write(
        "/more.css", ".a { background: url( 'deep.png' ) }\n.b { a: url(/nope.html) }"
    )
    manifest = '{"start_url": "/started.html", "icons": [{"src": "icon.png"}]}'
    site.write("/app.webmanifest", manifest)
    site.write("/base/", page("page.html", head='<base href="/elsewhere/">'))
    refresh = '<meta http-equiv="refresh" content="5; url=refreshed.html">'
    site.write("/refresh.html", page(head=refresh))
    site.write("/by-header.html", page("café.html").encode("latin-1"))
    meta = '<meta charset="iso-8859-1">'
    site.write("/by-meta.html", page("tür.html", head=meta).encode("latin-1"))
    site.write("/linked.html", page("/", "/nope.html", "deep.html", words="linked"))
    site.write("/deep.html", page("/linked.html", words="deep"))
    for twin in (1, 2):
        site.write(f"/twin{twin}.html", page("/", words="twins"))
    plain = ("next", "frame", "area", "elsewhere/page", "refreshed", "café")
    for name in (*plain, "tür", "started", "orphan", "there", "private/secret"):
        site.write(f"/{name}.html", page(words=name))
    site.write("/other/", page("/never.html", words="another site"))
    for name in CHECKED - {"/gone.png"}:
        site.write(name, name)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("site") / "nginx", *LOCATIONS) as found:
        write(found)
        yield found


@pytest.fixture(scope="module")
def ended(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Ended:
    ronda = Forked(tmp_path_factory.mktemp("ronda"))
    return crawl(ronda, site.url(), "--name-server", "127.0.0.1:1", "--retries", "0")


def broken(ended: Ended, site: Site, path: str) -> list[tuple[str, int, str, str]]:
    """Where a broken link stands: page, line, text and tag."""
    result = ended.results[site.url(path)]
    assert result["verdict"] == "broken"
    start = site.url("")
    return [
        (p["document"].removeprefix(start), p["line"], p["text"], p["tag"])
        for p in result["found_in"]
    ]


def test_every_page_is_found_and_asked_once(site: Site, ended: Ended) -> None:
    asked = [a for a in site.asked() if a.address != AWAY]
    reads = {a.target for a in asked if a.method == "GET"}
    assert reads - {"/there.html", "/gone.png"} == READ | {"/robots.txt"}
    assert {a.target for a in asked if a.method == "HEAD"} == CHECKED
    assert paths(ended, site.url("")) == READ | CHECKED | {"/private/secret.html"}
    often = {key: n for key, n in site.times().items() if n > 1}
    # Two links lead to the first, by redirects; the last is of two hosts.
    twice = ("/moved", "/there.html", "/robots.txt")
    assert often == {("GET", target): 2 for target in twice}
    assert ended.code == 1
    assert ended.summary["left"] == 0
    assert ended.summary["interrupted"] == ""


def test_a_broken_link_tells_its_pages_lines_words_and_elements(
    site: Site, ended: Ended
) -> None:
    assert sorted(broken(ended, site, "/nope.html")) == [
        ("/", 10, "No such page", "a"),
        ("/linked.html", 5, "to /nope.html", "a"),
        ("/more.css", 2, "", "css"),
    ]
    assert broken(ended, site, "/gone.png") == [("/", 14, "Gone", "img")]


def test_a_page_that_leads_out_of_scope_is_not_followed(
    site: Site, ended: Ended
) -> None:
    away = [(a.host, a.target) for a in site.asked() if a.address == AWAY]

    assert away == [(AWAY, "/robots.txt"), (AWAY, "/other/")]
    assert ended.results[site.url("/away")]["reason"] == "redirected"
    assert not [url for url in ended.results if "never" in url]


def test_redirects_are_told_hop_by_hop(site: Site, ended: Ended) -> None:
    result = ended.results[site.url("/twice")]

    assert result["reason"] == "moved_permanently"
    hops = [(hop["status"], hop["to"]) for hop in result["hops"]]
    assert hops == [(302, site.url("/moved")), (301, site.url("/there.html"))]


def test_robots_txt_is_obeyed_and_told(site: Site, ended: Ended) -> None:
    result = ended.results[site.url("/private/secret.html")]

    assert (result["verdict"], result["reason"]) == ("blocked", "robots_disallow")
    assert ended.results[site.url("/wall.html")]["verdict"] == "blocked"


def test_depth_is_the_number_of_links_from_the_first_page(
    site: Site, ended: Ended
) -> None:
    depth = {path: ended.results[site.url(path)]["depth"] for path in READ}

    assert depth["/"] == 0
    assert {depth[p] for p in ("/linked.html", "/style.css", "/nope.html")} == {1}
    assert {depth[p] for p in ("/deep.html", "/more.css", "/refreshed.html")} == {2}


def test_the_site_as_a_whole_is_told(site: Site, ended: Ended) -> None:
    whole = ended.summary["site"]

    assert whole["orphans"] == [site.url("/orphan.html")]
    [twins] = whole["duplicates"]
    assert sorted(twins) == [site.url("/twin1.html"), site.url("/twin2.html")]
    seconds = [slow["seconds"] for slow in whole["slowest"]]
    assert len(seconds) == 10
    assert seconds == sorted(seconds, reverse=True)
    known = {*ended.results, site.url("/there.html")}
    assert {slow["url"] for slow in whole["slowest"]} <= known
    # Of those that can name others the pages, and each once whatever leads to it.
    others = {p for p in READ if p.endswith((".css", ".webmanifest", ".xml"))}
    others |= {"/nope.html", "/wall.html", "/away", "/twice"}
    assert whole["pages"] == len(READ - others)
    assert whole["bytes"] >= sum(
        (site.root / path[1:]).stat().st_size for path in ("/style.css", "/deep.html")
    )


def test_an_anchor_that_is_not_there_is_told_when_asked_for(
    site: Site, ronda: Command
) -> None:
    options = ("--fragments", "--exclude", "mailto:*", "--no-sitemaps")
    ended = crawl(ronda, site.url(), *options)

    bad = {u: r["reason"] for u, r in ended.results.items() if "#" in u}
    reasons = {
        site.url("/#part"): "fragment_missing",
        site.url("/linked.html#part"): "fragment_missing",
    }
    assert bad == reasons


def test_the_text_report_tells_broken_links_from_both_sides(
    site: Site, ronda: Command
) -> None:
    options = ("--exclude", "mailto:*", "--no-colour")
    ended = ronda("crawl", site.url(), *options)
    first, _, second = ended.out.partition("Where broken links stand\n")

    by_page = dict(_blocks(first))
    assert any("/nope.html" in line for line in by_page[site.url("/")])
    assert any("/gone.png" in line for line in by_page[site.url("/")])
    assert any("/nope.html" in line for line in by_page[site.url("/linked.html")])
    [head, *where] = second.partition("\n\n")[0].splitlines()
    assert site.url("/nope.html") in head
    assert "on 3 pages" in head
    assert [line.split()[-1] for line in where] == [
        site.url(path) for path in ("/", "/linked.html", "/more.css")
    ]
    for title in ("Redirect chains", "Orphans", "Pages with the same content"):
        assert f"\n{title}" in second
    assert ended.err == ""


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    for block in text.strip().split("\n\n"):
        name, *lines = block.splitlines()
        yield name, lines
