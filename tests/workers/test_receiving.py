"""The receiver of docs/howto/notices.md takes what we send, and nothing else."""

import hashlib
import json
import re
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import HTTPServer
from pathlib import Path
from typing import Any

import pytest

from ronda.store.sql.taking import Batch
from ronda.workers.notices import headers

DOCUMENT = Path(__file__).parents[2] / "docs" / "howto" / "notices.md"
TOKEN = "a token"
BODY: dict[str, Any] = {
    "batch": "k",
    "notices": [{"kind": "change", "state": "broken", "url": "http://a.test/ä"}],
}


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[HTTPServer]:
    """What the document has, at a port of its own."""
    monkeypatch.setenv("RONDA_TOKEN", TOKEN)
    [code] = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    told: dict[str, Any] = {"__name__": "receiver"}
    exec(code, told)
    with HTTPServer(("127.0.0.1", 0), told["Receiver"]) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def sent(body: bytes, token: str = TOKEN, age: float = 0.0) -> dict[str, str]:
    """The headers that we send with it."""
    token_hash = hashlib.sha256(token.encode()).hexdigest()
    batch = Batch("k", body, 2, "ann", "http://x/", token_hash, 1, 0, None)
    return dict(line.split(": ", 1) for line in headers(batch, time.time() - age))


def answer(receiver: HTTPServer, body: bytes, given: dict[str, str]) -> int:
    connection = HTTPConnection("127.0.0.1", receiver.server_port, timeout=10)
    connection.request("POST", "/", body, given)
    status = connection.getresponse().status
    connection.close()
    return status


def test_a_batch_is_taken_once_however_often_it_comes(
    receiver: HTTPServer, capsys: pytest.CaptureFixture[str]
) -> None:
    bodies = [json.dumps(BODY | {"batch": key}).encode() for key in ("a", "b", "a")]

    assert [answer(receiver, body, sent(body)) for body in bodies] == [204] * 3
    assert capsys.readouterr().out == "change broken http://a.test/ä\n" * 2


@pytest.mark.parametrize(
    ("body", "signed"),
    [
        (b"{}", {"token": "another"}),
        (b"{ }", {}),
        (b"{}", {"age": 400.0}),
    ],
    ids=["another token", "another body", "an old one"],
)
def test_what_is_not_from_us_is_refused(
    receiver: HTTPServer, body: bytes, signed: dict[str, Any]
) -> None:
    assert answer(receiver, body, sent(b"{}", **signed)) == 403


def test_what_is_not_signed_is_refused(receiver: HTTPServer) -> None:
    assert answer(receiver, b"{}", {}) == 403
