"""The real command line in a process of its own, and what came of it."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 120.0  # guards against hanging; nothing takes as long
RONDA = (sys.executable, "-m", "ronda")
_LEFT_OUT = (
    *("proxy", "color", "colour", "ssl_cert", "pythonwarnings"),
    *("xdg_cache", "xdg_state"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """The whole JSON report."""
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def summary(self) -> dict[str, Any]:
        summary: dict[str, Any] = self.report["summary"]
        return summary

    @property
    def results(self) -> dict[str, dict[str, Any]]:
        """The results by URL, each of which must stand there once."""
        results = self.report["results"]
        by_url = {result["url"]: result for result in results}
        assert len(by_url) == len(results), "a URL has two results"
        return by_url

    @property
    def problems(self) -> list[tuple[str, int, str]]:
        """Document, line and words of what could not be used."""
        return [
            (p["place"]["document"], p["place"]["line"], p["message"])
            for p in self.summary["problems"]
        ]


def environment(home: Path, **more: str) -> dict[str, str]:
    """Ours, without what would change a run: proxies, colours, keys."""
    ours = {
        key: value
        for key, value in os.environ.items()
        if not any(part in key.lower() for part in _LEFT_OUT)
    }
    return {**ours, "HOME": str(home), "RONDA_STRICT": "1", **more}


class Command:
    """`ronda` in a folder, which is its HOME too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(
        self,
        *arguments: str,
        stdin: bytes = b"",
        env: dict[str, str] | None = None,
        prefix: tuple[str, ...] = (),
    ) -> Ended:
        """Run it to its end."""
        done = subprocess.run(
            [*prefix, *RONDA, *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            cwd=self.folder,
            env=environment(self.folder, **(env or {})),
            timeout=SECONDS,
        )
        return Ended(
            code=done.returncode,
            out=done.stdout.decode(),
            err=done.stderr.decode(errors="replace"),
        )

    def json(self, *arguments: str, urls: list[str] | None = None, **how: Any) -> Ended:
        """Check inputs, or URLs as a list, with the report as JSON."""
        listed = [self.listed(urls)] if urls is not None else []
        return self("check", "--format", "json", *listed, *arguments, **how)

    def listed(self, urls: list[str], name: str = "urls.txt") -> str:
        """The name of a text list that holds these URLs."""
        (self.folder / name).write_text("".join(f"{url}\n" for url in urls))
        return name

    def start(
        self, *arguments: str, env: dict[str, str] | None = None, **how: Any
    ) -> subprocess.Popen[bytes]:
        """Run it, and go on."""
        return subprocess.Popen(
            [*RONDA, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=how.pop("stdout", subprocess.PIPE),
            stderr=how.pop("stderr", subprocess.PIPE),
            cwd=self.folder,
            env=environment(self.folder, **(env or {})),
            **how,
        )
