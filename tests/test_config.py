from pathlib import Path

import pytest

from ronda.config import Check, Fetch, Settings, load
from ronda.errors import SettingsError, UsageError


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
    written(folder, "[politeness]\ninterval = 0\n")

    assert load(None, {}).politeness.interval == 0
    assert Settings().politeness.interval is None


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
        ("[politeness]\ninterval = -0.1", "politeness.interval"),
        ("[politeness]\nper_host = 0", "politeness.per_host"),
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
