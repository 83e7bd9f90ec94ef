"""Which URLs are ours to ask: include and exclude patterns, and the ignore file.

A pattern is one of:

- `re:TEXT`: a regular expression, searched for in the URL;
- a text with `*`: matches the whole URL, `*` standing for anything;
- any other text: a host name, or the beginning of a URL.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from ronda import urls
from ronda.errors import SettingsError

Matcher = Callable[[str], object]


class Scope:
    """Decides whether a normalised URL is checked or left out."""

    def __init__(self, include: Iterable[str], exclude: Iterable[str]) -> None:
        self._include = [matcher(text, "check.include") for text in include]
        self._exclude = [matcher(text, "check.exclude") for text in exclude]

    def __bool__(self) -> bool:
        """Whether it leaves out anything at all."""
        return bool(self._include or self._exclude)

    def __contains__(self, url: str) -> bool:
        if self._include and not any(match(url) for match in self._include):
            return False
        return not any(match(url) for match in self._exclude)


def matcher(text: str, key: str) -> Matcher:
    """What tells whether a normalised URL matches a pattern, which stands at a key."""
    if text.startswith("re:"):
        try:
            return re.compile(text[3:]).search
        except re.error as error:
            words = f"'{urls.shown(text)}' is not a regular expression: {error}"
            raise SettingsError(f"{key}: {words}") from None
    if "*" in text:
        return re.compile(
            ".*".join(map(re.escape, text.split("*"))), re.DOTALL
        ).fullmatch
    return lambda url: url.startswith(text) or urls.host(url) == text


def read_ignore(path: Path) -> list[str]:
    """The patterns of an ignore file: one a line, `#` begins a comment line."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None
    stripped = (line.strip() for line in lines)
    return [line for line in stripped if line and not line.startswith("#")]
