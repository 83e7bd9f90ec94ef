"""`ronda target`, over both engines: what users type and see."""

import json
import re
import shlex
import stat
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from e2e import watched
from e2e.command import Command
from e2e.forks import Forked
from e2e.watched import A, B, C, Watch, one_line
from ronda.model import State

ROOT = Path(__file__).parents[2]
MANY = 10_000


class TestAdding:
    def test_urls_are_watched_once_by_whatever_spelling(self, watch: Watch) -> None:
        added = watch.json("target", "add", A, "HTTPS://A.example/#part", "foo:bar")

        assert added == {
            "new": 2,
            "known": 0,
            "watched": 2,
            "owner": "operator",
            "problems": [],
        }
        assert watch.urls() == [A, "foo:bar"]

    def test_a_list_is_added_but_for_its_bad_lines(self, watch: Watch) -> None:
        lines = [A, "http://[::1", "just-a-word", B, "\0", f"{A}#part"]
        (watch.folder / "list.txt").write_text("\n".join(lines))
        ended = watch("target", "add", "--file", "list.txt")

        assert ended.code == 2
        assert ended.out == (
            "2 new targets, 0 known already; operator now watches 2 more.\n"
            "No daemon is running: `ronda serve` checks them.\n"
        )
        first, second, third = ended.err.splitlines()
        assert first == "list.txt:2: not a URL: http://[::1"
        assert second.startswith("list.txt:3: 'just-a-word' is not a URL; write it")
        assert third.startswith("list.txt:5: not text")
        assert watch.urls() == [A, B]

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("list.csv", f"name,url\na,{A}\nb,{B}\n"),
            ("list.json", json.dumps({"links": [A, {"at": B}]})),
            ("list.jsonl", f'{{"url": "{A}"}}\n{{"url": "{B}"}}\n'),
            (
                "map.xml",
                f"<urlset><url><loc>{A}</loc></url><url><loc>{B}</loc></url></urlset>",
            ),
            ("page.md", f"[a]({A}) and <{B}>\n"),
        ],
    )
    def test_a_list_may_be_of_any_format(
        self, small: Watch, name: str, text: str
    ) -> None:
        (small.folder / name).write_text(text)

        assert small.json("target", "add", "--file", name)["new"] == 2
        assert small.urls() == [A, B]

    @pytest.mark.parametrize("how", [("-",), ("--file", "-")])
    def test_a_list_may_come_by_standard_input(
        self, small: Watch, how: tuple[str, ...]
    ) -> None:
        added = small.json("target", "add", *how, stdin=f"{A}\n{B}\n".encode())

        assert added["new"] == 2

    def test_the_column_of_a_table_can_be_named(self, small: Watch) -> None:
        (small.folder / "t.csv").write_text(f"old,new\n{A},{B}\n")
        added = small.json("target", "add", "--file", "t.csv", "--column", "new")

        assert added["new"] == 1
        assert small.urls() == [B]

    def test_ten_thousand_lines_are_added_in_silence(self, watch: Watch) -> None:
        lines = (f"https://{n % 100}.example/{n}\n" for n in range(MANY))
        (watch.folder / "many.txt").write_text("".join(lines))
        ended = watch("target", "add", "--file", "many.txt", "--no-progress")

        assert (ended.code, ended.err) == (0, "")
        assert ended.out.startswith("10,000 new targets, 0 known already;")
        assert watch.json("stats")["targets"] == MANY

    def test_labels_and_a_pace_are_kept(self, watch: Watch) -> None:
        more = ("--label", "shop", "--label", "news", "--every", "6h")
        watch.json("target", "add", A, *more)
        watch.json("target", "add", B)

        assert watch.json("target", "show", A)["labels"] == ["news", "shop"]
        assert watch.urls("--label", "shop") == [A]

    def test_the_store_is_made_for_its_user_alone(self, small: Watch) -> None:
        small.json("target", "add", A)

        assert stat.S_IMODE(Path(small.db).stat().st_mode) == 0o600

    def test_without_an_option_the_store_of_the_user_is_meant(
        self, ronda: Command
    ) -> None:
        assert ronda("target", "add", A).code == 0
        assert (ronda.folder / ".local/state/ronda/ronda.db").is_file()

    def test_the_settings_say_where_the_store_is(self, ronda: Command) -> None:
        (ronda.folder / "my.toml").write_text('[store]\ndb = "mine.db"\n')

        assert ronda("target", "add", A, "--config", "my.toml").code == 0
        assert (ronda.folder / "mine.db").is_file()


class TestAddingNothing:
    def test_no_url_is_wrong_usage(self, small: Watch) -> None:
        assert "give a URL, --file FILE, or -" in one_line(small("target", "add"), 2)

    def test_a_file_in_the_place_of_a_url_is_told(self, small: Watch) -> None:
        (small.folder / "urls.txt").write_text(A)

        line = one_line(small("target", "add", "urls.txt"), 2)
        assert "'urls.txt' is a file; write --file urls.txt" in line

    def test_a_url_in_the_place_of_a_file_is_told(self, small: Watch) -> None:
        assert "leave out --file" in one_line(small("target", "add", "--file", A), 2)

    def test_a_file_that_is_not_there_is_told(self, small: Watch) -> None:
        ended = small("target", "add", "--file", "no.txt")

        assert (ended.code, ended.err) == (2, "no.txt: no such file\n")

    @pytest.mark.parametrize("text", ["word", "localhost:80/x", "//a.example/", ""])
    def test_what_is_no_url_is_told(self, small: Watch, text: str) -> None:
        ended = small("target", "add", text)

        assert ended.code == 2
        assert ended.err.startswith(f"(command line): '{text}' is not a URL; write")

    def test_standard_input_is_read_once(self, small: Watch) -> None:
        line = one_line(small("target", "add", "-", "--file", "-"), 2)

        assert "standard input" in line

    def test_an_empty_list_adds_nothing(self, small: Watch) -> None:
        ended = small("target", "add", "-")

        assert ended.code == 1
        assert "empty" in ended.err

    @pytest.mark.parametrize(
        ("option", "value", "words"),
        [
            ("--every", "6", "write 90s, 10m, 6h or 7d"),
            ("--every", "0s", "out of range"),
            ("--label", " ", "1 to 100 characters"),
            ("--label", "x" * 101, "1 to 100 characters"),
        ],
    )
    def test_an_option_that_cannot_be_is_told(
        self, small: Watch, option: str, value: str, words: str
    ) -> None:
        assert words in one_line(small("target", "add", A, option, value), 2)
        assert not Path(small.db).exists()


class TestListing:
    @pytest.mark.parametrize(
        ("filters", "found"),
        [
            ((), [A, B, C]),
            (("--state", "broken"), [B]),
            (("--host", "B.example."), [B, C]),
            (("--scheme", "HTTPS"), [A, B, C]),
            (("--reason", "http_404"), [B]),
            (("--text", "EXAMPLE/Y"), [C]),
            (("--owner", "operator"), [A, B, C]),
            (("--checked-after", "1h"), [A, B, C]),
            (("--changed-before", "2000-01-01", "--state", "ok"), []),
            (("--disabled",), []),
            (("--enabled", "--steady", "--unacknowledged", "--state", "ok"), [A]),
            (("--flapping",), []),
            (("--sort", "added", "--descending"), [C, B, A]),
        ],
        ids=lambda value: " ".join(value) or "none",
    )
    def test_filters_choose_and_sort(
        self, seen: Watch, filters: tuple[str, ...], found: list[str]
    ) -> None:
        ended = seen("target", "list", "--json", *filters)

        assert [one["url"] for one in json.loads(ended.out)["targets"]] == found
        assert ended.code == (0 if found else 1)

    def test_people_see_a_table(self, seen: Watch) -> None:
        ended = seen("target", "list", "--state", "broken")

        head, row = ended.out.splitlines()
        assert head.split() == ["state", "message", "changed", "checked", "next", "url"]
        assert re.fullmatch(
            rf"broken  404 Not Found  \d+ s ago +\d+ s ago +in 24 h +{B}", row
        )
        assert (ended.code, ended.err) == (0, "")

    def test_programs_see_every_fact(self, seen: Watch) -> None:
        [one] = seen.json("target", "list", "--state", "broken")["targets"]

        moments = {name for name, value in one.items() if _is_moment(value)}
        assert moments == {"added_at", "last_check_at", "last_change_at", "next_due"}
        assert {name: one[name] for name in one if name not in moments} == {
            "id": one["id"],
            "url": B,
            "state": "broken",
            "reason": "http_404",
            "message": "404 Not Found",
            "failures": 1,
            "enabled": True,
            "why_disabled": "",
            "flapping": False,
            "spelling": "",
            "acknowledged": False,
            "every": None,
            "unconfirmed": False,
        }

    def test_an_owner_sees_his_own_spelling(self, watch: Watch) -> None:
        watch.json("owner", "add", "desk")
        watch.json("target", "add", "HTTPS://A.example", "--owner", "desk")
        [one] = watch.json("target", "list", "--owner", "desk")["targets"]

        assert (one["url"], one["spelling"]) == (A, "HTTPS://A.example")
        assert "HTTPS://A.example\n" in watch("target", "list", "--owner", "desk").out

    def test_pages_show_each_target_once(self, watch: Watch) -> None:
        every = [f"https://a.example/{n}" for n in range(7)]
        watch.json("target", "add", *every)
        pages = list(_pages(watch, "--limit", "3"))

        assert [len(page) for page in pages] == [3, 3, 1]
        assert [*chain(*pages)] == every

    def test_people_are_told_how_to_go_on(self, seen: Watch) -> None:
        ended = seen("target", "list", "--limit", "2")

        *_, last = ended.out.splitlines()
        key = last.removeprefix("There are more: --after ")
        assert key != last
        assert C in seen("target", "list", "--limit", "2", "--after", key).out

    def test_nothing_found_is_told(self, watch: Watch) -> None:
        ended = watch("target", "list", "--host", "no.example")

        assert (ended.code, ended.out, ended.err) == (1, "No such target.\n", "")
        assert "None yet: `ronda target add URL`" in watch("target", "list").out

    @pytest.mark.parametrize(
        ("option", "value", "words"),
        [
            ("--state", "dead", "is not one of"),
            ("--checked-after", "soon", "is no moment; write 2026-01-31"),
            ("--limit", "0", "range"),
            ("--limit", "10001", "range"),
            ("--sort", "url", "is not one of"),
            ("--after", "nonsense", "not the key of a page"),
        ],
    )
    def test_an_option_that_cannot_be_is_told(
        self, small: Watch, option: str, value: str, words: str
    ) -> None:
        small.json("target", "add", A)

        assert words in one_line(small("target", "list", option, value), 2)

    def test_a_password_is_never_shown(self, watch: Watch) -> None:
        url = "https://me:secret@a.example/"
        watch.json("target", "add", url)

        for arguments in (("list",), ("list", "--json"), ("show", url)):
            ended = watch("target", *arguments)
            assert "a.example" in ended.out
            assert "secret" not in ended.out

    def test_colours_are_for_terminals_only(self, seen: Watch) -> None:
        assert "\x1b" not in seen("target", "list").out


def _pages(watch: Watch, *arguments: str) -> Iterator[list[str]]:
    after: tuple[str, ...] = ()
    while True:
        page = watch.json("target", "list", *arguments, *after)
        yield [one["url"] for one in page["targets"]]
        if page["next"] is None:
            return
        after = ("--after", page["next"])


def _is_moment(value: object) -> bool:
    return isinstance(value, str) and bool(
        re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value)
    )


class TestOneTarget:
    def test_all_that_is_known_is_shown(self, seen: Watch) -> None:
        found = seen.json("target", "show", B)

        assert found["target"]["state"] == "broken"
        assert found["owners"] == ["operator"]
        assert found["host"] == "b.example"
        assert found["result"]["status"] == 404
        assert found["result"]["verdict"] == "broken"

    def test_people_see_a_line_a_fact(self, seen: Watch) -> None:
        out = seen("target", "show", B).out

        facts = dict(line.split("  ", 1) for line in out.splitlines())
        assert facts["state"].strip() == "broken"
        assert facts["took"].strip() == "250 ms"
        assert facts["failures"].strip() == "1 in a row"

    def test_its_history_tells_results_changes_uptime_and_latency(
        self, watch: Watch
    ) -> None:
        watch.json("target", "add", A)
        for state, hours in ((State.OK, 3), (State.BROKEN, 2), (State.OK, 1)):
            watch("target", "check", A, "--force")
            watched.check(watch.db, {A: state}, ago=hours * 3600)
        found = watch.json("target", "history", A, "--since", "4h")

        assert [one["state"] for one in found["results"]] == ["ok", "broken", "ok"]
        assert [(c["was"], c["state"]) for c in found["changes"]] == [
            ("broken", "ok"),
            ("ok", "broken"),
        ]
        assert found["uptime"]["percent"] == pytest.approx(200 / 3, abs=0.1)
        assert found["uptime"]["unobserved"] == pytest.approx(3600, abs=5)
        assert found["latency"] == {
            "count": 3,
            **dict.fromkeys(("p50", "p90", "p95", "p99"), 0.25),
        }
        out = watch("target", "history", A, "--since", "4h", "--limit", "2").out
        assert "uptime        66.6" in out
        assert "unobserved    60 min" in out
        assert "There are more: --limit shows them." in out

    def test_a_target_without_results_has_no_history(self, watch: Watch) -> None:
        watch.json("target", "add", A)
        ended = watch("target", "history", A)

        assert ended.code == 1
        assert "No result in that time." in ended.out
        assert "uptime" in ended.out

    def test_a_window_must_not_be_upside_down(self, small: Watch) -> None:
        small.json("target", "add", A)
        ended = small("target", "history", A, "--since", "1d", "--until", "2d")

        assert "not after --since" in one_line(ended, 2)
        ended = small("target", "history", A, "--since", "2999-01-01")
        assert "--since: 2999-01-01 00:00:00 is still to come" in one_line(ended, 2)

    @pytest.mark.parametrize("command", ["show", "history"])
    def test_an_unknown_target_is_told_with_the_nearest(
        self, watch: Watch, command: str
    ) -> None:
        watch.json("target", "add", B)

        line = one_line(watch("target", command, "https://b.example/xx"), 1)
        assert f"shows all; did you mean {B}?" in line
        line = one_line(watch("target", command, "https://c.example/"), 1)
        assert "`ronda target add` watches it" in line
        assert "not a URL" in one_line(watch("target", command, "b.example"), 2)


class TestActing:
    def test_a_disabled_target_is_kept_but_not_due_until_enabled(
        self, watch: Watch
    ) -> None:
        watch.json("target", "add", A, B)
        assert watch("target", "disable", A, "--why", "rebuilt").out == (
            "1 of 1 disabled.\n"
        )

        [one] = watch.json("target", "list", "--disabled")["targets"]
        assert (one["url"], one["why_disabled"]) == (A, "rebuilt")
        assert one["next_due"] is None
        assert "disabled: rebuilt" in watch("target", "list", "--disabled").out
        assert watch.json("target", "enable", A)["done"] == 1
        assert watch.urls("--enabled") == [A, B]

    def test_what_was_seen_within_the_hour_is_checked_by_force_only(
        self, seen: Watch
    ) -> None:
        ended = seen("target", "check", A)

        assert ended.code == 1
        assert ended.err == f"{A}: checked less than 60 min ago; see --force\n"
        assert seen.json("target", "check", A, "--force")["done"] == 1
        assert seen.json("stats")["queue"] == 1

    def test_what_is_disabled_is_checked_by_force_only(self, watch: Watch) -> None:
        watched.add(watch.db, A)
        watch("target", "disable", A)
        ended = watch("target", "check", A)

        assert (ended.code, ended.err) == (1, f"{A}: disabled; see --force\n")
        assert watch.json("target", "check", A, "--force")["done"] == 1

    def test_of_many_only_the_number_is_told(self, watch: Watch) -> None:
        watched.add(watch.db, A)
        many = [A, *(f"https://no.example/{n}" for n in range(30))]
        ended = watch("target", "remove", "-", stdin="\n".join(many).encode())

        others = "operator does not watch the others; see --owner and --everybody"
        assert (ended.code, ended.err) == (0, "")
        assert ended.out == f"1 of 31 removed: {others}.\n"

    def test_a_folder_is_no_list(self, watch: Watch, tmp_path: Path) -> None:
        ended = watch("target", "add", "--file", str(tmp_path))

        assert ended.code == 2
        assert "is a folder: name a list in it" in ended.err

    def test_an_acknowledged_state_is_marked(self, seen: Watch) -> None:
        assert seen.json("target", "ack", B)["done"] == 1
        assert seen.urls("--acknowledged", "--owner", "operator") == [B]
        assert seen.json("target", "show", B)["target"]["acknowledged"] is True
        assert "remarks     acknowledged" in seen("target", "show", B).out
        assert "acknowledged; 404" in seen("target", "list", "--owner", "operator").out

    def test_a_target_is_removed_for_its_owner_only(self, watch: Watch) -> None:
        watch.json("owner", "add", "desk")
        watch.json("target", "add", A, "--owner", "desk")
        watch.json("target", "add", A)
        ended = watch("target", "remove", A)

        assert (ended.code, ended.out) == (0, "1 of 1 removed.\n")
        assert watch.urls() == [A]
        ended = watch("target", "remove", A)
        assert ended.code == 1
        assert ended.out.startswith("0 of 1 removed: operator does not watch it;")
        assert watch("target", "remove", A, "--everybody").code == 0
        assert watch("target", "list").code == 1

    def test_a_list_is_worked_through(self, seen: Watch) -> None:
        lines = f"{A}\nhttps://no.example/\nhttp://[\n{B}\n"
        ended = seen("target", "remove", "-", stdin=lines.encode())

        assert ended.code == 2
        assert ended.out == "2 of 3 removed.\n"
        assert "https://no.example/: not watched;" in ended.err
        assert "(standard input):3: not a URL" in ended.err
        assert seen.urls() == [C]

    @pytest.mark.parametrize("verb", ["remove", "enable", "disable", "check", "ack"])
    def test_what_nobody_watches_is_not_found(self, watch: Watch, verb: str) -> None:
        watch.json("target", "add", A)
        ended = watch("target", verb, "https://a.example/x")

        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith("https://a.example/x: not watched; `ronda target")


def test_the_commands_of_the_how_to_work_in_their_order(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "howto" / "watch.md").read_text("utf-8")
    for name in ("urls.txt", "more.txt", "links.txt", "gone.txt"):
        (tmp_path / name).write_text(f"{A}\nhttps://your.site/{name}\n")
    ronda, ran = Forked(tmp_path), 0
    for line in re.findall(r"^(?:cat .* \| )?ronda .*", text, re.MULTILINE):
        before, _, command = line.rpartition("ronda ")
        stdin = (tmp_path / before.split()[1]).read_bytes() if before else b""
        if not command.startswith("serve"):
            arguments = shlex.split(command, comments=True)
            apart = {"XDG_RUNTIME_DIR": str(tmp_path)}
            ended = ronda(*arguments, stdin=stdin, env=apart)
            assert ended.code in {0, 1}, (line, ended)
            assert "Traceback" not in ended.err
            ran += 1

    assert ran > 25
