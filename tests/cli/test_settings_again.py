"""The settings of a daemon, read at its start and at every SIGHUP."""

import re
from pathlib import Path

import pytest

from ronda.cli.reading import Reading
from ronda.config import Settings
from ronda.errors import SettingsError

GOOD = "[fetch]\ntimeout = 7.0\n"
ROUND = '[[rounds]]\nname = "night"\ncron = "{}"\ntimezone = "{}"\n'


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where settings are looked for."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "ronda.toml"


def test_a_file_that_was_found_must_not_go(file: Path) -> None:
    file.write_text(GOOD)
    reading = Reading(None, {})
    assert reading().fetch.timeout == 7.0

    file.unlink()
    with pytest.raises(SettingsError, match=r"^ronda\.toml: No such file"):
        reading()
    file.write_text(GOOD.replace("7", "8"))
    assert reading().fetch.timeout == 8.0


def test_a_file_may_come_later(file: Path) -> None:
    reading = Reading(None, {"fetch": {"retries": 4}})
    assert reading().fetch.timeout == Settings().fetch.timeout

    file.write_text(GOOD)
    found = reading()
    assert (found.fetch.timeout, found.fetch.retries) == (7.0, 4)
    file.unlink()
    with pytest.raises(SettingsError, match="No such file"):
        reading()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ROUND.format("61 * * * *", "UTC"), "rounds[0].cron: "),
        (ROUND.format("1 * * * *", "Mars/Base"), "rounds[0].timezone: "),
        ('[check]\naccept = ["500-200"]\n', "check.accept: "),
        ('[fetch]\nca_file = "no.pem"\n', "fetch.ca_file: "),
        ("[fetch]\ntimeout = 'soon'\n", "fetch.timeout: "),
        ("[[[", "not valid TOML: "),
    ],
)
def test_what_is_wrong_is_told_with_the_file(file: Path, text: str, words: str) -> None:
    file.write_text(text)

    with pytest.raises(SettingsError, match=f"^ronda.toml: {re.escape(words)}"):
        Reading(None, {})()


def test_what_is_wrong_with_an_option_is_told_with_the_option(file: Path) -> None:
    file.write_text(GOOD)

    with pytest.raises(SettingsError, match=r"^--accept: '500-200' ends before"):
        Reading(None, {"check": {"accept": ["500-200"]}})()


def test_a_file_beside_it_keeps_its_own_name(file: Path) -> None:
    (file.parent / ".rondaignore").mkdir()

    with pytest.raises(SettingsError, match=r"^\.rondaignore: Is a directory$"):
        Reading(None, {})()
