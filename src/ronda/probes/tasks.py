"""The table of tasks: built-in ones, third parties by entry point, programs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from msgspec.structs import replace

from ronda.errors import SettingsError
from ronda.probes import congruence, statuscodes
from ronda.probes.registry import Handlers
from ronda.probes.task import Asked, Row

ENTRY_POINTS = "ronda.tasks"

# A new task is one file and one row; plans have them in this order.
TASKS: tuple[Callable[[Handlers], Row], ...] = (
    lambda _: congruence.ROW,
    statuscodes.row,
)


def rows(handlers: Handlers, programs: Iterable[Row] = ()) -> list[Row]:
    """All tasks, in the order in which plans have them; a name counts once."""
    found: dict[str, Row] = {}
    for row in (*(make(handlers) for make in TASKS), *_third_parties(), *programs):
        taken = found.get(row.name)
        if taken is None:
            found[row.name] = row
        else:
            where = row.script or row.function
            fault = f"there is a task {row.name} already: {taken.script}"
            found[where] = replace(row, name=where, task=None, fault=fault)
    return list(found.values())


def checked(
    plans: Mapping[str, tuple[str, ...]], known: Iterable[Row]
) -> Mapping[str, tuple[str, ...]]:
    """The plans of the settings, once all of their tasks are known.

    Raises:
        SettingsError: one of them is not, or cannot be used.
    """
    tasks = {row.name: row for row in known}
    for number, (kind, names) in enumerate(plans.items()):
        for name in names:
            row = tasks.get(name)
            fault = "`ronda task list` shows all" if row is None else row.fault
            if row is None or row.task is None:
                words = f"plans[{number}].tasks: the plan of {kind} names {name!r}"
                raise SettingsError(f"{words}, which is no task: {fault}")
    return plans


def _third_parties() -> Iterator[Row]:
    for point in _entry_points():
        try:
            made: Any = point.load()
            task = Asked(made.ask, made.judge)
            words = str(getattr(made, "DESCRIPTION", ""))
            kinds = tuple(getattr(made, "KINDS", ()))
        except Exception as error:  # a third party's code may do anything
            fault = f"{type(error).__name__}: {error}"
            yield Row(name=point.name, fault=fault, function=point.value)
            continue
        yield Row(
            name=point.name,
            description=words,
            kinds=kinds,
            task=task,
            procedure="plug_in",
            function=point.value,
        )


@cache
def _entry_points() -> tuple[Any, ...]:
    # As for schemes: only where tasks are wanted, for it takes long.
    from importlib.metadata import entry_points  # noqa: PLC0415

    found = entry_points(group=ENTRY_POINTS)
    return tuple(sorted(found, key=lambda point: point.name))
