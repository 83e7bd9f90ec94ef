"""`ronda simulate` as people call it."""

import json

import pytest
from click import ClickException
from click.testing import CliRunner, Result

from ronda.cli.simulate import simulate
from ronda.errors import RondaError


def called(*words: str) -> Result:
    return CliRunner().invoke(simulate, words, standalone_mode=False)


SMALL = ("--hosts", "20", "--urls", "200", "--interval", "1")


def test_it_tells_when_a_round_would_end_and_who_holds_it_up() -> None:
    ended = called(*SMALL)

    assert ended.return_value == 0
    assert ended.stdout.startswith("Seed 0: 200 URLs of 20 hosts on 10 addresses.\n")
    assert "The round would end after" in ended.stdout
    assert "Hosts that hold it up:" in ended.stdout
    assert ".example" in ended.stdout


def test_json_is_for_programs() -> None:
    ended = called(*SMALL, "--format", "json", "--seed", "5")

    found = json.loads(ended.stdout)
    assert found["traits"]["seed"] == 5
    assert found["urls"] == 200
    assert found["seconds"] > 0
    assert found["broken"] == []
    assert len(found["holders"]) == 10


def test_random_webs_can_be_looked_through() -> None:
    ended = called("--check", "4", "--seed", "10")

    assert ended.return_value == 0
    assert ended.stdout == "4 webs, 0 of them with broken rules\n"
    assert json.loads(called("--check", "1", "--format", "json").stdout) == []


@pytest.mark.parametrize(
    "words", [("--latency", "nan"), ("--interval", "-1"), ("--concurrency", "0")]
)
def test_a_wrong_value_is_one_clear_line(words: tuple[str, str]) -> None:
    ended = called(*words)

    assert isinstance(ended.exception, RondaError)
    assert "\n" not in str(ended.exception)
    assert words[0] in str(ended.exception)


@pytest.mark.parametrize(
    "words", [("--hosts", "0"), ("--urls", "x"), ("--errors", "2"), ("--check", "0")]
)
def test_a_value_out_of_range_is_refused(words: tuple[str, str]) -> None:
    ended = called(*words)

    assert isinstance(ended.exception, ClickException)
    assert words[0] in ended.exception.format_message()
