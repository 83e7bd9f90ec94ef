"""The settings of a daemon: read at its start, and again whenever it is told to."""

import re
from pathlib import Path
from typing import Any

from ronda.config import FILE_NAME, Settings, load
from ronda.errors import SettingsError

_ROW = re.compile(r"\[\d+\]$")  # of a row: rounds[2]


class Reading:
    """Reads the settings, as often as it is called."""

    def __init__(self, path: Path | None, options: dict[str, dict[str, Any]]) -> None:
        """Read nothing yet.

        Args:
            path: the file; None looks for ronda.toml in the working directory.
            options: what was given on the command line: section → key → value.
        """
        self._path = path
        self._options = options

    def __call__(self) -> Settings:
        """The settings as they are now.

        Raises:
            SettingsError: one line that names the file or option, the key, what is
                wrong. A file that was there once must stay there.
        """
        from ronda.app.watching import require  # noqa: PLC0415  # slow, for --help

        path = self._path
        if path is None and Path(FILE_NAME).is_file():
            path = Path(FILE_NAME)
        try:
            settings = load(path, self._options)
            require(settings)
        except SettingsError as error:
            raise SettingsError(self._named(str(error))) from None
        self._path = path
        return settings

    def _named(self, words: str) -> str:
        """What is wrong, with where the key stands that it begins with."""
        key = words.partition(":")[0]
        table, _, name = key.partition(".")
        table = _ROW.sub("", table)
        if table not in Settings.__struct_fields__:
            return words  # it names a file or an option
        if name in self._options.get(table, {}):
            return f"--{name.replace('_', '-')}{words.removeprefix(key)}"
        return f"{self._path or FILE_NAME}: {words}"
