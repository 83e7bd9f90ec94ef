"""Web app manifests: what an app starts with, its icons, pictures and shortcuts."""

from collections.abc import Iterator

from ronda import config
from ronda.model import Link, Problem
from ronda.targets.encoding import decoded
from ronda.targets.jsontext import Path, links, value
from ronda.targets.source import Readable

# Where a manifest names URLs, whatever the place within a list. Not: share_target and
# protocol_handlers, which take what is sent to them.
_NAMING = frozenset(
    {
        ("start_url",),
        ("scope",),
        ("icons", "src"),
        ("screenshots", "src"),
        ("shortcuts", "url"),
        ("shortcuts", "icons", "src"),
        ("related_applications", "url"),
        ("serviceworker", "src"),
    }
)


def read(
    stream: Readable, document: str, _options: config.Check
) -> Iterator[Link | Problem]:
    """The references of a manifest, in its order."""
    return links(decoded(stream.read()), document, _named)


def _named(string: str, path: Path) -> str:
    keys = tuple(key.strip('"') for key in path if isinstance(key, str))
    return value(string).strip() if keys in _NAMING else ""
