"""`ronda owner` and `ronda register`: links of many, watched together."""

import json

import pytest

from e2e import watched
from e2e.watched import A, B, C, Watch, one_line
from ronda.model import State


class TestOwners:
    def test_a_token_is_shown_once(self, watch: Watch) -> None:
        ended = watch("owner", "add", "desk", "--contact", "a@b.example")

        token = ended.out.strip()
        assert len(token) > 30
        assert "it is not shown again" in ended.err
        assert token not in watch("owner", "show", "desk", "--json").out
        other = watch.command("owner", "token", "desk", "--db", watch.db).out.strip()
        assert len(other) == len(token)
        assert other != token

    def test_an_owner_is_listed_shown_changed_and_forgotten(self, watch: Watch) -> None:
        callback = "https://cms.example/links"
        added = watch("owner", "add", "desk", "--callback", callback, "--json")
        assert set(json.loads(added.out)) >= {"id", "name", "callback", "token"}
        watch.json("target", "add", A, "--owner", "desk")

        owners = watch.json("owner", "list")["owners"]
        assert [one["name"] for one in owners] == ["operator", "desk"]
        assert owners[1]["targets"]["unknown"] == 1
        assert callback in watch("owner", "list").out
        changed = watch.json("owner", "set", "desk", "--name", "news", "--contact", "x")
        assert (changed["name"], changed["contact"]) == ("news", "x")
        assert "watches 1 target; --force" in one_line(
            watch("owner", "remove", "news"), 2
        )
        assert watch.json("owner", "remove", "news", "--force")["dropped"] == 1
        assert watch("target", "list").code == 1

    def test_people_see_a_line_a_fact(self, seen: Watch) -> None:
        lines = seen("owner", "show", "operator").out.splitlines()

        assert [line.split() for line in lines if line.startswith("  ")] == [
            ["ok", "1"],
            ["warning", "1"],
            ["broken", "1"],
        ]
        assert ["notices", "-"] in [line.split() for line in lines]

    def test_notices_are_switched(self, watch: Watch) -> None:
        watch("owner", "add", "desk", "--callback", "https://cms.example/")

        assert watch.json("owner", "notices", "desk")["notices_on"] is True
        assert "notices are off" in watch("owner", "notices", "desk", "--off").out
        assert "told of changes at" in watch("owner", "notices", "desk", "--on").out

    def test_the_operator_sees_what_changed(self, watch: Watch) -> None:
        watch.json("owner", "set", "operator", "--callback", "https://me.example/")
        watched.add(watch.db, A, B)
        watched.check(watch.db, {A: State.OK, B: State.BROKEN})
        told = watch.json("owner", "notices")["notices"]

        assert {one["url"]: one["state"] for one in told} == {A: "ok", B: "broken"}
        assert f"404 Not Found  {B}" in watch("owner", "notices").out

    @pytest.mark.parametrize(
        "arguments",
        [
            ("owner", "show", "dsek"),
            ("owner", "set", "dsek", "--contact", "x"),
            ("owner", "remove", "dsek"),
            ("owner", "token", "dsek"),
            ("owner", "notices", "dsek"),
            ("target", "add", A, "--owner", "dsek"),
            ("target", "list", "--owner", "dsek"),
            ("target", "ack", A, "--owner", "dsek"),
            ("register", "list.txt", "--owner", "dsek"),
            ("round", "start", "x", "--owner", "dsek"),
        ],
        ids=" ".join,
    )
    def test_an_unknown_owner_is_told_with_the_nearest(
        self, small: Watch, arguments: tuple[str, ...]
    ) -> None:
        small("owner", "add", "desk")
        (small.folder / "list.txt").write_text(A)

        advice = "`ronda owner add dsek` makes one; did you mean desk?"
        assert f"no owner 'dsek'; {advice}" in one_line(small(*arguments), 1)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("add", "desk"), "there is an owner desk already"),
            (("add", ""), "not a name"),
            (("add", "b", "--callback", "ftp://x/"), "not a callback"),
            (("add", "b", "--callback", "cms"), "not a callback"),
            (("set", "desk"), "nothing to change"),
            (("set", "desk", "--name", "operator"), "already"),
            (("remove", "operator"), "stays"),
        ],
        ids=lambda value: value if isinstance(value, str) else " ".join(value),
    )
    def test_what_cannot_be_is_told(
        self, small: Watch, arguments: tuple[str, ...], words: str
    ) -> None:
        small("owner", "add", "desk")

        assert words in one_line(small("owner", *arguments), 2)


class TestRegistering:
    @pytest.fixture
    def desk(self, seen: Watch) -> Watch:
        seen("owner", "add", "desk")
        return seen

    def test_states_already_known_are_told_at_once(self, desk: Watch) -> None:
        new = "https://new.example/"
        (desk.folder / "l.txt").write_text(f"{new}\nHTTPS://b.example/x#y\n")
        found = desk.json("register", "l.txt", "--owner", "desk")

        told = [(s["url"], s["spelling"], s["state"]) for s in found["states"]]
        assert told == [
            (new, "", "unknown"),
            (B, "HTTPS://b.example/x#y", "broken"),
        ]
        assert found["new"] == 2

    def test_people_see_them_as_a_table(self, desk: Watch) -> None:
        ended = desk("register", "-", "--owner", "desk", stdin=f"{B}\n".encode())

        _, row, words, _ = ended.out.splitlines()
        assert row.startswith("broken  404 Not Found")
        assert words == "desk: 1 new."

    def test_a_full_list_goes_both_ways(self, desk: Watch) -> None:
        desk.json("register", "-", "--owner", "desk", stdin=f"{A}\n{B}\n".encode())
        sync = ("register", "-", "--owner", "desk", "--sync")
        found = desk.json(*sync, stdin=f"{B}\n{C}\n".encode())

        assert (found["new"], found["dropped"]) == (1, 1)
        assert [one["url"] for one in found["states"]] == [B, C]
        assert desk.urls("--owner", "desk") == [B, C]
        assert desk.urls() == [A, B, C]

    @pytest.mark.parametrize(
        ("lines", "words"),
        [
            (f"{B}\nhttps://a.example/my page\n", "cannot be used"),
            (f"{B}\nwww.example/my page\n", "cannot be used"),
            (f"My links\n{B}\n", "cannot be used"),
            ("# none\n", "names no URL"),
        ],
    )
    def test_a_slip_in_a_full_list_drops_nothing(
        self, desk: Watch, lines: str, words: str
    ) -> None:
        desk.json("register", "-", "--owner", "desk", stdin=f"{A}\n".encode())
        sync = ("register", "-", "--owner", "desk", "--sync")
        ended = desk(*sync, stdin=lines.encode())

        assert ended.code == 2
        assert f"{words}: nothing was synced" in ended.err
        assert desk.urls("--owner", "desk") == [A]

    def test_a_list_can_be_unregistered(self, desk: Watch) -> None:
        desk.json("register", "-", "--owner", "desk", stdin=f"{A}\n{B}\n".encode())
        remove = ("register", "-", "--owner", "desk", "--remove")

        assert desk.json(*remove, stdin=f"{A}\n".encode())["removed"] == 1
        assert desk.urls("--owner", "desk") == [B]

    def test_bad_lines_are_told_and_the_rest_is_registered(self, desk: Watch) -> None:
        lines = f"{A}\nhttp://[\n{B}\n"
        ended = desk("register", "-", "--owner", "desk", stdin=lines.encode())

        assert ended.code == 2
        assert ended.err == "(standard input):2: not a URL: http://[\n"
        assert desk.urls("--owner", "desk") == [A, B]

    def test_wrong_usage_is_told(self, small: Watch) -> None:
        both = ("--owner", "operator", "--sync", "--remove")

        assert "one of them at a time" in one_line(small("register", "x", *both), 2)
        assert "'--owner'" in one_line(small("register", "x"), 2)
        assert "no list named" in one_line(small("register", "--owner", "operator"), 2)
