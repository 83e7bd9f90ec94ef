"""What is put away comes back, and takes no more room than it must."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.store import Attic, attic

FEW = 7  # bytes of slack
NAMES = st.sampled_from("abcde")
# What is done to it: a file is put there or, with None, taken out.
STEPS = st.lists(st.tuples(NAMES, st.none() | st.binary(max_size=9)), max_size=60)


def size(of: Attic) -> int:
    file = of._file
    assert file is not None
    file.flush()
    return os.fstat(file.fileno()).st_size


def test_what_is_put_away_comes_back_and_again() -> None:
    attic = Attic()
    attic["a"], attic["b"] = b"one", b""
    attic["a"] = b"three"

    assert (attic["a"], attic["b"], attic["a"]) == (b"three", b"", b"three")
    attic.close()


def test_one_that_was_never_used_can_be_closed() -> None:
    Attic().close()


def test_what_was_taken_out_is_gone() -> None:
    attic = Attic()
    attic["a"] = b"one"
    del attic["a"]

    assert len(attic) == 0
    with pytest.raises(KeyError):
        attic["a"]
    attic.close()


@given(STEPS)
def test_it_is_a_dictionary_in_a_file_of_at_most_twice_its_size(
    steps: list[tuple[str, bytes | None]],
) -> None:
    made, wanted = Attic(), dict[str, bytes]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attic, "SLACK", FEW)
        for name, data in steps:
            if data is not None:
                made[name] = wanted[name] = data
            elif name in wanted:
                del made[name], wanted[name]
            assert {name: made[name] for name in wanted} == wanted
            assert len(made) == len(wanted)
            if made._file is not None:
                assert size(made) <= 2 * sum(map(len, wanted.values())) + FEW
    made.close()


def test_a_year_of_robots_files_takes_no_more_room_than_a_day_of_them() -> None:
    made = Attic()
    for day in range(365):
        for host in range(10):
            made[str(host)] = b"%d" % day * 1000

    assert size(made) <= 2 * 30_000 + attic.SLACK
    assert made["7"] == b"364" * 1000
    made.close()
