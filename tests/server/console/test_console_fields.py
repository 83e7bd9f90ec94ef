"""What each command replies: code, fields and columns."""

import asyncio

import pytest

from fakes import FakeClock
from monitored import NOW, FakeMonitor, serving
from ronda.errors import StoreBusyError, UsageError
from ronda.server.console.shapes import figure, span, stamp

AT = "2027-01-15T08:00:00Z"
ROUND = {"sequence": 40, "description": "Câmara\tde Lisboa", "active_jobs": 10} | {
    "completed_jobs": 20,
    "total_jobs_number": 100,
    "starter": "lisboa",
}


class Moment(FakeClock):
    def epoch(self) -> float:
        return NOW


def told(folder, *lines, monitor=None):
    """The last of some commands, in JSON."""

    async def ask():
        opened = serving(folder, clock=Moment(), monitor=monitor)
        async with opened as served, served.client() as client:
            await client.tree("FORMAT JSON")
            return [await client.tree(line) for line in lines][-1]

    return asyncio.run(ask())


def shown(folder, *lines, monitor=None):
    """The last of some commands, in HR."""

    async def ask():
        opened = serving(folder, clock=Moment(), monitor=monitor)
        async with opened as served, served.client() as client:
            return [await client.ask(line) for line in lines][-1]

    return asyncio.run(ask())


def rows(text):
    _, *lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


# -- JSON ------------------------------------------------------------------------------


def test_106_has_the_rounds_and_the_workers(tmp_path):
    assert told(tmp_path, "QUERY") == {
        "code": "106",
        "message": "2 rounds",
        "status": "running",
        "threads": {"running": 11, "idle": 4},
        "queued": [ROUND],
        "pending": [
            {"sequence": 41, "description": "biggest", "active_jobs": 1}
            | {"completed_jobs": 9, "total_jobs_number": 10, "starter": ""}
        ],
    }


def test_108_has_the_entities(tmp_path):
    reply = told(tmp_path, "entities")

    assert reply["code"] == "108"
    assert reply["entities"][0] == {"eid": 3, "description": "Lisboa", "records": 229}


def test_110_has_the_right_fields_and_message(tmp_path):
    reply = told(tmp_path, "REGTASKS")

    assert (reply["code"], reply["message"]) == ("110", "6 registered tasks")
    assert reply["tasks"][1] == {
        "task": "url_status_codes",
        "script": "01_check_urls_status_codes.sh",
        "function": "url_status_codes",
        "description": "Check URL Status Codes",
        "procedure": "run_bash",
        "language": "Bash",
    }


def test_112_has_who_is_connected(tmp_path):
    reply = told(tmp_path, "NOOP", "WHOS")

    assert (reply["code"], reply["nconnections"]) == ("112", 1)
    assert reply["title"] == "Connections"
    [one] = reply["connections"]
    assert list(one) == ["login", "type", "ncmds", "protocol", "idle"]
    assert list(one.values())[1:] == ["unix", 3, "JSON", 0]


def test_114_has_the_visits(tmp_path):
    assert told(tmp_path, "JL") == {
        "code": "114",
        "message": "1 visit under way",
        "njobs": 1,
        "jobs": [
            {"gid": 7, "description": "Map", "type": "WMS", "version": "1.3.0"}
            | {"status": "wms_capabilities", "timestamp": "2027-01-15T07:58:55Z"}
        ],
    }


def test_116_has_the_services_without_their_passwords(tmp_path):
    [service] = told(tmp_path, "SERVICE 7 'x'")["services"]

    tasks = service.pop("tasks")
    assert service == {
        "gid": 7,
        "description": "Map",
        "entity": "Lisboa",
        "uri": "https://example.org/wms",
        "uri_type": "WMS",
        "version": "1.3.0",
        "uuid": "a-b-c",
    }
    assert tasks[1] == {
        "task": "url_status_codes",
        "timestamp": AT,
        "status": "error",
        "state": "broken",
        "reason": "http_404",
        "info": "Not Found",
        "uuid": "a-b-c",
    }


def test_118_has_what_tasks_found(tmp_path):
    assert told(tmp_path, "TASKRES gid=7") == {
        "code": "118",
        "message": "2 task results",
        "tasks": [
            {"task": "congruence", "exit_status": "ok", "exit_info": "good"}
            | {"ts": AT, "state": "ok", "reason": "ok", "seconds": 0.25},
            {"task": "url_status_codes", "exit_status": "error"}
            | {"exit_info": "Not Found", "ts": AT, "state": "broken"}
            | {"reason": "http_404", "seconds": 1.5},
        ],
    }


def test_122_has_the_records_of_an_entity(tmp_path):
    reply = told(tmp_path, "LSSERV 3 0 1")

    assert (reply["code"], reply["message"]) == ("122", "1 service record")
    assert list(reply["services"][0]) == [
        *("gid", "description", "host", "type", "version")
    ]


def test_124_126_and_128_are_told_in_fields(tmp_path):
    threads = told(tmp_path, "THREADS")
    why = told(tmp_path, "WHY example.org")
    stats = told(tmp_path, "STATS")

    assert threads["threads"] == {"running": 11, "idle": 4, "limit": 50}
    assert (why["code"], why["lines"][0]) == ("126", "example.org: its turn")
    assert (stats["code"], stats["stats"]["states"]["ok"]) == ("128", 12000)


# -- HR --------------------------------------------------------------------------------

HEADS = {
    "RUNSEQ": ["Seq ID", "Description", "Running", "Completed", "Total", "Status"],
    "REGTASK": ["Task", "Procedure", "Description", "Script", "Language"],
    "WHOS": ["Login", "Socket", "Cmds", "Format", "Idle"],
    "JOBLIST": ["GID", "Description", "URL Type", "Version", "Task", "Running"],
    "TASKRES 7": ["Task", "Status", "Info", "Timestamp"],
    "ENTITIES": ["EID", "Description", "Records"],
    "LSSERV 3": ["GID", "Description", "Host", "Type", "Version"],
    "THREADS": ["Running", "Idle", "Limit"],
}


@pytest.mark.parametrize("line", HEADS)
def test_a_table_has_the_columns_of_its_code(tmp_path, line):
    assert rows(shown(tmp_path, line))[0] == HEADS[line]


def test_the_rounds_say_whether_they_are_queued_or_pending(tmp_path):
    found = rows(shown(tmp_path, "QUERY"))

    assert found[1] == ["40", "Câmara de Lisboa", "10", "20", "100", "queued"]
    assert found[2][-1] == "pending"
    assert found[3] == ["[106] 2 rounds"]


def test_the_services_say_what_their_tasks_found(tmp_path):
    assert rows(shown(tmp_path, "QSERVICE 7"))[1] == [
        *("7", "Map", "Lisboa", "https://example.org/wms", "WMS", "1.3.0"),
        "1 ok, 1 broken",
    ]


def test_visits_say_for_how_long_they_run(tmp_path):
    assert rows(shown(tmp_path, "JOBLIST"))[1][-1] == "1:05"


def test_figures_within_figures_have_a_line_each(tmp_path):
    found = rows(shown(tmp_path, "STATS"))

    assert found[1:5] == [
        ["targets", "12,345"],
        ["states.ok", "12,000"],
        ["states.broken", "345"],
        ["rate.1", "1.50"],
    ]


def test_nothing_in_a_cell_moves_the_cursor(tmp_path):
    text = shown(tmp_path, "LSSERV 3")

    assert "\x1b" not in text
    assert "Map �[31m red line" in text


def test_states_are_in_colour_only_when_it_was_asked_for(tmp_path):
    assert "\x1b" not in shown(tmp_path, "QTASK 7")
    assert "\x1b[31mbroken" in shown(tmp_path, "FORMAT HR COLOUR", "QTASK 7")
    assert "\x1b" not in shown(tmp_path, "FORMAT HR COLOUR", "FORMAT HR", "QTASK 7")


def test_help_lists_the_commands_and_explains_each(tmp_path):
    listed = shown(tmp_path, "?")
    page = shown(tmp_path, "help check")

    assert "LSSERV eid [offset] [limit]" in listed
    assert page.startswith("[130] CHECK\nCHECK gid|gid=N|eid=N|pattern ...")


# -- what is asked of the daemon -------------------------------------------------------


def test_check_takes_any_mix_of_targets_and_entities(tmp_path):
    monitor = FakeMonitor()
    reply = told(tmp_path, "check 7 gid=8 eid=3 eid=1 'Lis%'", monitor=monitor)

    [(_, gids, eids, patterns, _)] = monitor.asked
    assert (gids, eids, patterns) == ((7, 8), (3, 1), ("Lis%",))
    assert reply["code"] == "102"
    assert [one["sequence"] for one in reply["rounds"]] == [50, 54, 52, 60]
    assert reply["rounds"][0]["total_jobs_number"] == 2


def test_stop_ends_all_rounds_or_one(tmp_path):
    monitor = FakeMonitor()
    all_ = told(tmp_path, "STOP", monitor=monitor)
    one = told(tmp_path, "STOP round=41", monitor=monitor)

    assert (all_["code"], len(all_["rounds"])) == ("502", 2)
    assert one["rounds"] == [{"sequence": 41, "description": "round 41"}]
    assert [asked[1] for asked in monitor.asked] == [None, 41]


def test_lists_take_patterns_orders_and_pages(tmp_path):
    monitor = FakeMonitor()
    told(tmp_path, "ENTITIES '%a b%' -ALPHA", "ENTITIES", monitor=monitor)
    told(tmp_path, "LSSERV 3", "LSSERV eid=3 limit=5 offset=9", monitor=monitor)
    told(tmp_path, "WHY http://a b", monitor=monitor)

    assert monitor.asked == [
        ("entities", "%a b%", True),
        ("entities", "", False),
        ("records", 3, 0, 100),
        ("records", 3, 9, 5),
        ("why", "http://a b"),
    ]


# -- no --------------------------------------------------------------------------------

NO = {
    "NOSUCH": "101",
    "CHECK 'open": "101",
    "CHECK 99": "105",
    "CHECK eid=99": "109",
    "CHECK nobody": "109",
    "CHECK eid=x": "103",
    "CHECK": "503",
    "STOP 99": "105",
    "STOP all": "103",
    "STOP 1 2": "103",
    "ENTITIES a b": "103",
    "ENTITIES -x": "103",
    "LSSERV": "503",
    "LSSERV x": "103",
    "LSSERV 4": "109",
    "LSSERV 3 0 0": "103",
    "LSSERV 3 0 10001": "103",
    "QSERVICE": "503",
    "QSERVICE 99": "109",
    "QTASK": "503",
    "QTASK 99": "105",
    "QTASK 8": "109",
    "FORMAT XML": "113",
    "WHY nobody": "109",
    "WHOS now": "103",
    "HELP nobody": "103",
}


@pytest.mark.parametrize("line", NO)
def test_no_is_said_in_the_format_of_the_client(tmp_path, line):
    reply = told(tmp_path, line)
    text = shown(tmp_path, line)

    assert reply["code"] == NO[line]
    assert text == f"[{NO[line]}] {reply['message']}"


def test_a_fault_of_ours_is_one_line_and_the_rest_is_in_the_log(tmp_path, caplog):
    monitor = FakeMonitor()
    monitor.fault = RuntimeError("a secret")
    reply = told(tmp_path, "REGTASKS", monitor=monitor)

    assert reply["code"] == "501"
    assert "secret" not in reply["message"]
    assert "a secret" in caplog.text


def test_what_the_daemon_calls_wrong_usage_is_a_wrong_argument(tmp_path):
    monitor = FakeMonitor()
    monitor.fault = UsageError("no such order")
    reply = told(tmp_path, "REGTASKS", monitor=monitor)

    assert reply == {"code": "103", "message": "no such order"}


@pytest.mark.parametrize(
    ("value", "words"),
    [(True, "True"), (None, "None"), ("a", "a"), (1234.5, "1,234.50")],
)
def test_a_figure_is_written_for_people(value, words):
    assert figure(value) == words


def test_a_time_is_told_in_hours_when_it_is_long_and_never_is_a_dash():
    assert (span(3725), span(-1), stamp(0)) == ("1:02:05", "0:00", "-")


def test_a_store_that_is_busy_is_an_error_with_its_words(tmp_path):
    monitor = FakeMonitor()
    monitor.fault = StoreBusyError("the store is locked")
    reply = told(tmp_path, "REGTASKS", monitor=monitor)

    assert (reply["code"], reply["error"]) == ("107", "store_busy")
    assert reply["message"] == "the store is locked"
