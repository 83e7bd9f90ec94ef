"""The frontier alone: a million URLs over a hundred thousand hosts."""

import gc
import json
import time
from pathlib import Path

from ronda import config
from ronda.frontier import Frontier, Limits
from ronda.model import Target

URLS = 1_000_000
HOSTS = 100_000


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def target(number: int) -> Target:
    host = f"host{number % HOSTS}.example"
    return Target(f"http://{host}/path/{number}.html", host)


def main() -> None:
    """Prints put+take+done a second, and bytes a queued URL, its text included."""
    limits = Limits(interval=1.0, per_host=1, server_interval=0.0, per_server=10)
    settings = config.Frontier(queue_count=HOSTS)
    frontier = Frontier(lambda _host, _address: limits, settings)
    gc.collect()
    empty, making, putting = resident(), 0.0, 0.0
    for number in range(URLS):
        start = time.process_time()
        item = target(number)
        made = time.process_time()
        frontier.put(item, 0.0)
        putting += time.process_time() - made
        making += made - start
    bytes_a_url = (resident() - empty) / URLS
    start = time.process_time()
    for number, host in enumerate(list(frontier.unresolved())):
        address = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
        frontier.resolved(host, address, 0.0)
    now = 0.0
    while not frontier.idle:
        taken = frontier.take(now)
        if taken is None:
            now = frontier.next_at() or now
            continue
        frontier.done(taken[0], now)
    seconds = putting + time.process_time() - start
    print(json.dumps({"a_second": URLS / seconds, "bytes_a_url": bytes_a_url}))


if __name__ == "__main__":
    main()
