"""Bodies that are sent, to a real receiver on loopback."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import pytest

from ronda.clock import SystemClock
from ronda.config import Fetch
from ronda.config import Guard as GuardSettings
from ronda.fetch.engine import Engine
from ronda.fetch.guard import Guard
from ronda.fetch.names import Names
from ronda.fetch.pool import Pool
from ronda.fetch.post import Post
from ronda.model import GUARDED, Answer, Request
from servers.names import Names as NameServer
from servers.receiver import Receiver
from servers.rude import Rude

SECONDS = 30.0  # guards against hanging; nothing takes as long
OPEN = Guard(GuardSettings())
BODY = '{"words": "schöne Grüße"}'.encode() + b"\0\xff"  # exactly these bytes
Story = Callable[[Post, Receiver], Awaitable[object]]


def told(
    story: Story,
    settings: Fetch | None = None,
    guard: Guard = OPEN,
    seconds: float = 10.0,
) -> object:
    async def run() -> object:
        given = settings or Fetch()
        async with (
            asyncio.timeout(SECONDS),
            Names(given.name_servers, guard, SystemClock()) as names,
            Post(given, seconds, names, guard) as post,
            Receiver() as receiver,
        ):
            return await story(post, receiver)

    return asyncio.run(run())


def test_exactly_the_bytes_given_arrive_with_their_headers() -> None:
    async def story(post: Post, receiver: Receiver) -> None:
        answer = await post.send(receiver.url("/a?b"), BODY, ("Ronda-Batch: 7",))

        assert (answer.status, answer.error) == (204, 0)
        (sent,) = receiver.sent
        assert (sent.method, sent.path, sent.body) == ("POST", "/a?b", BODY)
        assert sent.headers["ronda-batch"] == "7"
        assert sent.headers["user-agent"].startswith("ronda/")

    told(story)


def test_a_large_body_is_sent_without_asking_leave() -> None:
    body = bytes(range(256)) * 8192

    async def story(post: Post, receiver: Receiver) -> None:
        await post.send(receiver.url(), body, ())

        assert receiver.sent[0].body == body
        assert "expect" not in receiver.sent[0].headers

    told(story)


def test_headers_for_targets_are_not_for_those_who_are_told() -> None:
    async def story(post: Post, receiver: Receiver) -> None:
        await post.send(receiver.url(), BODY, ())

        assert "cookie" not in receiver.sent[0].headers

    told(story, Fetch(headers={"Cookie": "secret"}))


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    async def story(post: Post, receiver: Receiver) -> None:
        receiver.answer = lambda _: 307
        receiver.headers = f"Location: {receiver.url('/elsewhere')}\r\n"
        answer = await post.send(receiver.url(), BODY, ())

        assert answer.status == 307
        assert [sent.path for sent in receiver.sent] == ["/told"]

    told(story)


def test_names_are_looked_up_and_pinned(names: NameServer) -> None:
    async def story(post: Post, receiver: Receiver) -> None:
        answer = await post.send(receiver.url(host="h1.ronda.test"), BODY, ())

        assert answer.status == 204
        assert receiver.sent[0].headers["host"].startswith("h1.ronda.test:")

    told(story, Fetch(name_servers=(names.server,)))


def test_another_address_is_tried_where_nobody_is_at_the_first(
    names: NameServer,
) -> None:
    async def story(post: Post, receiver: Receiver) -> None:
        answer = await post.send(receiver.url(host="both.ronda.test"), BODY, ())
        nobody = await post.send(receiver.url(host="two.ronda.test"), BODY, ())

        assert (answer.status, len(receiver.sent)) == (204, 1)
        assert (nobody.status, nobody.reached) == (0, False)

    told(story, Fetch(name_servers=(names.server,)))


def test_a_name_that_does_not_exist_is_a_failure(names: NameServer) -> None:
    async def story(post: Post, _receiver: Receiver) -> None:
        answer = await post.send("http://no-such.ronda.test/", BODY, ())

        assert answer.error

    told(story, Fetch(name_servers=(names.server,)))


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "http://169.254.169.254/"])
def test_the_guard_looks_at_where_it_goes(url: str) -> None:
    async def story(post: Post, _receiver: Receiver) -> None:
        answer = await post.send(url, BODY, ())

        assert answer.error == GUARDED

    told(story, guard=Guard(GuardSettings(public_only=True)))


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("file:///etc/passwd", "neither http nor https"),
        ("ftp://127.0.0.1/x", "neither http nor https"),
        ("told", "not a URL"),
    ],
)
def test_what_cannot_be_told_is_a_failure(url: str, words: str) -> None:
    async def story(post: Post, _receiver: Receiver) -> None:
        answer = await post.send(url, BODY, ())

        assert answer.error
        assert words in answer.error_text

    told(story)


def test_nobody_there_is_a_failure(rude: Rude) -> None:
    async def story(post: Post, _receiver: Receiver) -> None:
        answer = await post.send(rude.refused_url(), BODY, ())

        assert answer.error
        assert not answer.reached

    told(story)


def test_who_says_nothing_is_given_up_in_time() -> None:
    async def story(post: Post, receiver: Receiver) -> None:
        receiver.gate.clear()
        answer = await post.send(receiver.url(), BODY, ())

        assert (answer.status, answer.error) == (0, 28)

    told(story, seconds=0.2)


def test_to_give_it_up_closes_the_connection() -> None:
    async def story(post: Post, receiver: Receiver) -> None:
        receiver.gate.clear()
        task = asyncio.create_task(post.send(receiver.url(), BODY, ()))
        await receiver.has(1)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        receiver.gate.set()

        assert task.cancelled()
        assert (await post.send(receiver.url(), BODY, ())).status == 204

    told(story)


@pytest.mark.parametrize("kind", [Engine, Pool])
def test_a_handle_that_has_posted_asks_as_before(kind: type[Engine | Pool]) -> None:
    async def run() -> list[str]:
        async with (
            asyncio.timeout(SECONDS),
            kind(Fetch(processes=1), OPEN) as engine,
            Receiver() as receiver,
        ):
            for request in (
                Request(receiver.url(), "HEAD"),
                Request(receiver.url(), "POST", payload=b"1", headers=("X: 1",)),
                Request(receiver.url(), "POST", payload=b"22", headers=("X: 2",)),
                Request(receiver.url(), "GET"),
                Request(receiver.url(), "POST", payload=b"3", headers=("X: 3",)),
                Request(receiver.url(), "HEAD"),
            ):
                future: asyncio.Future[Answer] = asyncio.Future()
                engine.ask(request, "", True, future.set_result)
                assert (await future).status == 204
            return [
                f"{one.method} {one.body.decode()} {one.headers.get('x', '-')}"
                for one in receiver.sent
            ]

    assert asyncio.run(run()) == [
        "HEAD  -",
        "POST 1 1",
        "POST 22 2",
        "GET  -",
        "POST 3 3",
        "HEAD  -",
    ]
