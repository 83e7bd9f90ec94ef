"""The commands that are compared: the same list, the same number at once, no delay."""

import sys
from pathlib import Path

BIN = Path(sys.executable).parent
AT_ONCE = "200"


def lychee(urls: Path, method: str) -> list[str]:
    """The fastest link checker: Rust, one thread a core."""
    return [
        str(BIN / "lychee"),
        "--quiet",
        "--no-progress",
        "--insecure",
        "--method",
        method.lower(),
        "--max-concurrency",
        AT_ONCE,
        "--host-concurrency",
        AT_ONCE,
        "--host-request-interval",
        "0s",
        str(urls),
    ]


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
        "--processes",
        str(processes),
        str(urls),
    ]
