"""What happens in a run, told to plug-ins; those asked before something may say no.

A plug-in is any object with some of these methods, found by its entry point in
`ronda.events`. They are called on the event loop, so they must not take long. One that
raises is told of once, and the run goes on without it.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any

from ronda.errors import SettingsError
from ronda.model import Answer, Found, Request, Summary

log = logging.getLogger(__name__)

ENTRY_POINTS = "ronda.events"
HOOKS = ("before_request", "after_request", "link_found", "page_parsed", "run_ended")


class Events:
    """Every hook of every plug-in, in the order in which they were named."""

    def __init__(self, plugins: Iterable[tuple[str, Any]]) -> None:
        self._hooks: dict[str, list[tuple[str, Callable[..., Any]]]] = {}
        for name, plugin in plugins:
            found = [hook for hook in HOOKS if callable(getattr(plugin, hook, None))]
            if not found:
                words = f"'{name}' has none of {', '.join(HOOKS)}"
                raise SettingsError(f"crawl.plugins: {words}")
            for hook in found:
                self._hooks.setdefault(hook, []).append((name, getattr(plugin, hook)))
        self.failures: dict[str, str] = {}  # plug-in and hook → what it raised first

    def __bool__(self) -> bool:
        return bool(self._hooks)

    def before_request(self, request: Request) -> bool:
        """Whether a request may be made."""
        return self._ask("before_request", request)

    def after_request(self, request: Request, answer: Answer) -> None:
        """A request was answered."""
        self._tell("after_request", request, answer)

    def link_found(self, found: Found) -> bool:
        """Whether a link is taken in."""
        return self._ask("link_found", found)

    def page_parsed(self, url: str, answer: Answer) -> None:
        """The links of a page were found."""
        self._tell("page_parsed", url, answer)

    def run_ended(self, summary: Summary) -> None:
        """All is over."""
        self._tell("run_ended", summary)

    def _ask(self, hook: str, *values: Any) -> bool:
        """Whether nobody says no; only False is no."""
        return all(
            self._called(hook, name, method, values) is not False
            for name, method in self._hooks.get(hook, ())
        )

    def _tell(self, hook: str, *values: Any) -> None:
        for name, method in self._hooks.get(hook, ()):
            self._called(hook, name, method, values)

    def _called(
        self, hook: str, name: str, method: Callable[..., Any], values: tuple[Any, ...]
    ) -> Any:
        key = f"{name}.{hook}"
        if key in self.failures:
            return None
        try:
            return method(*values)
        except Exception as error:  # a third party's code may do anything
            log.exception("plug-in failed: %s", key)
            self.failures[key] = f"{type(error).__name__}: {error}"
            return None


def load(names: Iterable[str]) -> Events:
    """The plug-ins of some names.

    Raises:
        SettingsError: there is no such plug-in, or it cannot be loaded.
    """
    wanted = tuple(names)
    if not wanted:
        return Events(())
    from importlib.metadata import entry_points  # noqa: PLC0415  # hardly ever needed

    known = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    found = []
    for name in wanted:
        if name not in known:
            words = f"no plug-in '{name}'; known: {', '.join(sorted(known)) or 'none'}"
            raise SettingsError(f"crawl.plugins: {words}")
        try:
            plugin = known[name].load()
            found.append((name, plugin() if isinstance(plugin, type) else plugin))
        except Exception as error:
            words = f"'{name}' cannot be loaded: {type(error).__name__}: {error}"
            raise SettingsError(f"crawl.plugins: {words}") from None
    return Events(found)
