"""`make bench`: every bar of the design that has a rival or a limit, in one run."""

import argparse
import json
import platform
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import catalogue, crawl, polite, rivals, rounds, store
from bench.measure import run
from bench.nginx import Nginx
from bench.table import Contest, compare

RESULTS = Path(__file__).parent / "results.json"
# Scenarios that need none of the shared server.
ALONE = ["frontier", "polite", "store", "catalogue", "rounds"]


def main() -> None:
    """Measure, print the tables, and keep the figures."""
    options = argparse.ArgumentParser(prog="make bench")
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--only", choices=[*SCENARIOS, *ALONE])
    given = options.parse_args()
    found: dict[str, Any] = {"machine": platform.processor() or platform.machine()}
    if given.only and RESULTS.exists():
        found = json.loads(RESULTS.read_text())
    with TemporaryDirectory(prefix="ronda-bench-") as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        with Nginx(folder) as nginx:
            for name, scenario in SCENARIOS.items():
                if given.only in (None, name):
                    found |= scenario(nginx, given.runs)
    if given.only in (None, "frontier"):
        found |= frontier()
    if given.only in (None, "polite"):
        found |= {"polite": polite.run()}
    if given.only in (None, "store"):
        found |= {"store": store.run()}
    if given.only in (None, "catalogue"):
        found |= {"catalogue": catalogue.run()}
    if given.only in (None, "rounds"):
        found |= {"rounds": rounds.run()}
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")


def lists(nginx: Nginx, runs: int) -> dict[str, Any]:
    """20,000 URLs over 100 addresses, connections kept."""
    urls = nginx.plain_list(20_000)
    found = {}
    for method in ("GET", "HEAD"):
        commands = {
            "lychee": rivals.lychee(urls, method),
            "ronda": rivals.ronda(urls, method, 1),
            "ronda, 2 processes": rivals.ronda(urls, method, 2),
        }
        contest = Contest(f"20,000 URLs, {method}, 200 at once", commands, 20_000)
        found[f"list_{method}"] = compare(contest, runs)
    return found


def tls(nginx: Nginx, runs: int) -> dict[str, Any]:
    """2,000 https URLs on 2,000 addresses, a fresh connection each."""
    urls = nginx.tls_list()
    commands = {
        "lychee": rivals.lychee(urls, "HEAD"),
        "ronda": rivals.ronda(urls, "HEAD", 1),
        "ronda, 2 processes": rivals.ronda(urls, "HEAD", 2),
    }
    return {"tls": compare(Contest("2,000 https URLs, HEAD", commands, 2000), runs)}


def memory(nginx: Nginx, runs: int) -> dict[str, Any]:
    """What 180,000 further URLs cost in memory."""
    costs = {
        count: run(rivals.ronda(nginx.plain_list(count), "HEAD", 1), count)
        for count in (20_000, 200_000)
    }
    grown = (costs[200_000].peak_mb - costs[20_000].peak_mb) * 1e6 / 180_000
    print(f"\n200,000 URLs: {costs[200_000].peak_mb:.0f} MB, {grown:.0f} bytes a URL")
    return {"memory": {"bytes_a_url": grown, "peak_mb": costs[200_000].peak_mb}}


def frontier() -> dict[str, Any]:
    """The frontier alone, in a process of its own."""
    command = [sys.executable, "-m", "bench.frontier"]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    found = json.loads(printed)
    print(
        f"\nfrontier, 1,000,000 URLs over 100,000 hosts: {found['a_second']:,.0f} "
        f"put+take+done a second, {found['bytes_a_url']:.0f} bytes a queued URL"
    )
    return {"frontier": found}


SCENARIOS = {
    "list": lists,
    "tls": tls,
    "memory": memory,
    "crawl": crawl.pages,
    "mixed": crawl.mixed,
    "large": crawl.large,
}


if __name__ == "__main__":
    main()
