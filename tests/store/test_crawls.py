"""What a crawl remembers in its file: after a kill, and for the next round."""

import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ronda.errors import UsageError
from ronda.model import Certificate, Found, Hop, Place, Result, State, Target, Timings
from ronda.store.crawls import DAY, CrawlStore, Known

SEEDS = ["http://a.test/"]

texts = st.text(max_size=10)
numbers = st.integers(0, 10**9)
places = st.builds(
    Place, document=texts, line=numbers, column=numbers, text=texts, tag=texts
)
founds = st.builds(
    Found,
    url=texts,
    place=places,
    reads=st.booleans(),
    public=st.booleans(),
    rel=texts,
)
knowns = st.builds(
    Known, etag=texts, since=texts, digest=texts, media_type=texts, size=numbers
)
steps = st.one_of(
    st.tuples(st.just("added"), st.integers(0, 9)),
    st.tuples(st.just("ended"), st.integers(0, 9)),
    st.tuples(st.just("page"), st.integers(0, 9), knowns, st.lists(founds, max_size=3)),
    st.tuples(st.just("unchanged"), st.integers(0, 9)),
    st.tuples(st.just("host"), st.sampled_from("ab"), st.floats(0, 9), st.floats(0, 9)),
    st.tuples(st.just("commit")),
)


def url(number: int) -> str:
    return f"http://a.test/{number}"


def target(number: int) -> Target:
    return Target(url(number), "a.test", reads=True, depth=number, rank=-number)


def result(number: int) -> Result:
    return Result(url=url(number), verdict=State.OK, reason="http_200", message="OK")


def link(to: int, page: int) -> Found:
    return Found(url(to), Place(url(page), line=to, text=f"to {to}", tag="a"))


class Memory:
    """What the file is to hold, kept in plain lists; the obvious version."""

    def __init__(self) -> None:
        self.visits: list[Target] = []
        self.results: list[Result] = []
        self.pages: dict[str, tuple[Known, list[Found]]] = {}
        self.read: list[str] = []
        self.hosts: dict[str, tuple[float, float]] = {}

    def added(self, target: Target) -> None:
        self.visits.append(target)

    def ended(self, result: Result) -> None:
        self.results.append(result)

    def page(self, url: str, known: Known, links: list[Found]) -> None:
        self.pages[url] = known, links
        self.read.append(url)

    def unchanged(self, url: str) -> None:
        if url in self.pages:
            self.read.append(url)

    def host(self, name: str, next_at: float, gap: float) -> None:
        self.hosts[name] = next_at, gap


def play(store: CrawlStore | Memory, step: tuple[object, ...]) -> None:
    match step:
        case "added", int(number):
            store.added(target(number))
        case "ended", int(number):
            store.ended(result(number))
        case "page", int(number), Known() as known, list(links):
            store.page(url(number), known, links)
        case "unchanged", int(number):
            store.unchanged(url(number))
        case "host", str(name), float(next_at), float(gap):
            store.host(name, next_at, gap)
        case _:
            if isinstance(store, CrawlStore):
                store.commit()


def in_a_child(work: Callable[[], None]) -> None:
    """Do it in a process of its own, which is then killed."""
    child = os.fork()
    if not child:
        try:
            work()
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "crawl.db"


@pytest.fixture
def store(path: Path) -> Iterator[CrawlStore]:
    with CrawlStore(path, wall=lambda: 1000.0) as opened:
        yield opened


# -- a kill ------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.lists(steps, max_size=40))
def test_after_a_kill_all_that_was_committed_is_there_and_nothing_else(
    played: list[tuple[object, ...]],
) -> None:
    last = max((n for n, step in enumerate(played) if step == ("commit",)), default=-1)
    memory = Memory()
    for step in played[: last + 1]:
        play(memory, step)

    with TemporaryDirectory() as folder:
        path = Path(folder) / "crawl.db"

        def crawl() -> None:
            store = CrawlStore(path)
            store.begin_round(SEEDS, 0.0)
            for step in played:
                play(store, step)

        in_a_child(crawl)
        with CrawlStore(path) as store:
            done = {result.url for result in memory.results}
            pairs = [(target, target.url in done) for target in memory.visits]
            assert store.resumable(SEEDS)
            assert list(store.visits()) == pairs
            assert list(store.unfinished()) == [t for t, ended in pairs if not ended]
            assert list(store.results()) == memory.results
            assert store.hosts() == memory.hosts
            assert list(store.pages_of_round()) == [
                (url, memory.pages[url][1]) for url in memory.read
            ]
            for url, (known, links) in memory.pages.items():
                assert store.known(url) == known
                assert store.links(url) == links


def crawl_for_ever(path: Path, tell: int) -> None:
    """Read pages of which each leads to two new ones, a commit for each page."""
    with CrawlStore(path) as store:
        store.begin_round(SEEDS, 0.0)
        store.added(target(0))
        for page in range(10**9):
            children = [2 * page + 1, 2 * page + 2]
            store.ended(result(page))
            store.page(url(page), Known(), [link(child, page) for child in children])
            for child in children:
                store.added(target(child))
            store.commit()
            os.write(tell, b".")


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 500))
def test_killed_at_any_moment_no_page_is_done_without_its_links(pages: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "crawl.db"
        hear, tell = os.pipe()
        child = os.fork()
        if not child:
            try:
                crawl_for_ever(path, tell)
            finally:
                os._exit(1)
        told = 0
        while told < pages:
            told += len(os.read(hear, 1))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(tell)
        while more := os.read(hear, 4096):
            told += len(more)
        os.close(hear)

        with CrawlStore(path) as store:
            done = len(list(store.results()))
            assert told <= done <= told + 1
            assert list(store.visits()) == [
                (target(n), n < done) for n in range(2 * done + 1)
            ]
            assert list(store.pages_of_round()) == [
                (url(n), [link(2 * n + 1, n), link(2 * n + 2, n)]) for n in range(done)
            ]


# -- rounds ------------------------------------------------------------------------


def test_a_round_goes_on_only_from_the_same_seeds_and_until_it_has_ended(
    store: CrawlStore,
) -> None:
    assert store.round is None
    assert not store.resumable(SEEDS)

    store.begin_round([*SEEDS, "http://b.test/"], 5.0)
    assert store.round is not None
    assert store.round.started_at == 5.0
    assert store.resumable(["http://b.test/", *SEEDS])
    assert not store.resumable(SEEDS)

    store.end_round()
    assert store.round.finished
    assert not store.resumable([*SEEDS, "http://b.test/"])


def test_a_round_of_which_the_values_were_others_is_not_gone_on_with(
    path: Path, store: CrawlStore
) -> None:
    store.begin_round(SEEDS, 0.0)
    store._file.queue("UPDATE meta SET value = replace(value, 'depth', 'height')")
    store.commit()
    store.__exit__(None, None, None)

    with CrawlStore(path) as again:
        assert not again.resumable(SEEDS)


def test_the_next_round_knows_the_pages_of_the_last_but_not_its_visits(
    store: CrawlStore,
) -> None:
    known = Known('"e"', "Mon, 01 Jan 2024 00:00:00 GMT", "d", "text/html", 7)
    store.begin_round(SEEDS, 0.0)
    store.added(target(0))
    store.page(url(0), known, [link(1, 0)])
    store.page(url(1), Known(), [])
    store.ended(result(0))
    store.host("lately", 200.0, 1.0)
    store.host("long ago", 100.0, 1.0)
    store.end_round()

    store.begin_round(SEEDS, DAY + 100.0)
    assert list(store.visits()) == []
    assert list(store.results()) == []
    assert list(store.pages_of_round()) == []
    assert store.hosts() == {"lately": (200.0, 1.0)}
    assert store.known(url(0)) == known
    assert store.links(url(0)) == [link(1, 0)]

    store.unchanged(url(0))
    store.commit()
    assert list(store.pages_of_round()) == [(url(0), [link(1, 0)])]


def test_a_page_that_was_never_read_is_not_known(store: CrawlStore) -> None:
    assert store.known(url(0)) is None
    assert store.links(url(0)) == []


def test_a_page_that_was_read_again_is_known_as_it_is_now(store: CrawlStore) -> None:
    store.page(url(0), Known("1"), [link(1, 0)])
    store.page(url(0), Known("2"), [link(2, 0)])
    store.commit()

    assert store.known(url(0)) == Known("2")
    assert store.links(url(0)) == [link(2, 0)]


def test_a_visit_has_ended_when_a_fragment_of_its_url_has_a_verdict(
    store: CrawlStore,
) -> None:
    store.added(target(0))
    store.ended(Result(url=url(0) + "#x", verdict=State.OK, reason="r", message="m"))
    store.commit()

    assert list(store.visits()) == [(target(0), True)]


def test_a_result_comes_back_with_all_its_evidence(store: CrawlStore) -> None:
    full = Result(
        url=url(0),
        verdict=State.WARNING,
        reason="redirect_permanent",
        message="moved",
        hops=(Hop(url(0), 301, url(1), "127.0.0.1"),),
        status=200,
        timings=Timings(0.1, 0.2, 0.3, 0.4, 0.5),
        certificate=Certificate(subject="a.test", names=("a.test",)),
        found_in=(Place("a.html", 1, 2, "text", "a"),),
        directives=("nofollow",),
        digest="ab",
    )
    store.ended(full)
    store.commit()

    assert list(store.results()) == [full]


def test_targets_that_are_added_while_others_are_read_are_not_among_them(
    store: CrawlStore,
) -> None:
    for number in range(2500):  # more than are read at once
        store.added(target(number))
    store.commit()

    numbers = []
    for found in store.unfinished():
        numbers.append(found.depth)
        store.added(target(10_000))
        store.commit()
    assert numbers == list(range(2500))


def test_robots_txt_outlives_a_process_but_no_round(path: Path) -> None:
    moment = 1000.0
    with CrawlStore(path, wall=lambda: moment) as store:
        store.begin_round(SEEDS, 0.0)
        store.shelf.put("http://a.test", b"User-agent: *")
        store.commit()
    with CrawlStore(path, wall=lambda: moment) as store:
        moment = 1060.0
        assert store.shelf.get("http://a.test") == (b"User-agent: *", 60.0)
        assert store.shelf.get("http://b.test") is None
        moment = 900.0  # the clock was set back
        assert store.shelf.get("http://a.test") is None
        moment = 1060.0
        store.begin_round(SEEDS, 0.0)
        assert store.shelf.get("http://a.test") is None


# -- a file that cannot be used ----------------------------------------------------


def test_a_second_process_is_refused_until_the_first_is_killed(path: Path) -> None:
    hear, tell = os.pipe()
    child = os.fork()
    if not child:
        store = CrawlStore(path)
        os.write(tell, b".")
        signal.pause()
        store.commit()
    os.read(hear, 1)

    try:
        with pytest.raises(UsageError, match=r"crawl\.db: in use by another process$"):
            CrawlStore(path)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(hear)
        os.close(tell)
    with CrawlStore(path) as store:
        assert store.round is None


def other_program(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE stranger (a)")
    db.close()


def other_version(path: Path) -> None:
    CrawlStore(path).__exit__(None, None, None)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: path.write_text("no database " * 100), "not a database"),
        (Path.mkdir, "unable to open database file"),
        (other_program, "the database of another program"),
        (other_version, "written by another version of Ronda"),
    ],
)
def test_a_file_of_another_kind_is_refused_in_one_line_and_left_alone(
    path: Path, spoil: Callable[[Path], None], words: str
) -> None:
    spoil(path)
    before = path.read_bytes() if path.is_file() else b""

    with pytest.raises(UsageError, match=rf"^--db .*crawl\.db: .*{words}$"):
        CrawlStore(path)
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_file_in_no_folder_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"No such file or directory$"):
        CrawlStore(tmp_path / "none" / "crawl.db")


def test_a_damaged_file_is_told_of_in_one_line(path: Path) -> None:
    with CrawlStore(path) as store:
        store.begin_round(SEEDS, 0.0)
        for number in range(100):
            store.added(target(number))
            store.page(url(number), Known(), [link(1, number)])
        store.commit()
    whole = path.read_bytes()

    path.write_bytes(whole[:4096] + b"\xa5" * (len(whole) - 4096))
    with pytest.raises(UsageError, match=r"^--db .*crawl\.db: [^\n]*$"):
        read_all(path)
    path.write_bytes(whole[:5000])
    with pytest.raises(UsageError, match=r"^--db .*crawl\.db: [^\n]*$"):
        read_all(path)


def read_all(path: Path) -> None:
    with CrawlStore(path) as store:
        store.resumable(SEEDS)
        list(store.visits())
        list(store.pages_of_round())
        store.hosts()
        store.shelf.get("http://a.test")
        for number in range(100):
            store.known(url(number))
            store.links(url(number))


def test_a_blob_that_cannot_be_read_is_told_of_in_one_line(store: CrawlStore) -> None:
    store._file.queue("INSERT INTO visit (target) VALUES (?)", b"\xff")
    store.commit()

    with pytest.raises(UsageError, match="damaged"):
        list(store.visits())


def test_a_commit_that_fails_writes_nothing_and_is_told_in_one_line(
    store: CrawlStore,
) -> None:
    store.added(target(0))
    store._file.queue("INSERT INTO nowhere VALUES (1)")

    with pytest.raises(UsageError, match="no such table: nowhere"):
        store.commit()
    assert list(store.visits()) == []


def test_the_file_is_for_its_user_alone(path: Path, store: CrawlStore) -> None:
    store.commit()  # nothing is queued

    assert path.stat().st_mode & 0o777 == 0o600
