"""The one door to the outside."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from ronda.clock import SystemClock
from ronda.config import Fetch
from ronda.config import Guard as GuardSettings
from ronda.fetch import Asker, Guard, Names
from ronda.model import Answer, Request, Via
from servers.names import Names as NameServer
from servers.rude import Rude

SECONDS = 30.0  # guards against hanging; nothing takes as long
OPEN = Guard(GuardSettings())  # for what the operator named himself
Check = Callable[[str], tuple[str, str]]


def asked(
    request: Request, check: Check | None = None, server: str = "", processes: int = 1
) -> Answer:
    async def run() -> Answer:
        settings = Fetch(processes=processes)
        servers = (server,) if server else ()
        async with (
            Names(servers, OPEN, SystemClock()) as names,
            Asker(settings, names, lambda _: check, OPEN) as asker,
            asyncio.timeout(SECONDS),
        ):
            return await asker.ask(request, "", False)

    return asyncio.run(run())


@pytest.mark.parametrize("processes", [1, 2])
def test_the_web_is_asked_by_libcurl(rude: Rude, processes: int) -> None:
    answer = asked(Request(rude.url("/ok"), "GET"), processes=processes)

    assert answer.status == 200


def test_mail_domains_are_asked_of_the_name_server(names: NameServer) -> None:
    answer = asked(Request("mail.ronda.test", via=Via.MX), server=names.server)

    assert answer.names == ("h1.ronda.test", "h2.ronda.test")
    assert answer.timings.total > 0


def test_no_domain_is_not_asked_of_anybody() -> None:
    assert asked(Request("", via=Via.MX)) == Answer()


def test_a_plug_in_is_called_in_a_thread() -> None:
    def check(url: str) -> tuple[str, str]:
        return "ok", f"{url} {threading.current_thread() is threading.main_thread()}"

    answer = asked(Request("odd://x", via=Via.CALL), check)

    assert answer.called == ("ok", "odd://x False")


def test_a_plug_in_that_raises_is_told(rude: Rude) -> None:
    def check(_: str) -> tuple[str, str]:
        raise ValueError("it broke")

    answer = asked(Request("odd://x", via=Via.CALL), check)

    assert (answer.called, answer.error_text) == (None, "ValueError: it broke")


def test_a_plug_in_that_is_missing_is_told() -> None:
    answer = asked(Request("odd://x", via=Via.CALL))

    assert answer.called is None
    assert answer.error_text


def test_a_plug_in_that_never_returns_does_not_hold_up_the_end() -> None:
    release = threading.Event()

    def check(_: str) -> tuple[str, str]:
        release.wait(SECONDS)
        return "ok", ""

    async def run() -> None:
        async with (
            Names((), OPEN, SystemClock()) as names,
            Asker(Fetch(), names, lambda _: check, OPEN) as asker,
        ):
            task = asyncio.ensure_future(
                asker.ask(Request("odd://x", via=Via.CALL), "", False)
            )
            await asyncio.sleep(0.05)  # it has begun
            task.cancel()

    asyncio.run(run())
    release.set()
