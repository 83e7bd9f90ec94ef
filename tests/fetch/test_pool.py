"""The processes of a pool: one that dies is replaced, but not for ever."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator

import pytest

from e2e.site import Made, made
from ronda.config import Fetch
from ronda.config import Guard as GuardSettings
from ronda.fetch.guard import Guard
from ronda.fetch.pool import LIVES, Child, Pool
from ronda.model import ORPHANED, Answer, Request
from servers.process import HOST

SECONDS = 30.0  # guards against hanging
CHILDREN = 2

Story = Callable[[Pool], Awaitable[None]]


@pytest.fixture
def server() -> Iterator[Made]:
    with made(lambda _: b"here") as opened:
        yield opened


def told(story: Story) -> None:
    """Tell a story of a pool of two."""

    async def run() -> None:
        settings = Fetch(processes=CHILDREN, timeout=10)
        async with Pool(settings, Guard(GuardSettings())) as pool:
            async with asyncio.timeout(SECONDS):
                await story(pool)

    asyncio.run(run())


def ask(pool: Pool, url: str) -> asyncio.Future[Answer]:
    asking: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
    request = Request(url, "GET", body=1000)
    pool.ask(request, "", False, asking.set_result)
    return asking


def child_of(pool: Pool, name: str) -> Child:
    """The one that asks a host."""
    return pool._children[hash(name) % CHILDREN]


async def die(pool: Pool, server: Made) -> Answer:
    """Kill the child that is asked for a page, and see what comes of that page."""
    hanging = ask(pool, server.url("/held"))
    os.kill(child_of(pool, HOST).pid, signal.SIGKILL)
    return await hanging


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_a_child_took_with_it_is_known_by_its_fault(server: Made) -> None:
    async def story(pool: Pool) -> None:
        assert (await ask(pool, server.url())).status == 200
        assert (await die(pool, server)).error == ORPHANED

    told(story)


def test_a_child_that_died_is_replaced_when_it_is_needed(server: Made) -> None:
    async def story(pool: Pool) -> None:
        old = child_of(pool, HOST).pid
        await die(pool, server)
        assert pool.deaths == 0
        answers = [await ask(pool, server.url()) for _ in range(3)]

        assert [answer.status for answer in answers] == [200] * 3
        assert pool.deaths == 1
        assert not is_there(old)

    told(story)


def test_the_other_child_stays(server: Made) -> None:
    async def story(pool: Pool) -> None:
        children = list(pool._children)
        mine = child_of(pool, HOST)
        await die(pool, server)
        await ask(pool, server.url())

        kept = [new is old for new, old in zip(pool._children, children, strict=True)]
        assert kept == [child is not mine for child in children]

    told(story)


def test_one_that_dies_again_and_again_is_given_up(server: Made) -> None:
    async def story(pool: Pool) -> None:
        for _ in range(LIVES * CHILDREN + 1):
            assert (await die(pool, server)).error == ORPHANED
        pids = [child.pid for child in pool._children]
        late = await ask(pool, server.url())

        assert late.error == ORPHANED
        assert "died" in late.error_text
        assert pool.deaths == LIVES * CHILDREN
        assert [child.pid for child in pool._children] == pids

    told(story)


def test_no_process_is_left_at_the_end(server: Made) -> None:
    pids: set[int] = set()

    async def story(pool: Pool) -> None:
        for _ in range(2):
            await die(pool, server)
            pids.update(child.pid for child in pool._children)
        await ask(pool, server.url())
        pids.update(child.pid for child in pool._children)

    told(story)

    assert len(pids) == CHILDREN + 2
    assert not any(map(is_there, pids))
