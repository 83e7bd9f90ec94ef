"""The rows of politeness: how fast whom may be asked."""

from typing import Annotated

from msgspec import Meta, Struct

from ronda.config.kinds import Count, Gap, Seconds

EVERYTHING = "*"  # what a row matches that names nobody


class Politeness(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How fast hosts, and the servers behind them, may be asked.

    Each row speaks for the hosts or addresses it matches; a later row goes before an
    earlier one, and rows for everything (`*`) come first wherever they stand. What no
    row sets depends on whose machine it is: strangers are asked with care, your own
    machines (loopback, private addresses) without limits.
    """

    match: Annotated[
        str,
        Meta(
            description="Whom the row speaks for: a host, a pattern such as "
            "*.example.org, an address, or a network such as 10.0.0.0/8."
        ),
    ] = EVERYTHING
    interval: Annotated[
        Gap | None,
        Meta(
            description="Seconds between two requests to one host; "
            "not set: 0.2, and 0 for your own machines (loopback, private).",
            examples=[0.2],
        ),
    ] = None
    per_host: Annotated[
        Count | None,
        Meta(
            description="Requests to one host at once; "
            "not set: 4, and 6 for your own machines.",
            examples=[4],
        ),
    ] = None
    server_interval: Annotated[
        Gap | None,
        Meta(
            description="Seconds between two requests to one address, whatever its "
            "names; not set: 0.1, and 0 for your own machines.",
            examples=[0.1],
        ),
    ] = None
    per_server: Annotated[
        Count | None,
        Meta(
            description="Requests to one address at once; "
            "not set: 8, and no limit for your own machines.",
            examples=[8],
        ),
    ] = None
    class_interval: Annotated[
        Gap | None,
        Meta(
            description="Seconds between two calls of a plug-in for one class of its "
            "URLs; not set: 1.",
            examples=[1.0],
        ),
    ] = None
    factor: Annotated[
        Gap | None,
        Meta(
            description="A slow host is asked less often: the gap is at least this "
            "many times its last answer; not set: 1, and 0 for your own machines.",
            examples=[1.0],
        ),
    ] = None
    ceiling: Annotated[
        Gap | None,
        Meta(
            description="Longest gap, in seconds, that a slow answer makes; "
            "not set: 30.",
            examples=[30.0],
        ),
    ] = None
    crawl_delay_limit: Annotated[
        Gap | None,
        Meta(
            description="Longest Crawl-delay of a robots.txt, in seconds, that is "
            "kept; longer ones are cut to it; not set: 300.",
            examples=[300.0],
        ),
    ] = None
    max_wait: Annotated[
        Gap | None,
        Meta(
            description="Longest Retry-After, in seconds, that is waited for; a host "
            "that asks for more is left alone; not set: 60.",
            examples=[60.0],
        ),
    ] = None
    failures_to_rest: Annotated[
        Count | None,
        Meta(
            description="Connections to a host that fail in a row before it is left "
            "alone; not set: 5, and never for your own machines.",
            examples=[5],
        ),
    ] = None
    rest: Annotated[
        Seconds | None,
        Meta(
            description="Seconds such a host is left alone, doubled each time up to "
            "an hour; not set: 60.",
            examples=[60.0],
        ),
    ] = None
