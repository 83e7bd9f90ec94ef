"""The demo's name server, question by question."""

import asyncio
import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.cli.demo.names import Code, Kind, answer
from ronda.cli.demo.web import DemoWeb


def query(name: str, kind: int) -> bytes:
    labels = b"".join(bytes([len(p)]) + p.encode() for p in name.split("."))
    return (
        struct.pack("!6H", 7, 0x0100, 1, 0, 0, 0)
        + labels
        + struct.pack("!BHH", 0, kind, 1)
    )


@pytest.mark.parametrize(
    ("name", "kind", "code", "records"),
    [
        ("harbour-museum.test", Kind.A, Code.FINE, 1),
        ("Harbour-Museum.test", Kind.MX, Code.FINE, 1),
        ("no-mail.test", Kind.MX, Code.FINE, 0),
        ("no-mail.test", Kind.A, Code.FINE, 0),
        ("silted-up.test", Kind.A, Code.FAILED, 0),
        ("no-such-name.invalid", Kind.A, Code.NO_SUCH_NAME, 0),
    ],
)
def test_a_name_has_its_answer(name: str, kind: int, code: int, records: int) -> None:
    reply = answer(query(name, kind))
    number, flags, questions, answers = struct.unpack("!4H", reply[:8])

    assert (number, questions, answers) == (7, 1, records)
    assert flags & 0x8000
    assert flags & 0x000F == code


def test_the_mail_server_is_named() -> None:
    reply = answer(query("harbour-museum.test", Kind.MX))

    assert reply.endswith(b"\x00\x0a\x04mail\x0eharbour-museum\x04test\x00")


@pytest.mark.parametrize(
    "data", [b"", bytes(12), query("a.test", 1)[:-1], answer(query("a.test", 1))]
)
def test_what_is_no_question_has_no_answer(data: bytes) -> None:
    assert answer(data) == b""


@given(st.binary(max_size=600))
def test_no_bytes_at_all_upset_it(data: bytes) -> None:
    reply = answer(data)

    assert reply == b"" or reply[:2] == data[:2]


def test_it_answers_over_the_network() -> None:
    async def run() -> bytes:
        async with DemoWeb() as web:
            return await asyncio.to_thread(ask, web.name_server)

    assert asyncio.run(run())[-4:] == bytes([127, 0, 0, 1])


def ask(server: str) -> bytes:
    address, _, port = server.partition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(10)
        client.connect((address, int(port)))
        client.send(b"nonsense")
        client.send(query("harbour-museum.test", Kind.A))
        return client.recv(512)
