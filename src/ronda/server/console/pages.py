"""What can be asked: the names of commands, and a page of help for each."""

from textwrap import wrap

from msgspec import Struct

WIDTH = 78  # characters of a page


class Page(Struct, frozen=True):
    """One command, as people are told of it."""

    name: str  # as it goes over the wire
    usage: str
    words: str  # what it is for, in one line
    text: str  # all else, one paragraph
    aliases: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    least: int = 0  # words that it needs
    most: int | None = 0  # words that it takes; None: any number
    open: bool = False  # may be asked by strangers

    @property
    def lines(self) -> list[str]:
        """The page; no line of it is empty."""
        names = f"Other names: {', '.join(self.aliases)}" if self.aliases else ""
        examples = [f"  {example}" for example in self.examples]
        return [
            f"{self.usage}: {self.words}",
            *wrap(self.text, WIDTH),
            *([names] if names else []),
            *(["Examples:", *examples] if examples else []),
        ]


PAGES = (
    Page(
        "CHECK",
        "CHECK gid|gid=N|eid=N|pattern ...",
        "begin rounds of checks",
        "All targets that are named by their ids form one round; each entity, named by "
        "its id or by a LIKE pattern, is a round of its own. In a pattern % stands for "
        "anything; without one, it may be any part of the name. What has spaces in it "
        "stands in quotes.",
        examples=("CHECK 12 13 gid=14", "CHECK eid=3", "CHECK 'Câmara Municipal%'"),
        least=1,
        most=None,
    ),
    Page(
        "STOP",
        "STOP [round=ID]",
        "stop one round, or all of yours",
        "A round is stopped by who began it, or by an administrator; without an id, "
        "all are stopped that you may stop. What is under way ends, or is cut at its "
        "time limit.",
        examples=("STOP", "STOP round=7"),
        most=1,
    ),
    Page(
        "JOBLIST",
        "JOBLIST",
        "list the visits under way",
        "Each with the task that is under way, and for how long the visit has run.",
        ("JL",),
    ),
    Page(
        "QUERY",
        "QUERY",
        "list the rounds under way",
        "A queued round has visits to begin; a pending one waits for its last to end.",
        ("RUNSEQ",),
    ),
    Page(
        "REGTASKS",
        "REGTASKS",
        "list the tasks that are known",
        "In the order in which a visit runs them. A task that cannot be used says why.",
        ("REGTASK", "LT"),
    ),
    Page(
        "ENTITIES",
        "ENTITIES [pattern] [-alpha]",
        "list the owners of targets",
        "Those with the most targets first; with -alpha by their names. A pattern is "
        "as in CHECK.",
        examples=("ENTITIES", "ENTITIES '%Lisboa%' -alpha"),
        most=2,
    ),
    Page(
        "LSSERV",
        "LSSERV eid [offset] [limit]",
        "list the targets of an owner",
        "100 of them from the first on, unless it is said otherwise; at most 10,000.",
        examples=("LSSERV 3", "LSSERV eid=3 offset=100 limit=50"),
        least=1,
        most=3,
    ),
    Page(
        "QSERVICE",
        "QSERVICE gid|pattern ...",
        "tell all that is known of targets",
        "Targets are named by their ids, or by LIKE patterns for their URLs and "
        "descriptions.",
        ("SERVICE",),
        examples=("QSERVICE 12 13", "QSERVICE '%ortofotos%'"),
        least=1,
        most=None,
    ),
    Page(
        "QTASK",
        "QTASK gid",
        "tell what the tasks of a target found last",
        "One line for each task that had something to say.",
        ("TASKRES",),
        examples=("QTASK 12",),
        least=1,
        most=1,
    ),
    Page(
        "WHY",
        "WHY [URL|host]",
        "say what a URL or a host waits for",
        "Without one: what the daemon as a whole waits for.",
        examples=("WHY", "WHY example.org"),
        most=None,
    ),
    Page(
        "STATS",
        "STATS",
        "tell figures of the daemon",
        "Of its store and its workers, as of now.",
    ),
    Page(
        "THREADS",
        "THREADS",
        "tell how many workers are at work",
        "And how many are idle, and how many there may be.",
    ),
    Page(
        "SUBSCRIBE",
        "SUBSCRIBE",
        "have results told as they happen",
        "Over the socket, other commands go on working; `ronda console` shows results "
        "until Ctrl-C. Who reads too slowly misses some, and is told how many.",
    ),
    Page(
        "UNSUBSCRIBE",
        "UNSUBSCRIBE",
        "have no more results told",
        "What SUBSCRIBE has begun is over.",
    ),
    Page(
        "FORMAT",
        "FORMAT [HR [COLOUR]|JSON [PRETTY]]",
        "choose how replies are written",
        "HR is for people, JSON for programs: one line, unless it is to be pretty. "
        "Without a word it says which it is.",
        examples=("FORMAT JSON", "FORMAT HR COLOUR"),
        most=2,
        open=True,
    ),
    Page(
        "WHOS",
        "WHOS",
        "list who is connected",
        "With the number of commands, the format, and the seconds since the last one.",
    ),
    Page(
        "AUTH",
        "AUTH name token",
        "say who you are",
        "Over TCP nothing else is answered before. The name is that of an owner; the "
        "operator is the administrator. Three wrong ones end the connection.",
        least=2,
        most=2,
        open=True,
    ),
    Page(
        "NOOP",
        "NOOP",
        "do nothing",
        "Keeps a connection from being closed for its silence.",
        open=True,
    ),
    Page(
        "SHUTDWN",
        "SHUTDWN",
        "end the daemon",
        "In stages, as SIGTERM does: what is under way has its time to end. Only for "
        "administrators.",
        ("SHUTDOWN", "SX"),
    ),
    Page(
        "QUIT",
        "QUIT",
        "end the connection",
        "The daemon goes on.",
        ("EXIT", "X"),
        open=True,
    ),
    Page(
        "HELP",
        "HELP [command]",
        "list the commands, or explain one",
        "Commands may be written in any case, and in ronda console be cut short as "
        "long as they are told apart.",
        ("?",),
        examples=("HELP", "HELP CHECK"),
        most=1,
        open=True,
    ),
)

NAMES = {name: one for one in PAGES for name in (one.name, *one.aliases)}


def page(name: str) -> Page | None:
    """The page of a command, by any of its names."""
    return NAMES.get(name.upper())
