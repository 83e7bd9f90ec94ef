"""`ronda serve` in a process of its own: started, spoken to by signals, ended."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, Queue
from typing import Self

from e2e.command import RONDA, environment

SECONDS = 120.0  # guards against hanging; nothing takes as long


class Daemon:
    """A daemon whose lines can be waited for."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        prefix: Sequence[str] = (),
        env: dict[str, str] | None = None,
    ) -> None:
        self._lines: Queue[str] = Queue()
        self.told: list[str] = []
        # Sockets of its own: commands of the test wake this one, and no other.
        runtime = {"XDG_RUNTIME_DIR": str(folder)}
        self.process = subprocess.Popen(
            [*prefix, *RONDA, "serve", *arguments],
            cwd=folder,
            env=environment(folder, **runtime, **(env or {})),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def line(self, text: str, seconds: float = SECONDS) -> str:
        """Wait for a line that has a text in it."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                found = self._lines.get(timeout=0.05)
            except Empty:
                if self.process.poll() is not None and self._lines.empty():
                    break
                continue
            self.told.append(found)
            if text in found:
                return found
        raise AssertionError(f"no line with {text!r} in {self.told[-20:]}")

    @property
    def is_ready(self) -> bool:
        """Whether it has said that it serves: only then does it hear signals."""
        while not self._lines.empty():
            self.told.append(self._lines.get())
        return any("serving" in line or "watching" in line for line in self.told)

    def send(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.kill()
        self.process.wait(SECONDS)

    def stop(self) -> int:
        """End it in order; its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            code = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self._drain()
        return code

    def _drain(self) -> None:
        """Hear its last words."""
        self._reader.join(SECONDS)
        while not self._lines.empty():
            self.told.append(self._lines.get())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()
        self._drain()
        assert self.process.stdout is not None
        self.process.stdout.close()
        assert not any("Traceback" in line for line in self.told), self.told
