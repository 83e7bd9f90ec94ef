"""What the store answers, as programs read it: moments in ISO 8601, no passwords."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from ronda.cli.report.safe import safe_text
from ronda.cli.watch.times import iso

# Fields that hold a moment, besides those that end so.
_MOMENTS = frozenset({"at", "since", "until", "next_due"})
_AT = "_at"


def tree(value: Any) -> Any:
    """A value of the store, ready for JSON."""
    if isinstance(value, Struct):
        pairs = ((name, getattr(value, name)) for name in value.__struct_fields__)
        return {name: _field(name, part) for name, part in pairs if part is not UNSET}
    if isinstance(value, Mapping):
        return {str(key): tree(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [tree(part) for part in value]
    if isinstance(value, str):
        return safe_text(value)
    return msgspec.to_builtins(value)


def _field(name: str, value: Any) -> Any:
    is_moment = name in _MOMENTS or name.endswith(_AT)
    if is_moment and isinstance(value, int | float | None):
        return iso(value)
    return tree(value)
