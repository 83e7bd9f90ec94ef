"""Which statuses and reasons the user takes for good."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.errors import SettingsError
from ronda.probes import REASONS
from ronda.probes.accept import Accept


@pytest.mark.parametrize(
    ("entries", "statuses"),
    [
        ([], set()),
        (["403"], {403}),
        (["403,405"], {403, 405}),
        (["403", " 405 "], {403, 405}),
        (["403, 405"], {403, 405}),
        (["500-503"], {500, 501, 502, 503}),
        (["500..502"], {500, 501, 502}),
        (["500..=502"], {500, 501, 502}),
    ],
)
def test_statuses_and_ranges_are_understood(
    entries: list[str], statuses: set[int]
) -> None:
    accept = Accept(entries)

    assert {n for n in range(100, 1000) if accept.takes(n, f"http_{n}")} == statuses


@pytest.mark.parametrize("code", REASONS)
def test_every_reason_code_is_understood(code: str) -> None:
    accept = Accept([code])

    assert accept.takes(0, code)
    assert not accept.takes(0, "something_else")


@pytest.mark.parametrize("entry", ["4", "40x", "4040", "no_such_reason", "403-", "-"])
def test_anything_else_is_an_error_that_names_it(entry: str) -> None:
    with pytest.raises(SettingsError, match=r"check\.accept") as raised:
        Accept([f"200,{entry}"])

    assert f"'{entry}'" in str(raised.value)


def test_a_status_does_not_excuse_another_fault_of_the_same_answer() -> None:
    accept = Accept(["302"])

    assert not accept.takes(302, "redirect_loop")


@given(st.text())
def test_any_text_is_understood_or_refused(text: str) -> None:
    try:
        Accept([text])
    except SettingsError:
        return


def test_a_range_the_wrong_way_round_is_refused() -> None:
    with pytest.raises(SettingsError, match="599-500"):
        Accept(["599-500"])
