"""The URLs of a run by number."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from ronda.store.seen import Seen


@given(st.lists(st.text(max_size=3)), st.lists(st.text(max_size=3)))
def test_it_numbers_urls_as_a_dictionary_would(
    added: list[str], asked: list[str]
) -> None:
    seen, known = Seen(), dict[str, int]()
    for url in added:
        assert seen.add(url) == known.setdefault(url, len(known))

    assert len(seen) == len(known)
    for url in added + asked:
        assert seen.number(url) == known.get(url, -1)
        assert (url in seen) is (url in known)


def test_numbers_stay_while_the_tables_grow_in_few_bytes_a_url() -> None:
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    seen = Seen()
    for number in range(50_000):
        assert seen.add(f"http://a.test/{number}") == number
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (after - before) / len(seen) <= 40
    assert all(seen.number(f"http://a.test/{n}") == n for n in range(50_000))
    assert seen.number("http://a.test/50000") == -1
