"""Messages between processes."""

import asyncio
import socket

from ronda.fetch.wire import Wire


def test_many_messages_of_any_size_arrive_in_order() -> None:
    sent = [b"x" * size for size in (0, 1, 70_000, 3_000_000, 5)]

    async def play() -> list[bytes]:
        ours, theirs = socket.socketpair()
        received: asyncio.Queue[list[bytes]] = asyncio.Queue()
        one = Wire(ours, bytes, received.put_nowait, lambda: None)
        other = Wire(theirs, bytes, received.put_nowait, lambda: None)
        for message in sent:
            one.send(message)
            await asyncio.sleep(0)
        found: list[bytes] = []
        async with asyncio.timeout(10):
            while len(found) < len(sent):
                found += await received.get()
        one.close()
        other.close()
        return found

    assert asyncio.run(play()) == sent


def test_an_end_that_dies_with_much_unsent_is_noticed_at_the_next_message() -> None:
    async def play() -> None:
        ours, theirs = socket.socketpair()
        ended = asyncio.Event()
        wire = Wire(ours, bytes, lambda _: None, ended.set)
        wire.send(b"x" * 10_000_000)  # more than a socket holds
        await asyncio.sleep(0)
        theirs.close()
        async with asyncio.timeout(10):
            await ended.wait()
            ended.clear()
            wire.send(b"y")
            await ended.wait()
        wire.close()

    asyncio.run(play())
