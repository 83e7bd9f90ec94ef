"""What must hold of every round, whatever the web does to it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from ronda import urls
from ronda.model import Found, Place, Visit
from ronda.simulation.fates import LATE
from ronda.simulation.ledger import Ledger
from ronda.simulation.listing import listing
from ronda.simulation.loop import StuckError
from ronda.simulation.stage import Stage, Trial
from ronda.workers.remarks import last_line
from ronda.workers.run import Run

SHOWN = 3  # examples of one kind of mistake


def broken(trial: Trial, make: type[Stage] = Stage) -> list[str]:
    """Carry out a trial; what it broke, in words, and nothing when all is well.

    - it ends: not stuck, and not after any reasonable time;
    - nothing is lost: every URL that was named has a verdict;
    - nothing is done twice: it has one, and every request had a reason;
    - it never ends early: nothing is queued, leased, asked or unread at the end;
    - it is polite: to hosts and to servers, in gaps and in numbers at once.

    Args:
        trial: what is tried.
        make: wires the parts; tests wire broken ones.
    """
    ledger = Ledger(lambda page: _is_read(trial, page))
    verdicts: Counter[str] = Counter()

    def watch(visit: Visit) -> None:
        verdicts[visit.target.url] += 1

    stage = make(trial, watch, ledger=ledger)
    try:
        run = stage.play(_list(trial, ledger))
    except StuckError as error:
        return [f"it does not end: {error}; {_state(stage)}"]
    except Exception as error:  # whatever it is, it has a seed
        return [f"it fails: {last_line(_first(error))}"]
    return [
        *_some("lost", ledger.wanted - verdicts.keys()),
        *_some("of nobody", verdicts.keys() - ledger.wanted - ledger.allowed),
        *_some("judged twice", (url for url, n in verdicts.items() if n > 1)),
        *_early(stage, run),
        *ledger.broken,
        *stage.umpire.broken,
    ]


def _list(trial: Trial, ledger: Ledger) -> Iterator[Found]:
    """What a round begins with: some of it pages whose links are wanted."""
    traits, place = trial.traits, Place("list")
    late = [f"https://h0.example{LATE}"] if traits.links else []
    named = trial.seeds or chain(listing(traits, range(traits.hosts)), late)
    for number, url in enumerate(named):
        ledger.want(url)
        reads = bool(trial.seeds) or number % 3 == 0 or url in late
        yield Found(url, place, reads)


def _is_read(trial: Trial, page: str) -> bool:
    """Whether the links of a page must be followed, once it has come.

    A redirect may have led a crawl out of its scope.
    """
    if not trial.seeds or trial.settings.crawl.scope == "any":
        return True
    return urls.host(page) in {urls.host(seed) for seed in trial.seeds}


def _early(stage: Stage, run: Run) -> Iterator[str]:
    summary = run.account.summary()
    if summary.interrupted:
        yield f"given up: {summary.interrupted}"
    if not stage.frontier.idle:
        yield f"over, but {stage.frontier.queued} are queued"
    if stage.umpire.under_way:
        yield f"over, but {stage.umpire.under_way} requests are under way"
    if summary.left:
        yield f"over, but {summary.left} URLs are left"
    yield from (f"over, but {count} {words}" for words, count in run.account.open())


def _state(stage: Stage) -> str:
    """Where a round stood when it was given up."""
    frontier = stage.frontier
    return (
        f"{frontier.queued} queued, {frontier.leased} leased, "
        f"{stage.umpire.under_way} under way, after {stage.clock.seconds:,.1f} s"
    )


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _some(what: str, found: Iterable[str]) -> Iterator[str]:
    yield from (f"{url}: {what}" for url in islice(sorted(found), SHOWN))
