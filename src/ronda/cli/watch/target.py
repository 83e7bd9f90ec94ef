"""`ronda target`: what is watched."""

import click

from ronda.cli.groups import Group
from ronda.cli.watch.acting import ack, check, disable, enable, remove
from ronda.cli.watch.adding import add
from ronda.cli.watch.history import history
from ronda.cli.watch.listing import list_
from ronda.cli.watch.showing import show


@click.group("target", cls=Group, short_help="Watch URLs: add, list, check, remove.")
def target() -> None:
    """Watch URLs over time: add them, see their states, say what should happen.

    They are checked by `ronda serve`, which may be running meanwhile or not.

    \b
    Examples:
      ronda target add --file urls.txt
      ronda target list --state broken
      ronda target history https://your.site/shop --since 30d
    """  # noqa: D301  # click reads \b


for _command in (add, list_, show, remove, enable, disable, check, ack, history):
    target.add_command(_command)
