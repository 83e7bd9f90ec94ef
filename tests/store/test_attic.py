"""What is put away comes back."""

from ronda.store import Attic


def test_what_is_put_away_comes_back_and_again() -> None:
    attic = Attic()
    attic["a"], attic["b"] = b"one", b""
    attic["a"] = b"three"

    assert (attic["a"], attic["b"], attic["a"]) == (b"three", b"", b"three")
    attic.close()


def test_one_that_was_never_used_can_be_closed() -> None:
    Attic().close()
