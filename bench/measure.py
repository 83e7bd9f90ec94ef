"""Runs a command and says what it cost: wall time, CPU time, memory."""

import os
import statistics
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

# As a user's: what a workplace sets for Python (no byte code kept, say) is left out.
ENV = {key: value for key, value in os.environ.items() if key[:6] != "PYTHON"}
SAMPLE = 0.25  # seconds between two looks at the memory, which slow the watched down


class Cost(Struct, frozen=True):
    """What one run, or the median of several, took."""

    urls_a_second: float
    cpu_ms_a_url: float
    peak_mb: float


def run(command: Sequence[str], urls: int) -> Cost:
    """One run; CPU and memory are those of the command and all its children."""
    start = time.monotonic()
    with Path(os.devnull).open("w") as nowhere:
        process = subprocess.Popen(command, stdout=nowhere, stderr=nowhere, env=ENV)
    watch = Watch(process.pid)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    watch.end()
    if process.returncode != 0:
        raise SystemExit(f"bench: {command[0]} ended with {process.returncode}")
    cpu = used.ru_utime + used.ru_stime
    peak = max(watch.peak, used.ru_maxrss * 1024)
    return Cost(urls / seconds, cpu / urls * 1000, peak / 1e6)


def median(costs: Sequence[Cost]) -> Cost:
    """The middle of several runs, figure by figure."""
    fields = Cost.__struct_fields__
    return Cost(*(statistics.median(getattr(c, f) for c in costs) for f in fields))


class Watch:
    """The memory of a tree of processes, shared pages counted once."""

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop looking."""
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(SAMPLE):
            total = sum(_pss(pid) for pid in _tree(self._pid))
            self.peak = max(self.peak, total)


def _tree(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        try:
            text = Path(f"/proc/{one}/task/{one}/children").read_text()
        except OSError:
            continue
        found += [int(child) for child in text.split()]
    return found


def _pss(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(x.split()[1]) * 1024 for x in lines if x[:4] == "Pss:"), 0)
