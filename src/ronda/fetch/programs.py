"""Programs in any language: run beside the event loop, within limits and the guard."""

import asyncio
import logging
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path, PurePosixPath
from typing import Self

import msgspec
from msgspec.structs import replace

from ronda.clock import SystemClock
from ronda.config import Tasks
from ronda.fetch.guard import Guard
from ronda.fetch.keeping import Keeper, Order
from ronda.fetch.names import Names
from ronda.fetch.passage import Gap, Passage, Told
from ronda.model import Answer, Job, Ran, Request, Timings

log = logging.getLogger(__name__)

GRACE = 5.0  # seconds from SIGTERM to SIGKILL
IDENTIFY = 5.0  # seconds that a program has to tell its name
_PASSED = ("PATH", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")  # no secrets among them
_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
_UNWALLED = (
    "not run, since strangers named this target and programs cannot be kept from your "
    "own network here: let this user create namespaces (user.max_user_namespaces)"
)


class Programs:
    """Runs programs that are tasks, so many at once; one process keeps them all.

    Behind a wall they have no network but the passage, a proxy of ours which the
    environment names. Where there can be no wall, the environment is all there is.
    """

    def __init__(
        self,
        settings: Tasks,
        names: Names,
        guard: Guard,
        told: Told = lambda *_: None,
        walls: bool = True,
        gap: Gap = lambda _host, _address: 0.0,
    ) -> None:
        """Make ready; nothing is started before the first program.

        Args:
            settings: limits and folders.
            names: the name servers to ask.
            guard: who may be asked.
            told: called for each connection that a program makes.
            walls: False: do without namespaces, as where there are none.
            gap: seconds between two connections of programs to a host at an address.
        """
        self._settings = settings
        self._walls = walls
        self._passage = Passage(names, guard, SystemClock(), told, gap)
        self._places = asyncio.Semaphore(settings.workers)
        self._starting = asyncio.Lock()
        self._keeper: Keeper | None = None
        self._stack = AsyncExitStack()  # what goes with the keeper
        self._proxy = ""  # its host and port
        self._releasing: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._most = 0  # programs that ran at once since the keeper was started
        self.running = 0
        self.walled = False  # whether the last keeper was behind a wall

    @property
    def idle(self) -> int:
        """Workers that were needed and are not now; they go with the keeper."""
        return self._most - self.running

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._releasing is not None:
            self._releasing.cancel()
        async with self._starting:
            await self._release()
        await asyncio.gather(*self._closing, return_exceptions=True)

    async def run(self, request: Request) -> Answer:
        """Run the program that a request names, by the `Job` that is its payload."""
        try:
            job = msgspec.json.decode(request.payload, type=Job)
            data = _data(self._settings, job.folder)
        except (msgspec.MsgspecError, ValueError) as error:
            return Answer(ran=Ran(failure=f"not a job: {error}"))
        known = {"RONDA_URL": request.url, "RONDA_TIMEOUT": f"{job.timeout:g}"}
        async with self._passage.permit(request.public) as permit:
            order = self._order(
                (job.program, *job.arguments), job.timeout, known, job.input, str(data)
            )
            ran = await self._carry_out(order, permit.password, request.public)
            ran = replace(ran, refused=permit.refused)
        return Answer(ran=ran, timings=Timings(total=ran.seconds))

    async def identify(self, path: str) -> Ran:
        """Ask a program for its name; it has no network meanwhile."""
        return await self._carry_out(self._order((path, "identify"), IDENTIFY, {}))

    def _order(
        self,
        command: tuple[str, ...],
        timeout: float,
        known: Mapping[str, str],
        given: str = "",
        data: str = "",
    ) -> Order:
        limits = self._settings
        return Order(
            command=command,
            input=given,
            environment={**_environment(), **known},
            data=data,
            timeout=timeout,
            grace=GRACE,
            memory=limits.memory,
            file_size=limits.file_size,
            files=limits.files,
            output=limits.output,
        )

    async def _carry_out(
        self, order: Order, password: str = "", public: bool = False
    ) -> Ran:
        async with self._places:
            self.running += 1
            try:
                keeper = await self._kept()
                if public and not self.walled:
                    return Ran(failure=_UNWALLED)
                proxy = _proxied(password, self._proxy) if password else {}
                environment = order.environment | proxy
                return await keeper.run(replace(order, environment=environment))
            except (OSError, TimeoutError) as error:
                log.error("a program cannot be run: %s", error)
                return Ran(failure=f"cannot be run: {error}")
            finally:
                self.running -= 1
                self._rest()

    # -- the keeper ----------------------------------------------------------------

    async def _kept(self) -> Keeper:
        """The keeper, which is started if there is none, or none alive."""
        if self._releasing is not None:
            self._releasing.cancel()
        async with self._starting:
            if self._keeper is None or not self._keeper.is_alive:
                await self._release()
                self._keeper = await self._start()
            self._most = max(self._most, self.running)
            return self._keeper

    async def _start(self) -> Keeper:
        async with AsyncExitStack() as stack:
            keeper = await Keeper.start(self._walls)
            stack.push_async_callback(keeper.close)
            self.walled = keeper.door is not None
            # In its own namespace, if it has one; on our loopback otherwise.
            where = {"sock": keeper.door} if keeper.door else {"host": "127.0.0.1"}
            server = await asyncio.start_server(self._passage.meet, **where)
            stack.callback(server.close)
            host, port = server.sockets[0].getsockname()
            self._proxy = f"{host}:{port}"
            self._stack = stack.pop_all()
        log.debug("programs are kept by %s", "a wall" if self.walled else "nothing")
        return keeper

    async def _release(self) -> None:
        self._keeper, self._most = None, 0
        await self._stack.aclose()

    def _rest(self) -> None:
        """Let the keeper go when nothing was run for a time."""
        if self.running or self._keeper is None:
            return
        loop = asyncio.get_running_loop()
        self._releasing = loop.call_later(self._settings.idle, self._let_go)

    def _let_go(self) -> None:
        closing = asyncio.create_task(self._leave(), name="keeper leaves")
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def _leave(self) -> None:
        async with self._starting:
            if not self.running:
                await self._release()


def _data(settings: Tasks, folder: str) -> Path:
    """The folder that a program keeps.

    Raises:
        ValueError: its name leads elsewhere.
    """
    name = PurePosixPath(folder)
    if not folder or name.is_absolute() or ".." in name.parts or not name.parts:
        raise ValueError(f"{folder!r} is no name for a folder")
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    root = Path(settings.data) if settings.data else Path(state, "ronda", "tasks")
    return root.expanduser().absolute() / name


def _environment() -> dict[str, str]:
    """All that a program learns of ours."""
    same = {name: os.environ[name] for name in _PASSED if name in os.environ}
    words = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
    return {"PATH": _DEFAULT_PATH, "TZ": "UTC", **words, **same}


def _proxied(password: str, place: str) -> dict[str, str]:
    """The way through the passage, in the words of those who look for it."""
    user = f"run:{password}"
    web, names = f"http://{user}@{place}", f"socks5h://{user}@{place}"
    ways = {"http": web, "https": web, "ftp": names, "all": names, "no": ""}
    lower = {f"{name}_proxy": way for name, way in ways.items()}
    return {
        **lower,
        **{name.upper(): way for name, way in lower.items()},
        "GDAL_HTTP_PROXY": place,
        "GDAL_HTTP_PROXYUSERPWD": user,
        "RSYNC_PROXY": f"{user}@{place}",
    }
