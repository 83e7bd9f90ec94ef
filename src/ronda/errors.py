"""Every error raised on purpose.

RondaError
├── UsageError      a wrong option, input or setting: exit code 2
│   └── SettingsError   a wrong key or value in ronda.toml
├── InputError      one piece of input that cannot be read; the rest goes on
├── UrlError        a text that is not a URL
└── CrewError       the workers of a run are at fault: a bug of ours
"""


class RondaError(Exception):
    """The base of all of them; its text is one line for people."""

    exit_code = 1


class UsageError(RondaError):
    """The command cannot be carried out as it was given."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting is unknown, of the wrong type or impossible."""


class InputError(RondaError):
    """An input cannot be read."""


class UrlError(RondaError):
    """A text is not a URL."""


class CrewError(RondaError):
    """A worker did what no worker may do, or none is left to do anything."""

    exit_code = 2
