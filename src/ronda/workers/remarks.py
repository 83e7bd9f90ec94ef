"""What went wrong with ourselves and was mended, in words for people."""

import traceback
from collections.abc import Iterator

from ronda.workers.crew import Crew
from ronda.workers.hangs import Hangs
from ronda.workers.parts import Parts


def remarks(crew: Crew, hangs: Hangs, parts: Parts) -> Iterator[str]:
    """One line for each kind of trouble."""
    if crew.deaths:
        yield f"{_count(crew.deaths, 'worker')} died and had to be replaced"
    if crew.illegal:
        yield f"{_count(crew.illegal, 'illegal change')} of a worker's state"
    if hangs.count:
        yield f"{_count(hangs.count, 'request')} hung, and had to be given up"
    if parts.fetch.deaths:
        asked = _count(parts.fetch.deaths, "process")
        yield f"{asked} that asked died and had to be replaced"
    if parts.watchdog is not None and parts.watchdog.words:
        yield parts.watchdog.words
    for name, words in parts.events.failures.items():
        yield f"the plug-in {name} failed, and was not called again: {words}"


def last_line(error: BaseException) -> str:
    """An error in one line: what, and where."""
    found = traceback.extract_tb(error.__traceback__)
    where = f" ({found[-1].name}, line {found[-1].lineno})" if found else ""
    return f"{type(error).__name__}: {error}{where}"


def _count(number: int, word: str) -> str:
    ending = "es" if word.endswith("s") else "s"
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}{ending}"
