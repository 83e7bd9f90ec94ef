"""Work shared out over processes, which tell of it as they go."""

import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from ronda.errors import RondaError

Tell = Callable[[Any], None]  # how a process says something
Work = Callable[[Any, Tell], None]


def share_out(work: Work, shares: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Give each share to a process of its own; yields whatever they tell, as it comes.

    Args:
        work: a function of a module; it is told its share, and how to tell.
        shares: what can be sent to another process.

    Raises:
        RondaError: a process died before its work was over.
    """
    # Spawned, not forked: their memory is to be measured from nothing.
    context = get_context("spawn")
    pipes: dict[Connection, int] = {}
    processes = []
    for number, share in enumerate(shares):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(work, share, theirs), daemon=True)
        process.start()
        theirs.close()
        pipes[ours] = number
        processes.append(process)
    try:
        yield from _listen(pipes)
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _listen(pipes: dict[Connection, int]) -> Iterator[tuple[int, Any]]:
    while pipes:
        for pipe in wait(list(pipes)):
            assert isinstance(pipe, Connection)  # noqa: S101  # nothing else is given
            try:
                told = pipe.recv()
            except EOFError:
                words = "a process of the simulation has died: too little memory?"
                raise RondaError(words) from None
            if told is None:
                del pipes[pipe]
                pipe.close()
            else:
                yield pipes[pipe], told


def _work(work: Work, share: Any, pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started us ends us
    work(share, pipe.send)
    pipe.send(None)  # it is over
    pipe.close()
