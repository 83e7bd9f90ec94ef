"""The words of Ronda as frozen values: what is found, asked, answered and judged."""

from enum import StrEnum

from msgspec import Struct, field


class State(StrEnum):
    """What a verdict says of a target, from best to worst to none."""

    OK = "ok"
    WARNING = "warning"  # works, but needs a hand
    TEMPORARY = "temporary"  # may heal by itself
    BROKEN = "broken"  # dead
    BLOCKED = "blocked"  # not ours to judge
    UNSUPPORTED = "unsupported"  # no handler for it
    UNKNOWN = "unknown"  # never checked, or our own fault


class Via(StrEnum):
    """Who carries a request: libcurl, a name server, a blocking plug-in, a program."""

    CURL = "curl"
    MX = "mx"
    CALL = "call"
    PROGRAM = "program"


# -- where targets come from -------------------------------------------------


class Place(Struct, frozen=True, gc=False, omit_defaults=True):
    """Where a link stands."""

    document: str  # path or URL; "-" is standard input, "" the command line
    line: int = 0  # from 1; 0 is not known
    column: int = 0  # from 1; 0 is not known
    text: str = ""  # the words of the link, cut at 120 characters
    tag: str = ""  # the element that names it; "css" in a style; "" elsewhere


class Link(Struct, frozen=True, gc=False):
    """A reference as a document writes it, before it is resolved."""

    url: str
    place: Place
    base: str = ""  # the document's own base (HTML's <base>), when it names one
    rel: str = ""  # how HTML says the two are related: nofollow, canonical, …


class Found(Struct, frozen=True, gc=False):
    """A reference resolved to an absolute, normalised URL (its fragment kept)."""

    url: str
    place: Place
    reads: bool = False  # a document named by the user: its links are wanted too
    public: bool = False  # named by a stranger: it may lead to public addresses only
    rel: str = ""  # as in Link
    written: str = ""  # the absolute URL as it stands there, where that is not `url`


class Problem(Struct, frozen=True):
    """A piece of input that cannot be used: what is wrong, where, what to do."""

    place: Place
    message: str
    grave: bool = True  # False: said for information, not a mistake


class Target(Struct, frozen=True, gc=False):
    """A URL to be checked."""

    url: str  # normalised, without its fragment
    host: str  # the politeness key, from the handler's `classify`
    reads: bool = False  # the links on it are wanted too
    robots: bool = False  # the robots.txt of a host, asked for our own sake
    public: bool = False  # named by a stranger: it may lead to public addresses only
    depth: int = 0  # links from the first page to here
    outside: int = 0  # of them, those since the last page that is in scope
    rank: int = 0  # whose turn it is within its host: the lowest first

    @property
    def is_part(self) -> bool:
        """Whether it is part of a page in scope: an odd rank is that of an asset."""
        return self.rank % 2 == 1 and not self.outside


class Service(Struct, frozen=True, omit_defaults=True):
    """What is known of a target that has a plan, beside its URL."""

    id: int  # of the target
    kind: str = "service"
    description: str = ""
    owner: str = ""  # the name of the first owner
    type: str = ""  # WMS, WFS, …
    version: str = ""
    uuid: str = ""  # of its record in a catalogue


# -- asking --------------------------------------------------------------------

# What the first line of a request log says of itself.
REQUEST_LOG, REQUEST_LOG_VERSION = "ronda requests", 1

# Errors of our own, beside libcurl's, which are below 1000.
GUARDED = 1001  # the address guard refused; the text says why
RESTING = 1002  # the host rests; it was not asked
VETOED = 1003  # a plug-in said no
ORPHANED = 1004  # the process that asked has died


class Request(Struct, frozen=True, gc=False, array_like=True):
    """One thing to ask. Every request is one lease, charged to its host and server."""

    url: str
    method: str = "HEAD"
    via: Via = Via.CURL
    body: int = 0  # bytes of the body to keep
    partial: bool = False  # only the first bytes are asked for (a range)
    listing: bool = False  # names only, of an FTP directory
    raw: bool = False  # the body is wanted whatever its type
    fresh: bool = False  # on a new connection: a kept one may have caused the fault
    public: bool = False  # may go to public addresses only
    etag: str = ""  # of the copy that is known: only another one is wanted
    since: str = ""  # when that copy was changed, as its server wrote it
    payload: bytes = b""  # that is sent, by POST
    headers: tuple[str, ...] = ()  # that go with it: "Name: value"


class Job(Struct, frozen=True):
    """A program that is to be run, as the payload of a request."""

    program: str  # its path
    arguments: tuple[str, ...]
    folder: str  # name of the folder of its data, kept from one run to the next
    timeout: float  # seconds
    input: str = ""  # that it reads on its standard input


class Ran(Struct, frozen=True, array_like=True):
    """What became of a program."""

    code: int | None = None  # its exit code; None: it was not started, or was killed
    signal: int = 0  # that killed it
    timed_out: bool = False
    output: str = ""  # the end of its standard output
    errors: str = ""  # and of its standard error
    seconds: float = 0.0
    failure: str = ""  # why it was not started, or was ended
    refused: str = ""  # what the guard has kept it from: the last of it


class Timings(Struct, frozen=True, gc=False):
    """Seconds from a request's start to the end of each phase; 0 is not reached."""

    name: float = 0.0
    connect: float = 0.0
    tls: float = 0.0
    first_byte: float = 0.0
    total: float = 0.0


class Certificate(Struct, frozen=True, omit_defaults=True):
    """What the server's own certificate says."""

    subject: str = ""
    issuer: str = ""
    starts_at: str = ""  # ISO 8601, UTC
    ends_at: str = ""
    names: tuple[str, ...] = ()


class Answer(Struct, frozen=True, array_like=True):
    """What came back: an HTTP or FTP status, or libcurl's error, with the evidence."""

    status: int = 0
    error: int = 0  # libcurl's code; 0 when the exchange was complete
    error_text: str = ""
    headers: tuple[bytes, ...] = ()  # raw lines of the last header block
    address: str = ""
    timings: Timings = Timings()
    size: int = 0  # bytes received
    body: bytes = b""
    cut: bool = False  # the body was longer than was kept
    certificate: Certificate | None = None
    verify: int = 0  # OpenSSL's verification code
    errno: int = 0  # the system's code, when libcurl's is too broad
    called: tuple[str, str] | None = None  # what a blocking plug-in returned
    names: tuple[str, ...] = ()  # mail servers, best first
    sent_at: float = 0.0  # monotonic moment at which the request left; 0: not known
    ran: Ran | None = None  # what became of a program

    @property
    def reached(self) -> bool:
        """Whether the server was connected to; a kept connection takes no time."""
        return self.timings.connect > 0 or self.sent_at > 0

    def header(self, name: str) -> str:
        """The value of a header (lower-case name), or an empty string."""
        wanted = name.encode() + b":"
        size = len(wanted)
        for line in self.headers:
            if line[:size].lower() == wanted:
                return line[size:].strip().decode("latin-1")
        return ""


class Hop(Struct, frozen=True, omit_defaults=True):
    """A redirect that was met on the way."""

    url: str
    status: int
    to: str
    address: str = ""


class TaskResult(Struct, frozen=True, omit_defaults=True):
    """What one task of a plan found."""

    task: str
    state: State
    reason: str
    message: str
    seconds: float = 0.0  # that it took
    data: str = ""  # the task's own, for programs
    output: str = ""  # of a program: the end of what it wrote


class Progress(Struct, frozen=True):
    """How far a visit is with its plan."""

    service: Service
    plan: tuple[str, ...]  # the names of its tasks
    place: int = 0  # of the task that is under way
    begun_at: float = 0.0  # when that was begun; epoch seconds
    results: tuple[TaskResult, ...] = ()
    asked: bool = False  # something was asked already: it goes before what is new
    over: bool = False  # no task is left

    @property
    def task(self) -> str:
        """The name of the task that is under way."""
        return self.plan[self.place] if self.place < len(self.plan) else ""


class Visit(Struct, frozen=True):
    """One run of a plan on one target: a chain of leases, carried from hop to hop."""

    target: Target
    request: Request
    host: str  # the politeness key of the request
    hops: tuple[Hop, ...] = ()
    attempts: int = 1
    progress: Progress | None = None  # None: the one task that every URL has


# -- judging -------------------------------------------------------------------


class Verdict(Struct, frozen=True):
    """What was found: a state, a stable reason code, and words for people."""

    state: State
    reason: str
    message: str


class Ask(Struct, frozen=True):
    """The visit goes on with another request."""

    visit: Visit
    delay: float = 0.0  # seconds before it may be asked
    hold: float | None = None  # seconds the host asks us to wait; 0: to slow down
    otherwise: Verdict | None = None  # should the host not be asked again for now


class Done(Struct, frozen=True):
    """The visit has its verdict."""

    verdict: Verdict
    hold: float | None = None  # as in Ask
    visit: Visit | None = None  # with evidence that the one judged did not have yet


class NotApplicable(Struct, frozen=True):
    """The task has nothing to say of this target; the visit goes on without it."""


# -- remembering ---------------------------------------------------------------


class Result(Struct, frozen=True, kw_only=True):
    """A verdict at a moment, with its evidence: what reports are made of."""

    url: str
    verdict: State
    reason: str
    message: str
    hops: tuple[Hop, ...] = ()
    status: int = 0
    address: str = ""
    timings: Timings = Timings()
    bytes: int = 0
    certificate: Certificate | None = None
    found_in: tuple[Place, ...] = ()
    checked_at: str = ""  # ISO 8601, UTC
    attempts: int = 1
    directives: tuple[str, ...] = ()  # what the answer asks of robots: nofollow, …
    depth: int = 0  # links from the first page to here
    media_type: str = ""  # what the last answer says it is: text/html
    digest: str = ""  # SHA-256 of the body, of a page that was read whole
    evidence: str = ""  # of a fault of ours: the traceback
    task: str = ""  # of a plan: the one that the verdict is of
    tasks: tuple[TaskResult, ...] = ()  # all that had something to say, in order
    whole: bool = False  # the plan came to its end, or to a fault


class Standing(Struct, frozen=True, gc=False):
    """Where a watched target stands between two checks."""

    state: State = State.UNKNOWN  # as it is told: a failure only once it is confirmed
    reason: str = ""  # of the last check
    message: str = ""
    last_check_at: float = 0.0  # epoch seconds; 0: never
    last_change_at: float = 0.0  # of the state
    failures: int = 0  # checks in a row that failed; our own faults never count
    repeats: int = 0  # checks in a row that found its state again
    flap: float = 0.0  # how often it changed lately: 1 a change, fading with time
    flapping: bool = False  # so often that changes are not told
    enabled: bool = True
    why_disabled: str = ""


class Slow(Struct, frozen=True):
    """A page that took its time."""

    url: str
    seconds: float


class Site(Struct, frozen=True):
    """What a crawl found out about a site as a whole."""

    pages: int = 0  # that were read
    unchanged: int = 0  # of them, those that are as they were at the last crawl
    bytes: int = 0  # received, of all bodies
    slowest: tuple[Slow, ...] = ()  # the slowest first
    duplicates: tuple[tuple[str, ...], ...] = ()  # pages with the same body
    orphans: tuple[str, ...] = ()  # named by a sitemap, but linked from no page
    beyond: dict[str, int] = field(default_factory=dict)  # rule → links not followed


class Summary(Struct, frozen=True):
    """A whole run in numbers."""

    counts: dict[State, int] = field(default_factory=dict)
    excluded: int = 0
    problems: tuple[Problem, ...] = ()
    requests: int = 0
    seconds: float = 0.0
    interrupted: str = ""  # why the run ended early, if it did
    left: int = 0  # targets that were not checked
    left_at: dict[str, int] = field(default_factory=dict)  # host → the most of them
    site: Site | None = None  # only of a crawl
    remarks: tuple[str, ...] = ()  # what went wrong with ourselves, and was mended

    @property
    def is_unread(self) -> bool:
        """Whether a crawl did not come beyond its first pages."""
        crawled = self.site is not None and not self.interrupted
        return crawled and self.site is not None and not self.site.pages

    @property
    def checked(self) -> int:
        """How many targets have a verdict."""
        return sum(self.counts.values())
