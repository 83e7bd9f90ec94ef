"""Ronda from Python, as docs/howto/library.md has it."""

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import ronda
from ronda.config import Check, Fetch, Politeness, Settings
from ronda.errors import StoreError, UrlError, UsageError
from ronda.model import State
from ronda.store.sql.catalogue import Query
from servers.nginx import Nginx

QUICK = Settings(fetch=Fetch(retries=0, retry_gap=0.01), check=Check(robots=False))
HOWTO = Path(__file__).parents[2] / "docs" / "howto" / "library.md"


def test_states_are_read_after_a_run(nginx: Nginx, database_url: str):
    good, gone = nginx.url("/page.html"), nginx.url("/missing.html")
    with ronda.open(database_url, QUICK) as watch:
        known = watch.add([good, gone])
        watch.run()
        found = {target.url: target.state for target in watch.targets()}

    assert [target.state for target in known] == [State.UNKNOWN, State.UNKNOWN]
    assert found == {good: State.OK, gone: State.BROKEN}


def test_what_is_known_is_told_at_once_and_not_asked_again(
    nginx: Nginx, database_url: str
):
    url = nginx.url("/page.html")
    with ronda.open(database_url, QUICK) as watch:
        watch.add([url])
        watch.run()
        since = nginx.mark()
        [known] = watch.add([url])
        watch.run()

        assert known.state is State.OK
        assert nginx.requests(since=since) == []
        assert watch.check([url]) == 0
        assert watch.check([url], force=True) == 1
        watch.run()
        assert len(nginx.requests("/page.html", since=since)) == 1


def test_a_failure_is_confirmed_only_if_that_is_wanted(nginx: Nginx, database_url: str):
    url = nginx.url("/missing.html")
    with ronda.open(database_url, QUICK) as watch:
        watch.add([url])
        watch.run(confirm=True)
        state = watch.state(url)

        assert state is not None
        assert (state.state, state.reason) == (State.UNKNOWN, "http_404")


def test_what_is_removed_is_forgotten(database_url: str):
    with ronda.open(database_url, QUICK) as watch:
        watch.add(["http://127.0.0.1/1", "http://127.0.0.1/2"])

        assert watch.remove(["http://127.0.0.1/1"]) == 1
        assert watch.state("http://127.0.0.1/1") is None
        assert len(list(watch.targets())) == 1


def test_what_is_no_url_or_no_owner_is_told(database_url: str):
    with ronda.open(database_url, QUICK) as watch:
        with pytest.raises(UrlError):
            watch.add(["nonsense"])
        with pytest.raises(UsageError, match="nobody"):
            watch.add(["http://127.0.0.1/"], owner="nobody")

        assert list(watch.targets(Query())) == []


def test_the_politeness_of_a_run_is_that_of_the_settings(
    nginx: Nginx, database_url: str
):
    slow = Politeness(interval=0.3)
    settings = Settings(check=Check(robots=False), politeness=(slow,))
    since = nginx.mark()
    with ronda.open(database_url, settings) as watch:
        watch.add([nginx.url(f"/page.html?{number}") for number in range(4)])
        watch.run()

    moments = [request.at for request in nginx.requests(since=since)]
    assert len(moments) == 4
    assert min(b - a for a, b in pairwise(moments)) > 0.28


def test_a_store_is_closed_by_hand_as_often_as_one_likes(database_url: str):
    watch = ronda.open(database_url, QUICK)
    watch.add(["http://127.0.0.1/1"])

    watch.close()
    watch.close()

    with ronda.open(database_url, QUICK) as again:
        assert len(list(again.targets())) == 1
    again.close()


def test_a_store_that_is_closed_says_so(tmp_path: Path):
    watch = ronda.open(tmp_path / "links.db", QUICK)
    watch.add(["http://127.0.0.1/1"])
    watch.close()

    for use in (
        lambda: watch.add(["http://127.0.0.1/2"]),
        lambda: watch.remove("http://127.0.0.1/1"),
        lambda: watch.check("http://127.0.0.1/1"),
        lambda: watch.state("http://127.0.0.1/1"),
        lambda: list(watch.targets()),
        lambda: watch.store.owners,
        watch.run,
    ):
        with pytest.raises(
            UsageError, match=r"links\.db: this was closed; ronda\.open"
        ):
            use()


def test_a_single_text_is_one_url(database_url: str):
    url = "http://127.0.0.1/1"
    with ronda.open(database_url, QUICK) as watch:
        assert [known.url for known in watch.add(url)] == [url]
        assert watch.check(url) == 1
        assert watch.remove(url) == 1
        assert list(watch.targets()) == []


@pytest.mark.parametrize("where", [None, ""], ids=["none", "empty"])
def test_without_a_name_it_is_the_store_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str | None
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    ronda.open(where).close()
    ronda.open().close()

    assert (tmp_path / "ronda" / "ronda.db").is_file()


def test_what_is_wrong_with_a_store_is_told_without_options(tmp_path: Path):
    (tmp_path / "text").write_text("no database at all\n" * 100)

    for name, words in (("text", "not a database"), ("no/x.db", "there is no folder")):
        path = tmp_path / name
        with pytest.raises(StoreError, match=f"^{path}: {words}"):
            ronda.open(path)


def test_so_is_what_goes_wrong_later(tmp_path: Path):
    path = tmp_path / "links.db"
    with ronda.open(path) as watch:
        with watch.store.database.writing() as connection:
            connection.exec_driver_sql("DROP TABLE watch")

        with pytest.raises(StoreError, match=f"^{path}: no such table"):
            watch.add("http://127.0.0.1/1")
        with pytest.raises(StoreError, match=f"^{path}: no such table"):
            list(watch.targets())


def example(number: int) -> str:
    """A piece of Python as the document has it."""
    return re.findall(r"```python\n(.*?)```", HOWTO.read_text(), re.DOTALL)[number]


def carried_out(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=folder, capture_output=True, check=False, text=True
    )


def test_the_example_with_settings_works(tmp_path: Path):
    (tmp_path / "ronda.toml").write_text("[fetch]\nretries = 0\n")

    done = carried_out(example(1), tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "links.db").exists()


def test_the_six_lines_of_the_howto_work(nginx: Nginx, tmp_path: Path):
    code = example(0).replace("https://example.org/gone", nginx.url("/missing.html"))
    code = code.replace("https://example.org/", nginx.url("/page.html"))
    lines = [line for line in example(0).splitlines() if line.strip()]
    done = carried_out(code, tmp_path)

    assert len(lines) == 6
    assert done.stderr == ""
    assert sorted(line.split()[0] for line in done.stdout.splitlines()) == [
        "broken",
        "ok",
    ]


def test_the_package_offers_nothing_else():
    with pytest.raises(AttributeError):
        ronda.shut  # noqa: B018
