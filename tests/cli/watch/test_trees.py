import json

from msgspec import UNSET, Struct, UnsetType

from ronda.cli.watch.trees import tree
from ronda.model import Result, State
from ronda.store.sql.values import Known, Owner

NOW = 1_700_000_000.0


def test_moments_are_iso_and_never_is_null() -> None:
    found = tree(Known(7, "https://a.example/", State.OK, last_check_at=NOW))

    assert found["last_check_at"] == "2023-11-14T22:13:20Z"
    assert found["last_change_at"] is None
    assert found["next_due"] is None
    assert found["state"] == "ok"
    assert found["id"] == 7


def test_passwords_are_left_out_wherever_they_stand() -> None:
    url = "https://me:secret@a.example/"
    found = tree(
        {
            "target": Known(1, url, State.OK, message=f"moved to {url}", spelling=url),
            "owner": Owner(1, "me", callback=url),
            "result": Result(url=url, verdict=State.OK, reason="", message=url),
            "list": [url],
        }
    )

    assert "secret" not in json.dumps(found)


def test_what_is_not_set_is_left_out() -> None:
    class Part(Struct):
        name: str
        last: bool | UnsetType = UNSET

    assert tree([Part("a"), Part("b", last=True)]) == [
        {"name": "a"},
        {"name": "b", "last": True},
    ]


def test_states_may_be_keys() -> None:
    assert tree({State.OK: 1, State.BROKEN: 2}) == {"ok": 1, "broken": 2}


def test_a_moment_that_is_text_already_stays() -> None:
    class Told(Struct):
        at: str

    assert tree(Told("2023-11-14T22:13:20Z")) == {"at": "2023-11-14T22:13:20Z"}
