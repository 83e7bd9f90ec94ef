import gzip
import io

import pytest

from ronda.errors import InputError
from ronda.targets.streams import Bounded, opened


class Pipe:
    """Gives one byte at a time, as slow pipes do."""

    def __init__(self, data: bytes) -> None:
        self._stream = io.BytesIO(data)

    def read(self, size: int = -1, /) -> bytes:
        return self._stream.read(min(size, 1) if size >= 0 else 1)


def test_the_head_is_seen_and_still_read() -> None:
    stream = Bounded(Pipe(b"abcdef"))

    assert stream.head == b"abcdef"
    assert stream.read(4) == b"abcd"


def test_no_more_than_the_limit_is_given_and_the_cut_is_known() -> None:
    stream = Bounded(io.BytesIO(b"x" * 5000), limit=3000)

    assert len(stream.read()) == 3000
    assert stream.read() == b""
    assert stream.cut


def test_a_stream_that_just_fits_is_not_cut() -> None:
    stream = Bounded(io.BytesIO(b"x" * 3000), limit=3000)

    assert len(stream.read()) == 3000
    assert not stream.cut


def test_a_bomb_is_unpacked_to_the_limit_only() -> None:
    stream = opened(io.BytesIO(gzip.compress(bytes(10_000_000))), limit=100_000)

    assert len(stream.read()) == 100_000
    assert stream.cut


def test_damaged_data_is_an_input_error() -> None:
    packed = gzip.compress(bytes(range(256)) * 100)
    stream = opened(io.BytesIO(packed[:-4]))

    with pytest.raises(InputError, match="gzip"):
        all(iter(lambda: stream.read(1000), b""))
