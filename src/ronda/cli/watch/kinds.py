"""What options may hold: time spans, moments, labels."""

import time

import click

from ronda.cli.watch import times
from ronda.errors import UsageError
from ronda.model import State

LONGEST_LABEL = 100  # characters
RULES = "rules"  # in the place of a time span: as the settings say
STATE = click.Choice([state.value for state in State])


def span(ctx: click.Context, param: click.Parameter, text: str | None) -> float | None:
    """A time span, as seconds."""
    try:
        return None if text is None else times.seconds(text)
    except UsageError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def every(ctx: click.Context, param: click.Parameter, text: str | None) -> float | None:
    """A time span, as seconds; 0 where the rules are to say it."""
    if text is not None and text.strip().lower() == RULES:
        return 0.0
    try:
        return None if text is None else times.seconds(text)
    except UsageError as error:
        raise click.BadParameter(f"{error}, or {RULES}", ctx, param) from None


def moment(
    ctx: click.Context, param: click.Parameter, text: str | None
) -> float | None:
    """A moment, as epoch seconds."""
    try:
        return None if text is None else times.moment(text, time.time())
    except UsageError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def labels(
    ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...]:
    """Words to find targets by, each once."""
    found = tuple(dict.fromkeys(text.strip() for text in texts))
    for text in found:
        if not text or len(text) > LONGEST_LABEL or not text.isprintable():
            words = f"a label is one line of 1 to {LONGEST_LABEL} characters"
            raise click.BadParameter(words, ctx, param)
    return found
