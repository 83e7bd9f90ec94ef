from pathlib import Path

import pytest

from ronda.config import (
    Check,
    Fetch,
    Frontier,
    Guard,
    Intervals,
    Notices,
    PlannedRound,
    Politeness,
    Serve,
    Settings,
    Store,
    described,
    load,
)
from ronda.errors import SettingsError, UsageError
from ronda.frontier import Policy
from ronda.model import State


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path, text: str) -> Path:
    path = folder / "ronda.toml"
    path.write_text(text, "utf-8")
    return path


def fault(path: Path | None, options: dict | None = None) -> str:
    with pytest.raises(SettingsError) as caught:
        load(path, options or {})
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -- loading -------------------------------------------------------------------------


def test_without_a_file_everything_is_at_its_default(folder):
    assert load(None, {}) == Settings()


def test_the_file_of_the_working_directory_is_found(folder):
    written(folder, '[check]\nfragments = true\n[fetch]\ncontact = "me"\n')

    assert load(None, {}) == Settings(
        check=Check(fragments=True), fetch=Fetch(contact="me")
    )


def test_a_file_that_is_named_goes_before_the_one_of_the_working_directory(folder):
    written(folder, "[fetch]\nretries = 5\n")
    other = folder / "other.toml"
    other.write_text("[fetch]\nretries = 7\n", "utf-8")

    assert load(other, {}).fetch.retries == 7


def test_an_empty_file_changes_nothing(folder):
    written(folder, "")

    assert load(None, {}) == Settings()


def test_a_whole_number_does_where_a_number_is_wanted(folder):
    written(folder, "[fetch]\ntimeout = 3\n")

    assert load(None, {}).fetch.timeout == 3.0


def test_zero_is_zero_and_not_no_limit(folder):
    written(folder, "[[politeness]]\ninterval = 0\n")

    [row] = load(None, {}).politeness
    assert row.interval == 0
    assert Settings().politeness == (Politeness(interval=None),)


def test_the_frontier_has_its_sizes(folder):
    written(folder, "[frontier]\nqueue_count = 7\nhosts_per_server = 3\n")

    assert load(None, {}).frontier == Frontier(queue_count=7, hosts_per_server=3)


def test_the_guard_has_its_networks(folder):
    written(folder, '[guard]\nallow = ["10.1.0.0/16", "fd00::1"]\n')

    found = load(None, {"guard": {"public_only": True}})
    assert found.guard == Guard(allow=("10.1.0.0/16", "fd00::1"), public_only=True)


# -- rows of politeness ----------------------------------------------------------------


def test_rows_of_politeness_come_in_their_order(folder):
    written(
        folder,
        "[[politeness]]\ninterval = 2\n"
        '[[politeness]]\nmatch = "*.example.org"\nper_host = 3\n',
    )

    assert load(None, {}).politeness == (
        Politeness(interval=2.0),
        Politeness("*.example.org", per_host=3),
    )


def test_no_rows_are_no_limits_but_the_defaults(folder):
    written(folder, "politeness = []\n")

    assert load(None, {}).politeness == ()


def test_options_are_a_row_of_their_own_after_those_of_the_file(folder):
    written(folder, '[[politeness]]\nmatch = "a.example"\ninterval = 2\n')

    found = load(None, {"politeness": {"interval": 5.0, "per_host": 1}})
    assert found.politeness == (
        Politeness("a.example", interval=2.0),
        Politeness(interval=5.0, per_host=1),
    )


def test_options_are_the_only_row_without_a_file(folder):
    found = load(None, {"politeness": {"interval": 5.0}})

    assert found.politeness == (Politeness(interval=5.0),)


def test_options_go_before_general_rows_of_the_file_but_not_before_particular_ones(
    folder,
):
    written(
        folder,
        "[[politeness]]\ninterval = 1\nper_host = 9\n"
        '[[politeness]]\nmatch = "a.example"\ninterval = 2\n',
    )
    policy = Policy(load(None, {"politeness": {"interval": 5.0}}).politeness)

    assert policy.limits("a.example", "93.184.216.34").interval == 2.0
    other = policy.limits("b.example", "93.184.216.34")
    assert (other.interval, other.per_host) == (5.0, 9)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("[politeness]\ninterval = 1", {}),
        ("[politeness]\n", {}),
        ("[politeness]\ninterval = 1", {"politeness": {"interval": 2.0}}),
        ("politeness = 3", {}),
    ],
)
def test_a_table_where_rows_are_wanted_is_told_how_to_write_them(folder, text, options):
    path = written(folder, text)
    words = "politeness: write it as rows, each under [[politeness]]"

    assert fault(path, options) == f"{path}: {words}"


def test_an_unknown_key_of_a_row_names_the_known_ones(folder):
    message = fault(written(folder, "[[politeness]]\nintervall = 3\n"))

    assert "unknown key 'politeness[0].intervall'" in message
    assert all(name in message for name in Politeness.__struct_fields__)


def test_a_wrong_option_of_politeness_is_named_as_such(folder):
    message = fault(None, {"politeness": {"interval": -1.0}})

    assert message == "--interval: expected number >= 0.0"


def test_an_option_of_politeness_is_named_as_it_is_written(folder):
    message = fault(None, {"politeness": {"server_interval": -1.0}})

    assert message.startswith("--server-interval: ")


def test_a_wrong_row_of_the_file_is_not_blamed_on_an_option(folder):
    path = written(folder, "[[politeness]]\ninterval = -1\n")

    message = fault(path, {"politeness": {"interval": 2.0}})
    assert message.startswith(f"{path}: politeness[0].interval: ")


def test_the_settings_of_rows_are_described_too():
    assert described("politeness.interval").startswith("Seconds between two requests")


# -- what is watched ------------------------------------------------------------------


def test_the_store_the_daemon_and_the_notices_have_their_sections(folder):
    written(
        folder,
        '[store]\ndb = "postgresql://h/d"\nretention = 7\n'
        "[serve]\ngrace = 0\nshare = true\n[notices]\nbatch = 5\n",
    )

    found = load(None, {"store": {"batch": 9}})
    assert found.store == Store(db="postgresql://h/d", retention=7, batch=9)
    assert found.serve == Serve(grace=0.0, share=True)
    assert found.notices == Notices(batch=5)


def test_rows_of_the_schedule_come_in_their_order(folder):
    written(
        folder,
        "[[schedule]]\nok = 60\n"
        '[[schedule]]\nmatch = "*.example.org"\nowner = "a"\n'
        'label = "x"\nconfirm = 3\n',
    )

    assert load(None, {}).schedule == (
        Intervals(ok=60.0),
        Intervals("*.example.org", "a", "x", confirm=3),
    )
    assert Settings().schedule == (Intervals(),)


def test_there_are_no_rounds_but_those_of_the_file(folder):
    assert load(None, {}).rounds == ()
    written(folder, '[[rounds]]\nname = "n"\ncron = "@daily"\nstate = "broken"\n')

    assert load(None, {}).rounds == (
        PlannedRound("n", "@daily", state=State.BROKEN, timezone="UTC", forced=False),
    )


@pytest.mark.parametrize("section", ["schedule", "rounds"])
def test_rows_are_told_to_be_written_as_such_wherever_they_are_wanted(folder, section):
    path = written(folder, f"[{section}]\n")
    words = f"{section}: write it as rows, each under [[{section}]]"

    assert fault(path) == f"{path}: {words}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[schedule]]\n[[schedule]]\nok = 0", "schedule[1].ok: expected number >= "),
        ('[[schedule]]\nok = "1d"', "schedule[0].ok: expected number, got text"),
        ("[[schedule]]\ngrowth = 0.5", "schedule[0].growth: expected number >= 1"),
        ("[[schedule]]\njitter = 0.6", "schedule[0].jitter: expected number <= 0.5"),
        ("[[schedule]]\nconfirm = 0", "schedule[0].confirm: expected whole number >="),
        ('[[schedule]]\nmatch = ""', "schedule[0].match: expected text of length >= 1"),
        ("[[schedule]]\nokay = 1", "unknown key 'schedule[0].okay'; known here: match"),
        ('[[rounds]]\nname = "n"', "rounds[0].cron: must be set"),
        ('[[rounds]]\ncron = "@daily"', "rounds[0].name: must be set"),
        (
            '[[rounds]]\nname = "n"\ncron = "@daily"\nstate = "dead"',
            "rounds[0].state: invalid enum value 'dead'",
        ),
        (
            "[[rounds]]\nwhen = 1",
            "unknown key 'rounds[0].when'; known here: name, cron",
        ),
        ("[store]\nretention = 0", "store.retention: expected whole number >= 1"),
        ("[serve]\ngrace = -1", "serve.grace: expected number >= 0"),
        ("[notices]\ntimeout = 0", "notices.timeout: expected number >= "),
    ],
)
def test_a_wrong_row_or_key_of_what_is_watched_is_named(folder, text, words):
    path = written(folder, text)

    assert fault(path).startswith(f"{path}: {words}")


def test_two_rounds_of_one_name_are_told(folder):
    row = '[[rounds]]\nname = "n"\ncron = "@daily"\n'

    message = fault(written(folder, row * 2))
    assert message == "rounds[1].name: 'n' is the name of another round too"


def test_an_option_of_any_rows_is_a_row_after_those_of_the_file(folder):
    path = written(folder, "[[schedule]]\nok = 60\n")
    options = {"schedule": {"confirm": 1}}

    assert load(path, options).schedule == (Intervals(ok=60.0), Intervals(confirm=1))
    assert fault(path, {"schedule": {"confirm": 0}}).startswith("--confirm: ")


# -- the command line ----------------------------------------------------------------


def test_the_command_line_wins(folder):
    written(folder, "[fetch]\nretries = 5\ntimeout = 9.0\n")

    found = load(None, {"fetch": {"retries": 1}})
    assert (found.fetch.retries, found.fetch.timeout) == (1, 9.0)


def test_lists_of_file_and_command_line_are_added(folder):
    written(folder, '[check]\nexclude = ["a.example"]\naccept = ["403"]\n')

    found = load(None, {"check": {"exclude": ["b.example"]}})
    assert found.check.exclude == ("a.example", "b.example")
    assert found.check.accept == ("403",)


def test_headers_of_file_and_command_line_are_added_and_the_latter_win(folder):
    written(folder, '[fetch]\nheaders = { A = "1", B = "2" }\n')

    found = load(None, {"fetch": {"headers": {"B": "3", "C": "4"}}})
    assert found.fetch.headers == {"A": "1", "B": "3", "C": "4"}


def test_the_command_line_needs_no_section_in_the_file(folder):
    written(folder, "[check]\nfragments = true\n")

    found = load(None, {"report": {"format": "json"}})
    assert (found.report.format, found.check.fragments) == ("json", True)


# -- what is wrong -------------------------------------------------------------------


def test_an_unknown_key_names_the_known_ones(folder):
    message = fault(written(folder, "[fetch]\nretrys = 3\n"))

    assert "unknown key 'fetch.retrys'" in message
    assert all(name in message for name in Fetch.__struct_fields__)


def test_an_unknown_key_of_the_frontier_names_the_known_ones(folder):
    message = fault(written(folder, "[frontier]\nqueues = 3\n"))

    assert "unknown key 'frontier.queues'" in message
    assert all(name in message for name in Frontier.__struct_fields__)


@pytest.mark.parametrize("network", ["10.1.0.0/33", "10.1.2.3/16", "a.example", ""])
def test_what_is_no_network_is_not_allowed_to_be_one(folder, network):
    message = fault(written(folder, f'[guard]\nallow = ["{network}"]\n'))

    assert message.startswith(f"guard.allow: '{network}': no")


def test_an_unknown_section_names_the_known_ones(folder):
    message = fault(written(folder, "[fetcher]\nretries = 3\n"))

    assert "unknown key 'fetcher'" in message
    assert all(name in message for name in Settings.__struct_fields__)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[fetch]\nretries = "3"', "fetch.retries"),
        ("[fetch]\nretries = 1.5", "fetch.retries"),
        ("[fetch]\nhttp2 = 1", "fetch.http2"),
        ('[check]\nexclude = "a.example"', "check.exclude"),
        ("[check]\nexclude = [1]", "check.exclude"),
        ("[fetch]\nheaders = { A = 1 }", "fetch.headers"),
        ("check = 3", "check"),
    ],
)
def test_a_wrong_type_names_the_file_and_the_key(folder, text, key):
    message = fault(written(folder, text))

    assert message.startswith(f"{folder / 'ronda.toml'}: {key}")
    assert "expected" in message


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[fetch]\ntimeout = 0", "fetch.timeout"),
        ("[fetch]\nretries = -1", "fetch.retries"),
        ("[fetch]\nretries = 11", "fetch.retries"),
        ("[fetch]\nconcurrency = 0", "fetch.concurrency"),
        ("[[politeness]]\ninterval = -0.1", "politeness[0].interval"),
        ("[[politeness]]\n[[politeness]]\nper_host = 0", "politeness[1].per_host"),
        ("[[politeness]]\nrest = 0", "politeness[0].rest"),
        ("[[politeness]]\nmatch = 3", "politeness[0].match"),
        ("[frontier]\nqueue_count = 0", "frontier.queue_count"),
        ("[frontier]\nqueue_length = 0", "frontier.queue_length"),
        ("[frontier]\nhosts_per_server = 0", "frontier.hosts_per_server"),
        ("[check]\nmax_time = 0", "check.max_time"),
        ('[check]\nmethod = "POST"', "check.method"),
    ],
)
def test_an_impossible_value_names_the_file_and_the_key(folder, text, key):
    assert fault(written(folder, text)).startswith(f"{folder / 'ronda.toml'}: {key}: ")


def test_an_impossible_value_of_the_command_line_names_its_key(folder):
    assert fault(None, {"fetch": {"retries": 99}}).startswith("--retries: ")


def test_an_option_does_not_hide_that_its_section_is_no_section(folder):
    path = written(folder, "check = 3")

    assert "check: " in fault(path, {"check": {"method": "GET"}})


def test_what_is_not_toml_names_the_line(folder):
    message = fault(written(folder, "[check\n"))

    assert "ronda.toml: not valid TOML: " in message
    assert "line 1" in message


def test_what_is_not_utf8_is_named(folder):
    path = folder / "ronda.toml"
    path.write_bytes(b'[fetch]\ncontact = "\xe9"\n')

    assert fault(None) == "ronda.toml: not UTF-8"


def test_a_file_that_is_named_must_exist(folder):
    path = folder / "nowhere.toml"

    assert fault(path) == f"{path}: No such file or directory"


def test_a_folder_is_not_a_file_of_settings(folder):
    assert fault(folder) == f"{folder}: Is a directory"


def test_a_wrong_setting_is_a_wrong_usage():
    assert issubclass(SettingsError, UsageError)
    assert SettingsError.exit_code == 2


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ('[[plans]]\nkind = "service"\ntasks = []\n', "plans[0].tasks: names no task"),
        (
            '[[plans]]\nkind = "a"\ntasks = ["x", "y", "x"]\n',
            "plans[0].tasks: names 'x' twice",
        ),
        (
            2 * '[[plans]]\nkind = "a"\ntasks = ["x"]\n',
            "plans[1].kind: there is another plan for 'a'",
        ),
    ],
)
def test_plans_that_cannot_be_meant_are_refused(tmp_path, rows, words):
    path = tmp_path / "ronda.toml"
    path.write_text(rows)

    with pytest.raises(SettingsError) as raised:
        load(path, {})

    assert words in str(raised.value)
