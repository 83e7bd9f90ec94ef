"""Every error raised on purpose.

RondaError
├── UsageError      a wrong option, input or setting: exit code 2
│   └── SettingsError   a wrong key or value in ronda.toml
├── NotFoundError   what was asked for is not there: exit code 1
├── DeniedError     whoever asks may not do that: exit code 1
├── InputError      one piece of input that cannot be read; the rest goes on
├── UrlError        a text that is not a URL
├── CrewError       the workers of a run are at fault: a bug of ours
└── StoreError      the store cannot be used as it is
    └── StoreBusyError  it may be used again later: locked, full, not reached
"""


class RondaError(Exception):
    """The base of all of them; its text is one line for people."""

    exit_code = 1


class UsageError(RondaError):
    """The command cannot be carried out as it was given."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting is unknown, of the wrong type or impossible."""


class NotFoundError(RondaError):
    """What was asked for is not there."""


class DeniedError(RondaError):
    """Whoever asks may not do that."""


class InputError(RondaError):
    """An input cannot be read."""


class UrlError(RondaError):
    """A text is not a URL."""


class CrewError(RondaError):
    """A worker did what no worker may do, or none is left to do anything."""

    exit_code = 2


class StoreError(RondaError):
    """The store cannot be opened, or does not hold what it should."""

    exit_code = 2


class StoreBusyError(StoreError):
    """The store cannot be used now: locked, full, or not to be reached."""
