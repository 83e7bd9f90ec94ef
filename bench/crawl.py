"""Crawls from the front page, against those who crawl and the fastest who cannot.

LinkChecker and Scrapy crawl the same site, with 100 requests at once and no delay.
lychee does not crawl: it is given the list of all pages, and reads the links on each.
The server's log shows for every run that no page was missed.

A URL is counted once: a page, or a link to another site. lychee asks for pages twice
(once to read them, once as links), which is its own affair.
"""

from typing import Any

import msgspec

from bench import rivals
from bench.measure import run
from bench.nginx import Nginx
from bench.site import LARGE, MIXED, PAGES
from bench.table import Bar, Contest, compare

BOTH = "ronda, 2 processes"


def pages(nginx: Nginx, runs: int) -> dict[str, Any]:
    """5,001 pages of one host, 20 links each."""
    front = nginx.site(PAGES)
    contest = Contest(
        "crawl 5,001 pages × 20 links of one host, 100 at once",
        {
            "LinkChecker": rivals.linkchecker(front, nginx.folder),
            "Scrapy": rivals.scrapy(front),
            "ronda": rivals.crawl(front, 1),
            BOTH: rivals.crawl(front, 2),
        },
        PAGES.pages,
        rivals=("LinkChecker", "Scrapy"),
        bars=(
            Bar("ronda", "LinkChecker", speed=15, cpu=1 / 15),
            Bar("ronda", "Scrapy", speed=15, cpu=1 / 15),
            Bar("ronda", peak_mb=100),
        ),
    )
    return {"crawl": compare(contest, runs, lambda: nginx.asked(PAGES))}


def mixed(nginx: Nginx, runs: int) -> dict[str, Any]:
    """2,000 pages of one host, and 10,000 links to 100 others."""
    front, listed = nginx.site(MIXED), nginx.page_list(MIXED)
    found = {}
    for method in ("GET", "HEAD"):
        contest = Contest(
            f"crawl 2,000 pages and check 10,000 links to other hosts, {method}",
            {
                "lychee": rivals.lychee_pages(listed, method),
                "ronda": rivals.crawl(front, 1, method),
                BOTH: rivals.crawl(front, 2, method),
            },
            MIXED.pages * (1 + MIXED.away),
            bars=(Bar("ronda", "lychee", speed=1.2, cpu=0.7),),
        )
        found[f"mixed_{method}"] = compare(contest, runs, lambda: nginx.asked(MIXED))
    return found


def large(nginx: Nginx, _runs: int) -> dict[str, Any]:
    """100,000 pages, 50 links each; once, since medians say no more of memory.

    What a further URL costs is the difference to a crawl of 5,001 pages.
    """
    small = run(rivals.crawl(nginx.site(PAGES), 1), PAGES.pages)
    nginx.asked(PAGES)
    cost = run(rivals.crawl(nginx.site(LARGE), 1), LARGE.pages)
    asked = nginx.asked(LARGE)
    grown = (cost.peak_mb - small.peak_mb) * 1e6 / (LARGE.pages - PAGES.pages)
    bars = Bar("ronda", peak_mb=300).judged({"ronda": cost})
    print(
        f"\ncrawl 100,000 pages × 50 links: {cost.urls_a_second:,.0f} pages/s, "
        f"{cost.cpu_ms_a_url:.3f} ms CPU a page, {grown:.0f} bytes a further URL\n"
        f"ronda asked {asked.requests:,} times, missed {asked.missed:,} URLs"
    )
    print("\n".join(bars))
    found = {"cost": cost, "bytes_a_url": grown, "asked": asked, "bars": bars}
    return {"large": msgspec.to_builtins(found)}
