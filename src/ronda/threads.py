"""Blocking work beside the event loop, in threads that never keep the program alive."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(function: Callable[[], T]) -> T:
    """Call a function in a thread of its own and wait for what it returns.

    Unlike `asyncio.to_thread`, nothing waits for the thread at the end: one that is
    stuck in a read of standard input must not outlive a Ctrl-C.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.cancelled():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def call() -> None:
        result, error = None, None
        try:
            result = function()
        except Exception as raised:  # handed to whoever waits
            error = raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=call, daemon=True).start()
    return await future
