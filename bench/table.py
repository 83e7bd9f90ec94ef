"""Programs side by side: each run in turn, several times; medians, ratios and bars.

The programs take turns, so that a disturbance of the machine hits them alike. What is
compared is the median of each figure over all runs of a program; read the ratios, since
the figures themselves are those of one machine.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from bench.measure import Cost, median, run
from bench.nginx import Asked


class Bar(Struct, frozen=True):
    """What the design asks of a program: against a rival, and of its memory."""

    program: str
    rival: str = ""
    speed: float = 0.0  # times the rival's URLs a second, at least
    cpu: float = 0.0  # times the rival's CPU a URL, at most
    peak_mb: float = 0.0  # at most

    def judged(self, costs: dict[str, Cost]) -> list[str]:
        """A line for each figure that is asked for: the bar, and what was reached."""
        own, lines = costs[self.program], []
        if self.rival:
            speed, cpu = ratios(own, costs[self.rival])
            limit = f">= {self.speed:g}x the speed of {self.rival}"
            lines.append((limit, f"{speed:.2f}x", speed >= self.speed))
            limit = f"<= {self.cpu:.3g}x the CPU of {self.rival}"
            lines.append((limit, f"{cpu:.3f}x", cpu <= self.cpu))
        if self.peak_mb:
            good = own.peak_mb <= self.peak_mb
            lines.append((f"<= {self.peak_mb:g} MB", f"{own.peak_mb:.0f} MB", good))
        return [
            f"{self.program} {limit}: {reached}{'' if good else ', MISSED'}"
            for limit, reached, good in lines
        ]


class Contest(Struct, frozen=True):
    """The programs that do the same work, and what is asked of ours."""

    title: str
    commands: dict[str, list[str]]
    urls: int
    rivals: tuple[str, ...] = ("lychee",)
    bars: tuple[Bar, ...] = ()


def ratios(own: Cost, rival: Cost) -> tuple[float, float]:
    """How many times the speed and the CPU of a rival."""
    return (
        own.urls_a_second / rival.urls_a_second,
        own.cpu_ms_a_url / rival.cpu_ms_a_url,
    )


def compare(
    contest: Contest, runs: int, asked: Callable[[], Asked] | None = None
) -> dict[str, Any]:
    """Run it and print it; `asked` tells what the server saw of the run just made."""
    costs: dict[str, list[Cost]] = {name: [] for name in contest.commands}
    seen: dict[str, Asked] = {}
    for _ in range(runs):
        for name, command in contest.commands.items():
            costs[name].append(run(command, contest.urls))
            if asked:
                seen[name] = asked()
    medians = {name: median(found) for name, found in costs.items()}
    bars = [line for bar in contest.bars for line in bar.judged(medians)]
    _print(contest, medians, seen, bars)
    found = {"median": medians, "runs": costs}
    found |= {"asked": seen} if seen else {}
    found |= {"bars": bars} if bars else {}
    return dict(msgspec.to_builtins(found))


def _print(
    contest: Contest, costs: dict[str, Cost], seen: dict[str, Asked], bars: list[str]
) -> None:
    against = "".join(f"{f'against {rival}':26}" for rival in contest.rivals)
    print(f"\n{contest.title}\n{'':20}{'URL/s':>9}{'CPU ms':>9}{'MB':>7}   {against}")
    for name, cost in costs.items():
        line = f"{name:20}{cost.urls_a_second:9,.0f}{cost.cpu_ms_a_url:9.4f}"
        line += f"{cost.peak_mb:7.0f}   "
        for rival in contest.rivals:
            speed, cpu = ratios(cost, costs[rival])
            line += f"{f'{speed:.2f}x URL/s, {cpu:.3f}x CPU':26}"
        print(line.rstrip())
    for name, one in seen.items():
        print(
            f"{name} asked {one.requests:,} times, "
            f"missed {one.missed:,} URLs, asked for {one.strange:,} others"
        )
    for line in bars:
        print(line)
