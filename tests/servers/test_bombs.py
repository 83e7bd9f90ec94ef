import zlib
from itertools import islice

import pytest

from servers.bombs import BOMBS, packed


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_ten_megabytes_at_most(name: str) -> None:
    assert sum(len(part) for part in BOMBS[name]()) < 10_500_000


@pytest.mark.parametrize(("name", "bits"), [("gzip", 31), ("deflate", 15)])
def test_a_part_of_it_unpacks_to_a_hundred_times_as_much(name: str, bits: int) -> None:
    unpacker = zlib.decompressobj(bits)
    size = sum(len(unpacker.decompress(part)) for part in islice(BOMBS[name](), 2))

    assert size == 100_000_000


def test_a_text_is_repeated_whole() -> None:
    unpacker = zlib.decompressobj(31)
    data = b"".join(unpacker.decompress(p, 1000) for p in islice(packed(b"abc "), 2))

    assert data == b"abc " * 250
