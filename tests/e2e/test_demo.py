"""`ronda demo`: every verdict there is, without any network."""

import json

from e2e.command import Command
from ronda.model import State


def test_it_shows_every_verdict_but_our_own_faults_and_ends_well(
    ronda: Command,
) -> None:
    ended = ronda("demo", "--output", "results.json")
    results = json.loads((ronda.folder / "results.json").read_text())["results"]

    assert ended.code == 0, ended.err
    assert {result["verdict"] for result in results} == set(State) - {State.UNKNOWN}
    assert "17 broken links on 4 pages." in ended.out


def test_two_runs_find_the_same(ronda: Command) -> None:
    reasons = []
    for name in ("one.json", "two.json"):
        ronda("demo", "--output", name)
        results = json.loads((ronda.folder / name).read_text())["results"]
        reasons.append(sorted(result["reason"] for result in results))

    assert reasons[0] == reasons[1]
