"""Services by the real command line and daemon: plans, programs, rounds, console."""

import json
import signal
import stat
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Ended
from e2e.serving import NO_ROBOTS, Served, nobody_was_early, settings, until
from ronda.model import State
from servers.process import ADDRESSES, free_ports
from servers.site import Site

SAMPLES = Path(__file__).parents[2] / "docs" / "tasks"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    moved = "location = /moved { return 302 /fine.html; }"
    with Site(tmp_path / "site", NO_ROBOTS, moved) as opened:
        opened.write("/fine.html", "<html><title>Fine</title>fine</html>")
        opened.write("/untitled.html", "<html>nothing</html>")
        yield opened


class Office(Served):
    """A store of services, with programs of the test's own."""

    def __init__(self, folder: Path, where: str) -> None:
        super().__init__(folder, where)
        self.tasks = folder / "tasks"
        self.tasks.mkdir()
        self.plan()

    def plan(self, more: str = "") -> None:
        self.set(settings(more=f'[tasks]\nfolder = "{self.tasks}"\n{more}'))

    def program(self, name: str, text: str) -> None:
        """Write a program."""
        path = self.tasks / name
        path.write_text(textwrap.dedent(text).lstrip())
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def services(self, *urls: str, owner: str = "dgt") -> None:
        rows = [
            f"{url},WMS,1.3.0,u-{n},Service {n},{owner}" for n, url in enumerate(urls)
        ]
        lines = ["url,type,version,uuid,description,owner", *rows]
        (self.folder / "services.csv").write_text("\n".join(lines))
        self.call("service", "add", "--file", "services.csv")

    def console(self, *command: str) -> Ended:
        runtime = {"XDG_RUNTIME_DIR": str(self.folder)}
        return self.command("console", "--json", *command, env=runtime)

    def said(self, *command: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.console(*command).out)
        return found

    def shown(self, number: int) -> dict[str, Any]:
        found: dict[str, Any] = self.json("service", "show", str(number))["service"]
        return found

    def tasks_of(self, number: int) -> dict[str, str]:
        return {one["task"]: one["state"] for one in self.shown(number)["tasks"]}

    def wait(self, number: int, state: State) -> None:
        until(lambda: self.shown(number)["state"] == state, f"{number} is not {state}")

    def round_ended(self, name: str) -> bool:
        return self.run("round", "show", name, "--json").report["round"]["ended_at"]


@pytest.fixture
def office(tmp_path: Path, database_url: str) -> Office:
    return Office(tmp_path, database_url)


@pytest.fixture
def small(tmp_path: Path) -> Office:
    """For what no engine makes a difference to."""
    return Office(tmp_path, str(tmp_path / "small.db"))


def test_a_service_is_visited_by_its_plan(office: Office, site: Site) -> None:
    office.services(site.url("/fine.html"), site.url("/gone.html"), site.url("/moved"))
    with office.serving():
        for number, state in ((1, State.OK), (2, State.BROKEN), (3, State.WARNING)):
            office.wait(number, state)

        assert office.tasks_of(1) == {"congruence": "ok", "url_status_codes": "ok"}
        assert office.tasks_of(2)["url_status_codes"] == "broken"
        assert office.shown(3)["reason"] == "success_after_redirect"
    nobody_was_early(site)
    office.call("db", "check")


def test_the_samples_of_the_documents_run_in_their_plan(
    office: Office, site: Site
) -> None:
    office.set(settings(more=f'[tasks]\nfolder = "{SAMPLES}"'))
    office.services(site.url("/fine.html"), site.url("/untitled.html", ADDRESSES[1]))
    with office.serving():
        office.wait(1, State.OK)
        office.wait(2, State.WARNING)

    found = office.tasks_of(1)
    assert list(found) == [
        "congruence",
        "url_status_codes",
        "page_title",
        "answer_headers",
        "page_size",
    ]
    assert set(found.values()) == {"ok"}
    assert office.tasks_of(2)["page_title"] == "warning"
    assert office.shown(2)["reason"] == "no_title"


def test_yesterdays_results_of_later_tasks_do_not_linger(
    office: Office, site: Site
) -> None:
    office.program(
        "50_last.sh",
        """
        #!/bin/bash
        [ "$1" = identify ] && { echo '{last} {The last of all}'; exit; }
        echo '{"status": "ok", "code": "last_ok", "message": "well", "data": 7}'
        """,
    )
    office.services(site.url("/fine.html"))
    with office.serving():
        office.wait(1, State.OK)
        assert office.tasks_of(1)["last"] == "ok"
        (site.root / "fine.html").unlink()
        office.said("CHECK", "1")
        office.wait(1, State.BROKEN)

        assert office.tasks_of(1) == {"congruence": "ok", "url_status_codes": "broken"}


def test_a_program_that_hangs_is_ended_and_holds_up_nobody(
    small: Office, site: Site
) -> None:
    small.program(
        "50_hangs.sh",
        """
        #!/bin/bash
        [ "$1" = identify ] && { echo '{hangs} {Never ends}'; exit; }
        trap '' TERM
        sleep 300 & wait
        """,
    )
    small.plan("timeout = 1.0\n")
    small.services(site.url("/fine.html"))
    small.call("target", "add", site.url("/untitled.html", ADDRESSES[1]))
    with small.serving("--verbose") as daemon:
        daemon.line("untitled.html")
        assert small.said("JOBLIST")["njobs"] == 1
        small.wait(1, State.TEMPORARY)

    assert small.shown(1)["reason"] == "task_timeout"


def test_a_broken_program_is_named_and_the_others_run(
    small: Office, site: Site
) -> None:
    small.program("10_broken.sh", "#!/bin/bash\nexit 3\n")
    small.program(
        "20_exit.sh",
        """
        #!/bin/bash
        [ "$1" = identify ] && { echo '{"name": "code"}'; exit; }
        exit 1
        """,
    )
    listed = small.command("task", "list", "--config", "serve.toml", "--json")
    rows = {one["name"]: one["fault"] for one in listed.report["tasks"]}
    assert listed.code == 1
    assert rows["code"] == ""
    assert rows["10_broken.sh"]
    small.services(site.url("/fine.html"))
    with small.serving() as daemon:
        small.wait(1, State.BROKEN)

    assert any("10_broken.sh cannot be used" in line for line in daemon.told)
    assert small.shown(1)["reason"] == "task_broken"


def test_a_task_can_be_tried_by_hand(small: Office, site: Site) -> None:
    how = ("--folder", str(SAMPLES))
    good = small.command("task", "run", "page_title", site.url("/fine.html"), *how)
    gone = small.command("task", "run", "url_status_codes", site.url("/gone.html"))
    none = small.command("task", "run", "nothing", site.url("/gone.html"))

    assert (good.code, gone.code, none.code) == (0, 1, 1)
    assert "exit code 0" in good.out
    assert "the title is: Fine" in good.out
    assert "404" in gone.out
    assert none.err.startswith("ronda: there is no task nothing")


def test_a_slow_host_keeps_no_other_service_waiting(small: Office, site: Site) -> None:
    slow = '[[politeness]]\nmatch = "127.0.0.1"\ninterval = 60.0\n'
    small.set(settings(more=slow))
    small.services(*(site.url(f"/page{n}.html", ADDRESSES[0]) for n in range(80)))
    with small.serving():
        until(lambda: bool(site.asked()), "nobody was asked")
        small.services(site.url("/fine.html", ADDRESSES[1]), owner="other")
        small.wait(81, State.OK)


def test_what_is_added_at_a_host_that_is_busy_is_noticed_at_once(
    small: Office, site: Site
) -> None:
    small.program("50_long.sh", LONG)
    small.plan("timeout = 60.0\n")
    small.services(site.url("/fine.html"))
    with small.serving():
        until((small.tasks / "began").exists, "it has not begun")
        small.call("service", "add", site.url("/untitled.html"))
        # The host has a gap, so one visit after the other: but the next one is known.
        until(
            lambda: small.said("STATS")["stats"]["visits"]["waiting"] == 1,
            "nobody has noticed it",
        )
        (small.tasks / "over").touch()
        small.wait(2, State.WARNING)


LONG = """
#!/bin/bash
[ "$1" = identify ] && { echo '{long} {Takes its time}'; exit; }
here=$(dirname "$0")
touch "$here/began"
until [ -e "$here/over" ]; do sleep 0.05; done
echo 'ok {} {} {at last} {0}'
"""
AFTER = """
#!/bin/bash
[ "$1" = identify ] && { echo '{after} {Comes later}'; exit; }
touch "$(dirname "$0")/after"
"""


def test_a_round_that_is_stopped_ends_its_visits_between_two_tasks(
    office: Office, site: Site
) -> None:
    office.program("50_long.sh", LONG)
    office.program("60_after.sh", AFTER)
    office.plan("timeout = 60.0\n")
    office.services(site.url("/fine.html"))
    office.call("round", "start", "one")
    with office.serving("--verbose") as daemon:
        until((office.tasks / "began").exists, "it has not begun")
        assert office.said("STOP")["code"] == "502"
        until(lambda: bool(office.said("QUERY")["pending"]), "it is not pending")
        (office.tasks / "over").touch()
        daemon.line("round_stopped")

    assert not (office.tasks / "after").exists()
    assert office.tasks_of(1)["long"] == "ok"
    assert office.shown(1)["state"] == State.UNKNOWN


def test_settings_that_name_no_task_are_not_taken_over(
    small: Office, site: Site
) -> None:
    small.services(site.url("/fine.html"))
    with small.serving() as daemon:
        small.wait(1, State.OK)
        small.plan('\n[[plans]]\nkind = "service"\ntasks = ["nothing"]\n')
        daemon.send(signal.SIGHUP)
        daemon.line("going on with the settings as they were")
        small.said("CHECK", "1")
        until(lambda: small.round_ended("targets") is not None, "it does not go on")


def test_signals_are_heard_while_programs_are_asked_who_they_are(
    small: Office, site: Site
) -> None:
    small.program(
        "50_slow.sh",
        """
        #!/bin/bash
        touch "$(dirname "$0")/asked"
        [ "$1" = identify ] && { sleep 2; echo '{slow} {Slow to answer}'; }
        """,
    )
    small.services(site.url("/fine.html"))
    with small.serving() as daemon:
        until((small.tasks / "asked").exists, "nobody was asked")
        daemon.send(signal.SIGTERM)

        assert daemon.process.wait(30) == 0


def test_owners_have_only_their_own_checked_over_tcp(small: Office, site: Site) -> None:
    token = small.json("owner", "add", "dgt")["token"]
    small.services(site.url("/fine.html"))
    small.services(site.url("/untitled.html", ADDRESSES[1]), owner="other")
    [held] = free_ports(1)
    port = held.number
    small.plan(f'\n[control]\nlisten = "127.0.0.1:{port}"\n')
    with small.serving():
        small.wait(2, State.OK)

        def said(*command: str) -> dict[str, Any]:
            where = ("--tcp", f"127.0.0.1:{port}", "--owner", "dgt")
            env = {"RONDA_TOKEN": token}
            done = small.command("console", "--json", *where, *command, env=env)
            found: dict[str, Any] = json.loads(done.out)
            return found

        assert said("CHECK", "1")["code"] == "102"
        assert said("CHECK", "2")["code"] == "107"
        assert said("CHECK", "other")["code"] == "107"
        assert said("SHUTDWN")["code"] == "107"
    held.release()


class TestRounds:
    def test_they_are_started_by_owner_and_followed_to_their_end(
        self, office: Office, site: Site
    ) -> None:
        pages = [site.url(f"/page{n}.html", ADDRESSES[n]) for n in range(6)]
        for number in range(6):
            site.write(f"/page{number}.html", "fine")
        office.services(*pages)
        with office.serving():
            for number in range(1, 7):
                office.wait(number, State.OK)
            begun = office.run(
                *("round", "start", "again", "--owner", "dgt", "--force", "--json")
            )
            assert begun.report["total"] == 6
            followed = office.run("round", "watch", "again")

        assert followed.code == 0
        assert "6 of 6 done: 6 ok; ended after" in followed.out.splitlines()[-1]
        found = office.json("round", "show", "again", "--all")
        assert len(found["results"]) == 6
        assert found["counts"] == {"ok": 6}
        assert found["round"]["starter"] == "operator"

    def test_they_take_exactly_the_targets_of_a_list(
        self, small: Office, site: Site
    ) -> None:
        pages = [site.url(f"/page{n}.html", ADDRESSES[n]) for n in range(4)]
        small.services(*pages)
        (small.folder / "two.txt").write_text("\n".join(pages[1:3]))

        begun = small.json("round", "start", "two", "--file", "two.txt")
        by_id = small.json("round", "start", "one", "--id", "4")

        assert (begun["total"], by_id["total"]) == (2, 1)

    def test_one_that_is_stopped_begins_no_more(
        self, small: Office, site: Site
    ) -> None:
        """Its visits are spread over an hour: nearly all have not begun."""
        pages = [site.url(f"/page{n}.html", ADDRESSES[n]) for n in range(8)]
        small.services(*pages)
        small.call("round", "start", "slow", "--over", "1h")
        with small.serving():
            stopped = small.json("round", "stop", "slow")["rounds"][0]

        assert stopped["stopped_at"]
        assert stopped["total"] == 8
        assert stopped["done"] < 8
        again = small.json("round", "show", "slow")
        assert again["round"]["ended_at"]

    def test_nothing_that_matches_is_told(self, small: Office, site: Site) -> None:
        small.services(site.url("/fine.html"))

        none = small.run("round", "start", "none", "--label", "nothing")

        assert none.code == 1
        assert "no target matches" in none.out

    def test_names_that_are_unknown_get_one_line(self, small: Office) -> None:
        small.services("http://127.0.0.1:9/")

        for command in ("show", "watch", "stop"):
            ended = small.run("round", command, "nobody")
            assert ended.code == 1
            assert ended.err == (
                "ronda: there is no round nobody: `ronda round list` shows the newest\n"
            )


class TestConsole:
    def test_it_checks_stops_and_tells(self, office: Office, site: Site) -> None:
        office.services(site.url("/fine.html"), site.url("/gone.html", ADDRESSES[1]))
        with office.serving():
            office.wait(2, State.BROKEN)
            assert office.said("CHECK", "eid=2")["code"] == "102"
            assert office.said("CHECK", "eid=99")["code"] == "105"
            assert office.said("CHECK", "4711")["code"] == "105"
            until(lambda: office.round_ended("dgt") is not None, "not ended")
            entities = office.said("ENTITIES")["entities"]
            assert {"eid": 2, "description": "dgt", "records": 2} in entities
            tasks = office.said("REGTASKS")["tasks"]
            assert [one["task"] for one in tasks] == ["congruence", "url_status_codes"]
            results = office.said("QTASK", "2")["tasks"]
            assert [one["exit_status"] for one in results] == ["ok", "error"]
            assert office.said("QUERY")["code"] == "106"
            assert office.said("LSSERV", "2")["services"][0]["gid"] == 1
            assert office.said("STATS")["stats"]["targets"] == 2
            assert office.said("WHY")["code"]
            assert office.said("STOP")["code"] == "502"
            bad = office.console("NONSENSE")
            assert bad.code == 1
            assert json.loads(bad.out)["code"] == "101"

    def test_it_ends_the_daemon(self, small: Office, site: Site) -> None:
        small.services(site.url("/fine.html"))
        with small.serving() as daemon:
            assert small.said("SHUTDWN")["code"] == "100"
            daemon.line("nothing is lost")

            assert daemon.process.wait(20) == 0

    def test_without_a_daemon_it_says_what_to_do(self, small: Office) -> None:
        ended = small.console("QUERY")

        assert ended.code == 2
        assert ended.err.count("\n") == 1
        assert "ronda serve" in ended.err


def test_bad_lists_and_names_get_one_line_each(small: Office) -> None:
    (small.folder / "bad.csv").write_text("url,type\nnot a url,WMS\n")
    told = {
        ("service", "add"): 2,
        ("service", "add", "--file", "nowhere.csv"): 2,
        ("service", "add", "--file", "bad.csv"): 2,
        ("service", "add", "nonsense"): 2,
    }
    for command, code in told.items():
        ended = small.run(*command)
        assert ended.code == code, (command, ended)
        assert len(ended.err.splitlines()) == 1, ended.err
    small.services("http://127.0.0.1:9/")
    for command in (("show", "77"), ("show", "http://127.0.0.1:9/other")):
        ended = small.run("service", *command)
        assert ended.code == 1
        assert "`ronda service list` shows all" in ended.err


def test_a_plan_of_the_settings_that_names_no_task_is_refused(small: Office) -> None:
    small.services("http://127.0.0.1:9/")
    small.plan('\n[[plans]]\nkind = "service"\ntasks = ["congruence", "nothing"]\n')

    ended = small.command("serve", "--config", "serve.toml", "--db", small.where)

    assert ended.code == 2
    assert "plans[0].tasks" in ended.err
    assert "'nothing'" in ended.err
    assert "Traceback" not in ended.err
