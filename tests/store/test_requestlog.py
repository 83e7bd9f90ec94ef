"""The request log: a head and a line a request, which `ronda audit` reads again."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from ronda.config import Politeness
from ronda.errors import UsageError
from ronda.model import REQUEST_LOG_VERSION as VERSION
from ronda.store import RequestLog
from ronda.store.requestlog import Entry, Head

PAGE: dict[str, Any] = {
    "at": 1794787200.123456,
    "seconds": 0.0123,
    "host": "a.example",
    "server": "10.0.0.1",
    "method": "HEAD",
    "url": "http://a.example/x",
    "kind": "page",
    "status": 200,
    "error": 0,
    "gap": 0.2,
    "rule": "interval",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "requests.jsonl"


def lines(path: Path, *entries: dict[str, Any], rows: list[Politeness]) -> list[bytes]:
    with RequestLog(path) as log:
        log.begin("ronda/1", "2026-11-15T23:00:00.000Z", rows)
        for entry in entries:
            log.add(**entry)
    return path.read_bytes().splitlines()


def test_the_head_says_what_the_run_had_to_keep_to(path: Path) -> None:
    rows = [Politeness(interval=1.0), Politeness("*.example", per_host=2)]
    [head] = lines(path, rows=rows)

    assert msgspec.json.decode(head, type=Head) == Head(
        "ronda requests", VERSION, "ronda/1", "2026-11-15T23:00:00.000Z", tuple(rows)
    )


def test_the_head_names_only_what_is_set(path: Path) -> None:
    [head] = lines(path, rows=[Politeness("*.example", interval=1.0)])

    assert msgspec.json.decode(head)["politeness"] == [
        {"match": "*.example", "interval": 1.0}
    ]


def test_a_request_is_a_line_with_all_that_was_told(path: Path) -> None:
    _, line = lines(path, PAGE, rows=[])

    assert msgspec.json.decode(line) == PAGE
    assert msgspec.json.decode(line, type=Entry) == Entry(**PAGE)


def test_requests_stand_in_the_order_they_were_told(path: Path) -> None:
    entries = [PAGE | {"at": float(n)} for n in range(5)]
    _, *found = lines(path, *entries, rows=[])

    assert [msgspec.json.decode(line)["at"] for line in found] == [0, 1, 2, 3, 4]


def test_one_that_was_cut_off_has_no_seconds(path: Path) -> None:
    _, line = lines(path, PAGE | {"seconds": None}, rows=[])

    assert b'"seconds":null' in line


def test_the_moment_is_exact_to_the_microsecond(path: Path) -> None:
    _, line = lines(path, PAGE, rows=[])

    assert b'"at":1794787200.123456,' in line


@pytest.mark.parametrize(
    "url",
    ["http://user:secret@a.example/x", "http://secret@a.example/x"],
)
def test_no_user_and_no_password_is_written(path: Path, url: str) -> None:
    _, line = lines(path, PAGE | {"url": url}, rows=[])

    assert b"secret" not in line
    assert msgspec.json.decode(line)["url"] == "http://a.example/x"


def test_a_url_with_anything_in_it_stays_on_one_line(path: Path) -> None:
    odd = "http://a.example/?\n\r\u2028\0\x7f\"'\\é"
    _, line = lines(path, PAGE | {"url": odd}, rows=[])

    assert msgspec.json.decode(line)["url"] == odd


def test_an_older_log_is_written_over(path: Path) -> None:
    path.write_text("an older log\n" * 100)

    assert len(lines(path, PAGE, rows=[])) == 2


def test_a_run_that_breaks_leaves_what_was_asked(path: Path) -> None:
    def broken() -> None:
        with RequestLog(path) as log:
            log.begin("ronda/1", "", [])
            log.add(**PAGE)
            raise KeyError

    with pytest.raises(KeyError):
        broken()

    assert len(path.read_bytes().splitlines()) == 2


def test_a_path_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        RequestLog(tmp_path / "nowhere" / "log")

    words = "No such file or directory"
    assert str(raised.value) == f"--request-log {tmp_path}/nowhere/log: {words}"


def test_a_folder_is_not_a_log(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Is a directory"):
        RequestLog(tmp_path)
