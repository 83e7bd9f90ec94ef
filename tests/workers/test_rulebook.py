"""Rules of many hosts in little memory."""

from ronda.workers.rulebook import BUDGET, LEAST, Rulebook


def body(number: int, size: int = 100) -> bytes:
    rules = f"User-agent: *\nDisallow: /{number}/\n".encode()
    return rules + b"#" * (size - len(rules))


def test_rules_that_were_put_away_are_the_same_when_they_come_back() -> None:
    book = Rulebook({})
    for number in range(20):
        book.put(f"http://{number}.test", body(number, BUDGET // 4))

    for number in range(20):
        rules = book[f"http://{number}.test"]
        assert not rules.allows("ronda", f"/{number}/x")
        assert rules.allows("ronda", "/x")


def test_only_so_many_are_kept_taken_apart() -> None:
    book = Rulebook({})
    for number in range(20):
        book.put(f"http://{number}.test", body(number, BUDGET // 4 - LEAST))

    assert len(book._open) == 4
    assert book._size <= BUDGET


def test_one_that_is_too_large_for_any_budget_is_kept_alone() -> None:
    book = Rulebook({})
    book.put("http://a.test", body(1))
    book.put("http://b.test", body(2, BUDGET + 1))

    assert list(book._open) == ["http://b.test"]


def test_new_rules_take_the_place_of_old_ones() -> None:
    book = Rulebook({})
    book.put("http://a.test", body(1))
    book.put("http://a.test", body(2))

    assert book["http://a.test"].allows("ronda", "/1/x")
    assert book._size == 100 + LEAST


def test_even_empty_files_are_not_all_kept_taken_apart() -> None:
    book = Rulebook({})
    for number in range(2 * BUDGET // LEAST):
        book.put(f"http://{number}.test", b"")

    assert len(book._open) == BUDGET // LEAST


def test_what_is_forgotten_leaves_nothing_behind() -> None:
    attic: dict[str, bytes] = {}
    book = Rulebook(attic)
    book.put("http://a.test", body(1))
    del book["http://a.test"]

    assert (attic, book._open, book._size) == ({}, {}, 0)
