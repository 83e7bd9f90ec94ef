"""The sections of ronda.toml as one frozen tree."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ronda import __version__
from ronda.config.kinds import Count, Gap, Seconds, Steps, Tries
from ronda.config.politeness import Politeness
from ronda.config.serving import Control, Notices, Plan, Serve, Store, Tasks
from ronda.config.watching import Intervals, PlannedRound

# The description of a setting stands at its field, and nowhere else: docs/reference/
# and ronda.example.toml are made from here. None is "no limit" or "it depends", and
# such a setting has an example of what may stand in its place.


class Check(Struct, frozen=True, forbid_unknown_fields=True):
    """What is checked, and what counts as good."""

    method: Annotated[
        Literal["auto", "HEAD", "GET"],
        Meta(description="How to ask: HEAD, then GET where HEAD fails (auto); or one."),
    ] = "auto"
    accept: Annotated[
        tuple[str, ...],
        Meta(description="What to take for good: 403, 500-599 or a code: tls_expired."),
    ] = ()
    include: Annotated[
        tuple[str, ...],
        Meta(
            description="Check only URLs that match: a host, the beginning of a URL, "
            "a text with *, or re:REGEX."
        ),
    ] = ()
    exclude: Annotated[
        tuple[str, ...],
        Meta(
            description="Leave out URLs that match; also one pattern a line in "
            ".rondaignore."
        ),
    ] = ()
    base_url: Annotated[
        str, Meta(description="Where relative links are seen from; empty: their file.")
    ] = ""
    strict_lists: Annotated[
        bool,
        Meta(
            description="Tell of every line of a text list in which no URL stands; "
            "`ronda target add` and `ronda register` always do."
        ),
    ] = False
    links: Annotated[
        bool,
        Meta(description="Check the links on a URL that is given as an input too."),
    ] = True
    fragments: Annotated[
        bool, Meta(description="Check that the anchors that links point to exist.")
    ] = False
    column: Annotated[
        str, Meta(description="The column of a CSV file that holds the URLs.")
    ] = "url"
    robots: Annotated[
        bool, Meta(description="Ask each host for its robots.txt first, and obey it.")
    ] = True
    max_redirects: Annotated[
        int, Meta(ge=0, le=50, description="Redirects that are followed for one URL.")
    ] = 10
    certificate_days: Annotated[
        int, Meta(ge=0, description="Warn of certificates that end within these days.")
    ] = 14
    slow: Annotated[
        Seconds | None,
        Meta(
            description="Warn of answers that take more seconds; not set: never.",
            examples=[5.0],
        ),
    ] = None
    max_time: Annotated[
        Seconds | None,
        Meta(
            description="Seconds after which the run ends; not set: no limit.",
            examples=[600.0],
        ),
    ] = None


Scope = Literal["directory", "host", "domain", "directory+1", "host+1", "any"]


class Crawl(Struct, frozen=True, forbid_unknown_fields=True):
    """How far a crawl goes, and what it keeps."""

    scope: Annotated[
        Scope,
        Meta(
            description="Which pages are followed: those under the directory of a "
            "first page, on its host, or on its domain; with +1 also one step "
            "outside; or any. Other links are checked once, and not followed."
        ),
    ] = "host"
    depth: Annotated[
        Steps | None,
        Meta(description="Links from the first page to the last that is followed."),
    ] = 50
    external_depth: Annotated[
        Steps, Meta(description="Steps outside the scope that are followed too.")
    ] = 0
    max_pages: Annotated[
        Count | None, Meta(description="Pages that are followed at most.")
    ] = 1_000_000
    max_bytes: Annotated[
        Count | None,
        Meta(
            description="Bytes of bodies after which the crawl ends; not set: any.",
            examples=[1_000_000_000],
        ),
    ] = None
    bandwidth: Annotated[
        Count | None,
        Meta(
            description="Bytes a second that are received, in all; not set: any.",
            examples=[1_000_000],
        ),
    ] = None
    content_types: Annotated[
        tuple[str, ...],
        Meta(
            description="Follow only pages of these media types, such as text/*; "
            "empty: every kind that can be read."
        ),
    ] = ()
    max_queries: Annotated[
        Steps, Meta(description="Query strings of one path that are followed.")
    ] = 10_000
    traps: Annotated[
        bool,
        Meta(
            description="Do not follow what never ends: calendars, session ids, paths "
            "that repeat themselves."
        ),
    ] = True
    nofollow: Annotated[
        bool,
        Meta(
            description="Check, but do not follow, links that say nofollow, and links "
            "of pages that say so."
        ),
    ] = True
    sitemaps: Annotated[
        bool, Meta(description="Follow the sitemaps that a robots.txt names.")
    ] = True
    priority: Annotated[
        tuple[str, ...],
        Meta(
            description="Which pages come first, PATTERN=+n: as if they were n links "
            "nearer. Patterns are those of `include`."
        ),
    ] = ()
    db: Annotated[
        str,
        Meta(
            description="A file that remembers the crawl: an interrupted one goes on, "
            "the next one asks only for what has changed."
        ),
    ] = ""
    save: Annotated[
        str, Meta(description="A folder to save the pages to, readable offline.")
    ] = ""
    warc: Annotated[
        str, Meta(description="A WARC file to record requests and answers in.")
    ] = ""
    plugins: Annotated[
        tuple[str, ...],
        Meta(description="Plug-ins that are told what happens, and may say no."),
    ] = ()
    watch: Annotated[
        bool, Meta(description="Show what each worker of the crew is doing.")
    ] = False


class Frontier(Struct, frozen=True, forbid_unknown_fields=True):
    """How much waits in memory, and how it is shared out."""

    queue_count: Annotated[
        Count, Meta(description="Hosts that have a queue at once; others wait.")
    ] = 100_000
    queue_length: Annotated[
        Count, Meta(description="Visits in the queue of one host; more spill over.")
    ] = 100
    capacity: Annotated[
        Count,
        Meta(description="Visits that wait in memory, in all; further ones on disk."),
    ] = 1_000_000
    hosts_per_server: Annotated[
        Count,
        Meta(
            description="Hosts on one address that have a queue at once; the others "
            "wait for one of them to be done."
        ),
    ] = 100


class Fetch(Struct, frozen=True, forbid_unknown_fields=True):
    """How requests are made."""

    concurrency: Annotated[
        int, Meta(ge=1, le=4000, description="Requests under way at once, in all.")
    ] = 128
    processes: Annotated[
        int,
        Meta(
            ge=1,
            le=64,
            description="Processes that ask; more help with many https hosts.",
        ),
    ] = 1
    timeout: Annotated[
        Seconds, Meta(description="Seconds that one request may take.")
    ] = 20.0
    connect_timeout: Annotated[
        Seconds, Meta(description="Seconds of that time to connect, TLS included.")
    ] = 10.0
    min_rate: Annotated[
        int,
        Meta(
            ge=0,
            description="Bytes a second that a body must bring once it has begun; "
            "0: any. What comes before it, and silence, have until the time-out.",
        ),
    ] = 100
    min_rate_seconds: Annotated[
        Seconds, Meta(description="Seconds for which a body may be slower than that.")
    ] = 20.0
    retries: Annotated[
        Tries, Meta(description="Further tries after a temporary fault.")
    ] = 2
    retry_gap: Annotated[
        Gap,
        Meta(
            description="Seconds before the first further try; each next one doubles."
        ),
    ] = 1.0
    user_agent: Annotated[
        str,
        Meta(
            description="Who we say we are, also to robots.txt (up to the slash); "
            "empty: ronda and its version."
        ),
    ] = ""
    contact: Annotated[
        str, Meta(description="A URL or mail address, added to the user agent.")
    ] = ""
    headers: Annotated[
        dict[str, str],
        Meta(description="Headers to send with every request, to every host."),
    ] = {}
    insecure: Annotated[bool, Meta(description="Do not verify certificates.")] = False
    ca_file: Annotated[
        str,
        Meta(description="Trusted certificates, a PEM file; empty: the system's."),
    ] = ""
    ssh_key: Annotated[
        str,
        Meta(description="A private key for sftp; empty: only passwords are offered."),
    ] = ""
    http2: Annotated[
        bool, Meta(description="Speak HTTP/2 with https servers that offer it.")
    ] = True
    body_limit: Annotated[
        int, Meta(ge=1024, description="Bytes of a page that are read for its links.")
    ] = 10_000_000
    name_servers: Annotated[
        tuple[str, ...],
        Meta(description="Name servers, address or address:port; empty: the system's."),
    ] = ()

    @property
    def agent(self) -> str:
        """The user agent as it is sent."""
        name = self.user_agent or f"ronda/{__version__}"
        return f"{name} (+{self.contact})" if self.contact else name


class Guard(Struct, frozen=True, forbid_unknown_fields=True):
    """Which addresses may be asked."""

    allow: Annotated[
        tuple[str, ...],
        Meta(
            description="Networks or addresses that may always be asked, such as "
            "10.1.0.0/16, whoever named them."
        ),
    ] = ()
    public_only: Annotated[
        bool,
        Meta(
            description="Ask public addresses only, and look at files of the working "
            "directory only: for documents that strangers wrote."
        ),
    ] = False


class Report(Struct, frozen=True, forbid_unknown_fields=True):
    """What is shown and written."""

    format: Annotated[
        str, Meta(description="What to print: the name of a report format.")
    ] = "text"
    output: Annotated[
        tuple[str, ...],
        Meta(description="Files to write too; the ending of each picks its format."),
    ] = ()
    quiet: Annotated[
        bool, Meta(description="Print nothing but mistakes in the input.")
    ] = False
    verbose: Annotated[bool, Meta(description="Print good results too.")] = False
    request_log: Annotated[
        str,
        Meta(
            description="A file to write every request to, for `ronda audit`; "
            "empty: none."
        ),
    ] = ""
    progress: Annotated[
        bool, Meta(description="Show on standard error how far the run is.")
    ] = True
    colour: Annotated[bool, Meta(description="Use colours in a terminal.")] = True


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that can be set."""

    check: Check = Check()
    crawl: Crawl = Crawl()
    politeness: tuple[Politeness, ...] = (Politeness(),)
    frontier: Frontier = Frontier()
    fetch: Fetch = Fetch()
    guard: Guard = Guard()
    store: Store = Store()
    serve: Serve = Serve()
    schedule: tuple[Intervals, ...] = (Intervals(),)
    rounds: tuple[PlannedRound, ...] = ()
    tasks: Tasks = Tasks()
    plans: tuple[Plan, ...] = ()
    control: Control = Control()
    notices: Notices = Notices()
    report: Report = Report()
