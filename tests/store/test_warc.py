"""A web archive, as its own reader reads it."""

import gzip
import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.recordloader import ArcWarcRecord

from ronda.errors import SettingsError, UsageError
from ronda.model import Answer, Request
from ronda.store.warc import WarcFile

URL = "http://site.test/a?b=1"
AT = 1_700_000_000.25
BOTH = pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])


def answer(*lines: str, body: bytes = b"", status: int = 200, **more: object) -> Answer:
    head = (f"HTTP/1.1 {status} OK", *lines, "")
    headers = tuple(f"{line}\r\n".encode("latin-1") for line in head)
    return Answer(status, headers=headers, body=body, **more)  # type: ignore[arg-type]


def opened(path: Path) -> WarcFile:
    return WarcFile(path, "ronda/test", {"Authorization": "secret"}, lambda: AT)


def write(path: Path, *answers: Answer, request: Request | None = None) -> None:
    with opened(path) as file:
        for one in answers:
            file.add(request or Request(URL, "GET"), one, AT)


def records(path: Path) -> Iterator[tuple[ArcWarcRecord, bytes]]:
    with path.open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            yield record, record.content_stream().read()


def kinds(path: Path) -> list[str]:
    return [record.rec_type for record, _ in records(path)]


def response(path: Path) -> tuple[ArcWarcRecord, bytes]:
    return next(pair for pair in records(path) if pair[0].rec_type == "response")


# -- what is written ----------------------------------------------------------------


@BOTH
def test_an_exchange_comes_back_as_it_was(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    said = answer("Content-Type: text/plain", body=b"hello", address="127.0.0.1")

    write(path, said)

    (info, fields), (question, _), (reply, body) = records(path)
    assert path.read_bytes().startswith(b"\x1f\x8b" if name[-1] == "z" else b"WARC/1.1")
    assert info.rec_type == "warcinfo"
    assert b"http-header-user-agent: ronda/test" in fields
    assert question.http_headers.to_str() == (
        "GET /a?b=1 HTTP/1.1\r\nHost: site.test\r\n"
        "User-Agent: ronda/test\r\nAccept: */*\r\n"
    )
    assert body == b"hello"
    assert reply.http_headers.get_statuscode() == "200"
    facts = dict(reply.rec_headers.headers)
    assert facts["WARC-Target-URI"] == URL
    assert facts["WARC-Date"] == "2023-11-14T22:13:20.250000Z"
    assert facts["WARC-IP-Address"] == "127.0.0.1"
    assert facts["WARC-Warcinfo-ID"] == info.rec_headers.get_header("WARC-Record-ID")
    asked = question.rec_headers.get_header("WARC-Record-ID")
    assert facts["WARC-Concurrent-To"] == asked


def test_each_record_is_a_gzip_member_of_its_own(tmp_path: Path) -> None:
    write(tmp_path / "a.warc.gz", answer(body=b"x"))

    with (tmp_path / "a.warc.gz").open("rb") as file:
        reader = ArchiveIterator(file)
        offsets = [reader.get_record_offset() for _ in reader]
        for offset in offsets:
            file.seek(offset)
            assert file.read(2) == b"\x1f\x8b"
    assert len(offsets) == 3


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (["Content-Length: 5", "X: y"], ["Content-Length: 5", "X: y"]),
        (["X: y"], ["X: y"]),
        (
            ["content-encoding: gzip", "Content-Length: 99"],
            [
                "X-Archive-Orig-content-encoding: gzip",
                "X-Archive-Orig-Content-Length: 99",
                "Content-Length: 5",
            ],
        ),
        (
            ["Transfer-Encoding: chunked"],
            ["X-Archive-Orig-Transfer-Encoding: chunked", "Content-Length: 5"],
        ),
    ],
)
def test_headers_are_true_of_the_body_that_is_kept(
    tmp_path: Path, headers: list[str], expected: list[str]
) -> None:
    write(tmp_path / "a.warc", answer(*headers, body=b"hello"))

    record, body = response(tmp_path / "a.warc")
    assert [": ".join(pair) for pair in record.http_headers.headers] == expected
    assert body == b"hello"


def test_the_headers_of_a_head_stay_as_they_are(tmp_path: Path) -> None:
    said = answer("Content-Length: 99", "Content-Encoding: gzip")

    write(tmp_path / "a.warc", said, request=Request(URL, "HEAD"))

    head = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nContent-Encoding: gzip\r\n\r\n"
    assert head in (tmp_path / "a.warc").read_bytes()


def test_header_lines_are_kept_byte_by_byte(tmp_path: Path) -> None:
    odd = (b"HTTP/1.0 200 Sim\xe3\n", b"X-N: a\xe9\xff\n", b" folded\r\n", b"odd\r\n")

    write(tmp_path / "a.warc", Answer(200, headers=odd, body=b"x"))

    block = b"HTTP/1.0 200 Sim\xe3\r\nX-N: a\xe9\xff\r\n folded\r\nodd\r\n\r\nx\r\n\r\n"
    assert (tmp_path / "a.warc").read_bytes().endswith(block)
    assert kinds(tmp_path / "a.warc")[-1] == "response"


@pytest.mark.parametrize(
    ("line", "protocol"), [("HTTP/2 200", "h2"), ("HTTP/3 200", "h3")]
)
def test_a_newer_protocol_is_told_so_that_readers_understand(
    tmp_path: Path, line: str, protocol: str
) -> None:
    write(tmp_path / "a.warc", Answer(200, headers=(line.encode(), b"a: b"), body=b"x"))

    record, _ = response(tmp_path / "a.warc")
    assert record.http_headers.protocol == "HTTP/1.1"
    assert record.rec_headers.get_header("WARC-Protocol") == protocol


@pytest.mark.parametrize(
    ("more", "reason"),
    [({"cut": True}, "length"), ({"error": 28}, "time"), ({"error": 18}, "disconnect")],
)
def test_a_body_that_is_not_whole_says_why(
    tmp_path: Path, more: dict[str, int], reason: str
) -> None:
    write(tmp_path / "a.warc", answer("Content-Length: 99", body=b"x", **more))

    record, _ = response(tmp_path / "a.warc")
    assert record.rec_headers.get_header("WARC-Truncated") == reason


def test_a_redirect_is_recorded(tmp_path: Path) -> None:
    write(tmp_path / "a.warc", answer("Location: /b", status=301))

    record, _ = response(tmp_path / "a.warc")
    assert record.http_headers.get_header("Location") == "/b"


@BOTH
def test_a_page_that_did_not_change_is_a_revisit(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    asked = Request(URL, "GET", etag='"1"', since="yesterday")
    write(path, answer('ETag: "1"', status=304), answer(body=b"x"), request=asked)

    _, (question, _), (revisit, body), *_ = records(path)
    assert kinds(path) == ["warcinfo", "request", "revisit", "request", "response"]
    assert question.http_headers.get_header("If-None-Match") == '"1"'
    assert question.http_headers.get_header("If-Modified-Since") == "yesterday"
    profile = revisit.rec_headers.get_header("WARC-Profile")
    assert profile.endswith("/1.1/revisit/server-not-modified")
    assert revisit.http_headers.get_statuscode() == "304"
    assert body == b""


def test_no_password_is_in_the_archive(tmp_path: Path) -> None:
    url = "http://me:secret@site.test/a#part"

    write(tmp_path / "a.warc", answer(), request=Request(url, "GET"))

    assert b"secret" not in (tmp_path / "a.warc").read_bytes()
    record, _ = response(tmp_path / "a.warc")
    assert record.rec_headers.get_header("WARC-Target-URI") == "http://site.test/a"


def test_what_was_not_answered_in_http_is_left_out(tmp_path: Path) -> None:
    write(tmp_path / "a.warc", Answer(error=7), Answer(226, headers=(b"226 ok\r\n",)))

    assert kinds(tmp_path / "a.warc") == ["warcinfo"]


lines = st.text(
    st.characters(max_codepoint=255, exclude_characters="\r\n"), max_size=20
)


@settings(max_examples=50, deadline=None)  # the disk is others' too
@given(st.lists(lines, max_size=5), st.binary(max_size=300), st.booleans())
def test_any_answer_comes_back_with_its_digests(
    tmp_path_factory: pytest.TempPathFactory,
    headers: list[str],
    body: bytes,
    packed: bool,
) -> None:
    path = tmp_path_factory.mktemp("warc") / ("a.warc.gz" if packed else "a.warc")
    # A blank line would be the end of the headers, on the wire as well.
    said = answer(*(line for line in headers if line.strip()), body=body)
    write(path, said, answer(status=304), said)

    found = [
        content for record, content in records(path) if record.rec_type == "response"
    ]
    assert len(found) == 2
    assert found == [body, body]


# -- going on -----------------------------------------------------------------------


@BOTH
def test_a_file_is_gone_on_with_from_wherever_it_was_torn(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    write(path, answer(body=b"one"))
    ends = [path.stat().st_size]
    write(path, answer(body=b"two" * 1000))
    whole = path.read_bytes()

    for size in {*range(0, 400, 7), *range(ends[0] - 9, len(whole), 11), len(whole)}:
        path.write_bytes(whole[:size])
        before = kinds_of_whole_records(whole, size)
        write(path, answer(body=b"three"))

        assert kinds(path) == [*before, "warcinfo", "request", "response"]
        assert response_bodies(path)[-1] == b"three"


def kinds_of_whole_records(whole: bytes, size: int) -> list[str]:
    """The records that end before a byte, by warcio's own account of them."""
    reader = ArchiveIterator(io.BytesIO(whole))
    starts = [(reader.get_record_offset(), record.rec_type) for record in reader]
    ends = [start for start, _ in starts[1:]] + [len(whole)]
    return [kind for (_, kind), end in zip(starts, ends, strict=True) if end <= size]


def response_bodies(path: Path) -> list[bytes]:
    return [body for record, body in records(path) if record.rec_type == "response"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.warc", b"My diary\r\n"),
        ("a.warc", b"x" * 3_000_000),
        ("a.warc", b"WARC/1.1\r\n" + b"A: b\r\n" * 200_000),
        ("a.warc", b"WARC/1.1\r\nWARC-Type: warcinfo\r\n\r\n\r\n\r\n"),
        ("a.warc", b"WARC/1.1\r\nContent-Length: 1\r\n\r\nabcdefghi"),
        ("a.warc", gzip.compress(b"WARC/1.1\r\n", mtime=0)),
        ("a.warc.gz", gzip.compress(b"My diary", mtime=0)),
        ("a.warc.gz", b"My diary"),
        ("a.warc.gz", gzip.compress(b"WARC/1.1\r\n", mtime=0) + b"My diary"),
    ],
)
def test_a_file_that_is_not_torn_but_wrong_is_left_alone(
    tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)

    with pytest.raises(UsageError, match=r"damaged at byte|not a web archive"):
        opened(tmp_path / name)
    assert (tmp_path / name).read_bytes() == data


def test_a_file_is_of_one_run_at_a_time(tmp_path: Path) -> None:
    with (
        opened(tmp_path / "a.warc"),
        pytest.raises(UsageError, match="another run writes to it"),
    ):
        opened(tmp_path / "a.warc")


def test_a_file_that_cannot_be_opened_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--warc .*: Is a directory"):
        opened(tmp_path)


def test_a_full_disk_leaves_whole_records(tmp_path: Path) -> None:
    class Full(io.FileIO):
        room = 100

        def write(self, data: object) -> int:
            if not self.room:
                raise OSError(28, "No space left on device")
            self.room = 0
            return super().write(bytes(data)[:100])  # type: ignore[call-overload]

    path = tmp_path / "a.warc"
    with opened(path) as file:
        real, file._file = file._file, Full(path, "r+")
        file._file.seek(file._end)
        with pytest.raises(OSError, match="No space left"):
            file.add(Request(URL, "GET"), answer(body=b"lost"), AT)
        file._file.close()
        file._file = real
        file._file.seek(file._end)
        file.add(Request(URL, "GET"), answer(body=b"kept"), AT)

    assert response_bodies(path) == [b"kept"]


def test_without_warcio_the_user_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "warcio.warcwriter", None)

    with pytest.raises(SettingsError, match=r"^--warc: needs the package warcio"):
        opened(tmp_path / "a.warc")
    assert not (tmp_path / "a.warc").exists()
