"""The daemon's life: serve, read settings again, end in stages."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager

from ronda.app.watching import Session, require, watch
from ronda.config import Settings
from ronda.errors import RondaError, SettingsError, UsageError
from ronda.server import systemd
from ronda.server.console import Console
from ronda.server.control import Control
from ronda.server.monitoring import Overseer
from ronda.store import RequestLog
from ronda.store.sql.store import Store
from ronda.store.sql.values import Entry
from ronda.workers.desk import Desk

RELOAD_GRACE = 30.0  # seconds that checks under way have when settings are read again


class Daemon:
    """Watches in sessions: one after the other, each with the settings of its time."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        tell: Callable[[str], None],
        *,
        read_again: Callable[[], Settings] | None = None,
        log: RequestLog | None = None,
        heard: Callable[[Entry], None] | None = None,
    ) -> None:
        self._settings = settings
        self._store = store
        self._tell = tell  # one line for people
        self._read_again = read_again  # the settings, at a SIGHUP
        self._log = log
        self._heard = heard  # told each result
        self._session: Session | None = None
        self._desk = Desk(tell)
        self._overseer = Overseer(store, self._end)
        self._asked = 0  # how often it was asked to stop
        self._reloads = False
        self._good: Settings | None = None  # those with which it could begin

    async def serve(self, greeting: str) -> None:
        """Watch until asked to stop.

        Args:
            greeting: told once, when signals are heard and the settings are good.

        Raises:
            SettingsError: what no type can say of the settings is wrong.
            StoreError: the store cannot be used any more.
        """
        beating = asyncio.create_task(systemd.stay_alive(), name="systemd")
        try:
            with self._signals():
                require(self._settings)  # raises before anything is begun
                self._tell(greeting)
                async with Console(self._settings.control, self._overseer, self._tell):
                    await self._serve()
        finally:
            systemd.tell(systemd.STOPPING)
            beating.cancel()
            self._desk.give_up()
            self._desk.close()

    async def _serve(self) -> None:
        while not self._asked:
            self._reloads = False
            settings = self._settings
            opened = watch(
                settings,
                self._store,
                self._desk,
                self._tell,
                log=self._log,
                heard=self._hear,
            )
            async with AsyncExitStack() as stack:
                try:
                    session = await stack.enter_async_context(opened)
                except SettingsError as error:
                    self._go_back(error)
                    continue
                self._good = settings
                # Whoever spoke meanwhile, nobody heard.
                if not self._asked and not self._reloads:
                    await self._carry_out(session)
            if session.lost and not self._asked:
                self._tell("another process took this one for dead: beginning anew")

    async def _carry_out(self, session: Session) -> None:
        self._session = self._overseer.session = session
        try:
            async with Control(session.account, session.poke):
                systemd.tell(systemd.READY)
                await session.carry_out()
        finally:
            self._session = self._overseer.session = None

    def _go_back(self, error: SettingsError) -> None:
        """Settings that were read again name tasks or folders that there are not."""
        if self._good is None or self._settings is self._good:
            raise error
        self._tell(f"{error}; going on with the settings as they were")
        self._settings = self._good

    def _hear(self, entry: Entry) -> None:
        if self._heard is not None:
            self._heard(entry)
        self._overseer.heard(entry)

    # -- signals ---------------------------------------------------------------------

    @contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        heard = {
            signal.SIGINT: self._stop,
            signal.SIGTERM: self._stop,
            signal.SIGHUP: self._reload,
        }
        for number, hear in heard.items():
            loop.add_signal_handler(number, hear)
        try:
            yield
        finally:
            for number in heard:
                loop.remove_signal_handler(number)

    def _stop(self) -> None:
        self._asked += 1
        grace = self._settings.serve.grace if self._asked == 1 else 0.0
        if self._asked == 1:
            systemd.tell(systemd.STOPPING)
            self._tell(f"stopping: what is under way has {grace:g} s")
        else:
            self._desk.give_up()
        # A store that cannot be used must not keep us for ever.
        asyncio.get_running_loop().call_later(grace, self._desk.give_up)
        if self._session is not None:
            self._session.stop("stopped", grace)

    def _end(self) -> None:
        """Stop because somebody said so: saying it twice is no hurry."""
        if not self._asked:
            self._stop()

    def _reload(self) -> None:
        if self._read_again is None:
            return
        systemd.reloading()
        try:
            settings = self._read_again()
            if settings.store.db != self._settings.store.db:
                raise UsageError("store.db cannot change while the daemon runs")
            require(settings)
        except RondaError as error:
            self._tell(f"{error}; going on with the settings as they were")
            systemd.tell(systemd.READY)
            return
        if settings.control != self._settings.control:
            self._tell("control: takes effect when the daemon is started anew")
        self._settings = settings
        self._reloads = True
        self._tell("settings were read again")
        if self._session is not None:
            self._session.stop("settings were read again", RELOAD_GRACE)
