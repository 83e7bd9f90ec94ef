"""`ronda demo`: a small web with one of every fault, checked before your eyes."""

import asyncio

import click

from ronda.cli.check import check_inputs
from ronda.cli.codes import INTERRUPTED
from ronda.config import Check, Fetch, Report, Settings

# Short, so that the silent server and the flaky ones do not keep anybody waiting.
TIMEOUT = 1.5  # seconds
RETRY_GAP = 0.2  # seconds


@click.command()
@click.option("--verbose", "-v", is_flag=True, help="Print good results too.")
@click.option(
    "--output",
    "-o",
    multiple=True,
    metavar="FILE",
    help="Write a report to a file too, as for `ronda check`.",
)
def demo(verbose: bool, output: tuple[str, ...]) -> int:
    """Check a small web with one of every fault; needs no network.

    It is served on this machine's loopback address, checked as any other site would
    be, and gone when the report is shown.
    """
    return asyncio.run(_demo(Report(verbose=verbose, output=output)))


async def _demo(report: Report) -> int:
    # Not at the top: the list of commands must not wait for a certificate library.
    from ronda.cli.demo.web import DemoWeb  # noqa: PLC0415

    async with DemoWeb() as web:
        settings = Settings(
            check=Check(fragments=True),
            fetch=Fetch(
                timeout=TIMEOUT,
                retries=1,
                retry_gap=RETRY_GAP,
                ca_file=web.ca_file,
                name_servers=(web.name_server,),
            ),
            report=report,
        )
        click.echo(f"A small web at {web.front} is being checked.\n", err=True)
        code = await check_inputs(settings, web.pages)
    return code if code == INTERRUPTED else 0  # its faults are what it is for
