"""The commands that are compared: the same work, the same number at once, no delay."""

import sys
from pathlib import Path

BIN = Path(sys.executable).parent
AT_ONCE = "200"
CRAWLERS = "100"  # at once, of a crawl
SPIDER = Path(__file__).parent / "spider.py"


def lychee(urls: Path, method: str) -> list[str]:
    """The fastest link checker: Rust, one thread a core."""
    return [*_lychee(method, AT_ONCE), str(urls)]


def lychee_pages(urls: Path, method: str) -> list[str]:
    """The same, told to read every page of a list and check the links on it."""
    return [*_lychee(method, CRAWLERS), "--files-from", str(urls)]


def _lychee(method: str, at_once: str) -> list[str]:
    return [
        str(BIN / "lychee"),
        "--quiet",
        "--no-progress",
        "--insecure",
        "--method",
        method.lower(),
        "--max-concurrency",
        at_once,
        "--host-concurrency",
        at_once,
        "--host-request-interval",
        "0s",
    ]


def linkchecker(url: str, folder: Path) -> list[str]:
    """The oldest crawling link checker, in Python; its rate cap lifted."""
    # Besides the header of the server, which lifts the cap of 10 a second and host.
    config = folder / "linkcheckerrc"
    config.write_text("[checking]\nmaxrequestspersecond=1000000\n")
    options = ["--config", str(config), "--threads", CRAWLERS, "--recursion-level=-1"]
    options += ["--no-robots", "--no-status", "--no-warnings", "--output=none"]
    return [str(BIN / "linkchecker"), *options, url]


def scrapy(url: str) -> list[str]:
    """The best-known crawling framework, in Python, with a spider of a few lines."""
    return [str(BIN / "scrapy"), "runspider", str(SPIDER), "-a", f"url={url}"]


def crawl(url: str, processes: int, method: str = "auto") -> list[str]:
    """Ourselves; without robots.txt, for which the others do not ask either."""
    options = ["--scope=host", "--no-robots", "--no-progress", "--quiet"]
    options += ["--method", method, "--concurrency", CRAWLERS, "--per-host", CRAWLERS]
    return [str(BIN / "ronda"), "crawl", *options, f"--processes={processes}", url]


def ronda(urls: Path, method: str, processes: int) -> list[str]:
    """Ourselves; without robots.txt, for which lychee does not ask either."""
    return [
        str(BIN / "ronda"),
        "check",
        "--no-progress",
        "--no-robots",
        "--insecure",
        "--method",
        method,
        "--concurrency",
        AT_ONCE,
        "--per-host",
        AT_ONCE,
        "--processes",
        str(processes),
        str(urls),
    ]
