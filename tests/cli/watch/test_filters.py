from typing import Any

import click
import pytest

from ronda.cli.watch.filters import filtered, query, with_filters
from ronda.model import State
from ronda.store.sql.catalogue import Query


@click.command()
@with_filters
def command(**given: Any) -> dict[str, Any]:
    return given


def given(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = command.main(arguments, standalone_mode=False)
    return found


def test_every_filter_of_the_catalogue_is_an_option() -> None:
    ours = {"sort", "descending", "after", "limit"}  # how a list is shown

    assert set(given()) == set(Query.__struct_fields__) - ours


def test_nothing_given_means_everything() -> None:
    assert query(given()) == Query()
    assert not filtered(given())


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("--state", "broken"), Query(state=State.BROKEN)),
        (("--host", "WWW.Bücher.example."), Query(host="www.xn--bcher-kva.example")),
        (("--host", "127.1"), Query(host="127.0.0.1")),
        (("--host", "mx:"), Query(host="mx:")),
        (("--host", "a b"), Query(host="a b")),
        (("--scheme", "FTP://"), Query(scheme="ftp")),
        (("--changed-after", "2023-11-14"), Query(changed_after=1_699_920_000)),
        (("--disabled",), Query(enabled=False)),
        (("--steady", "--acknowledged"), Query(flapping=False, acknowledged=True)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_is_given_is_asked_for(arguments: tuple[str, ...], wanted: Query) -> None:
    assert query(given(*arguments)) == wanted
    assert filtered(given(*arguments))
