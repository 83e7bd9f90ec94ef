"""What a program's output means, whatever it is."""

import contextlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.model import Ran, State
from ronda.probes import tcl
from ronda.probes.reasons import REASONS
from ronda.probes.said import EVIDENCE, Identity, Said, evidence, identified, said

OK, WARNING, TEMPORARY = State.OK, State.WARNING, State.TEMPORARY
BROKEN, BLOCKED, UNKNOWN = State.BROKEN, State.BLOCKED, State.UNKNOWN

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
# Texts that look like answers more often than chance has it.
answers = st.lists(
    st.one_of(
        st.sampled_from(
            ["ok", "warning", "error", "not_applicable", '{"status":', "}"]
        ),
        st.sampled_from([" ", "\n", "{", "}", '"', "\\", '"ok"', '{"status":"ok"}']),
        texts,
    )
).map("".join)


def exited(output: str = "", code: int | None = 0, **others: object) -> Ran:
    return Ran(code=code, output=output, **others)  # type: ignore[arg-type]


def found(output: str, code: int | None = 0, **others: object) -> tuple[object, str]:
    heard = said(exited(output, code, **others))
    return heard.state, heard.reason


class TestJson:
    def test_a_line_tells_all(self) -> None:
        line = '{"status": "warning", "code": "no_title", "message": "m", "data": "d"}'

        assert said(exited(f"talk\n{line}\n\n")) == Said(WARNING, "no_title", "m", "d")

    @pytest.mark.parametrize(
        ("status", "expected"),
        [
            ("ok", (OK, "task_ok")),
            ("warning", (WARNING, "task_warning")),
            ("error", (BROKEN, "task_broken")),
            ("broken", (BROKEN, "task_broken")),
            ("temporary", (TEMPORARY, "task_temporary")),
            ("blocked", (BLOCKED, "task_blocked")),
            ("unknown", (UNKNOWN, "task_error")),
            ("not_applicable", (None, "")),
        ],
    )
    def test_each_status_has_its_state(
        self, status: str, expected: tuple[object, str]
    ) -> None:
        assert found(json.dumps({"status": status})) == expected

    def test_who_says_nothing_more_has_words_of_ours(self) -> None:
        assert said(exited('{"status": "ok"}')).message == REASONS["task_ok"].words

    def test_data_that_is_no_text_is_kept_as_compact_json(self) -> None:
        line = '{"status": "ok", "data": {"bytes": [1, 2]}, "message": 7}'

        assert said(exited(line)).data == '{"bytes":[1,2]}'

    def test_it_may_be_spread_over_lines(self) -> None:
        answer = json.dumps({"status": "broken", "code": "x"}, indent=2)

        assert found(f"talk\n{answer}") == (BROKEN, "x")

    @pytest.mark.parametrize(
        "line", ['{"status": "fine"}', '{"status": 3}', '{"status": "ok",}']
    )
    def test_a_line_that_was_meant_to_be_one_is_not_taken_for_talk(
        self, line: str
    ) -> None:
        assert found(line) == (UNKNOWN, "task_error")

    def test_a_line_without_a_status_is_talk(self) -> None:
        assert found('{"bytes": 3}', 1) == (BROKEN, "task_broken")


class TestTheSeedsLine:
    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("ok {} {} {all well} {1}", Said(OK, "task_ok", "all well")),
            ("error {no_xml} {d} {w w} {1}", Said(BROKEN, "no_xml", "w w", "d")),
            ("warning {slow_map} {w} {d d} {1}", Said(WARNING, "slow_map", "w", "d d")),
            ('ok "" "" "a \\"b\\"" 1 0.3', Said(OK, "task_ok", 'a "b"')),
            ("not_applicable {} {} {} {}", Said(None)),
            ("not_applicable", Said(None)),
        ],
    )
    def test_it_is_a_tcl_list(self, line: str, expected: Said) -> None:
        assert said(exited(f"curl talks\n{line}\n")) == expected

    def test_braces_may_stay_open_over_lines(self) -> None:
        output = "ok so far\nwarning code {words} {first\nsecond } 17"

        assert said(exited(output)) == Said(WARNING, "code", "words", "first\nsecond ")

    @pytest.mark.parametrize(
        "line", ["error {x", "error no connection", "ok {} {a}", "warning {a}b c d e"]
    )
    def test_one_that_cannot_be_read_is_a_fault_of_the_task(self, line: str) -> None:
        assert found(line) == (UNKNOWN, "task_error")

    def test_ok_with_some_words_is_talk(self) -> None:
        heard = said(exited("ok, all is well"))

        assert heard == Said(OK, "task_ok", "ok, all is well")


class TestTheExitCode:
    def test_0_is_ok_and_1_is_broken(self) -> None:
        assert found("", 0) == (OK, "task_ok")
        assert found("", 1) == (BROKEN, "task_broken")

    def test_its_last_line_is_the_message(self) -> None:
        assert said(exited("one\ntwo\n", 1)).message == "two"
        assert said(exited("", 1, errors="three\n")).message == "three"

    @pytest.mark.parametrize("code", [2, 77, 126, 255])
    def test_others_are_faults_of_the_task(self, code: int) -> None:
        heard = said(exited("ok {} {} {} {1}", code, errors="line 3: no such thing"))

        assert (heard.state, heard.reason) == (UNKNOWN, "task_error")
        assert heard.message.endswith(f"exit code {code}: line 3: no such thing")

    def test_the_line_goes_before_0_and_1(self) -> None:
        assert found("ok {} {} {} {1}", 1) == (OK, "task_ok")
        assert found("error {x} {} {} {1}", 0) == (BROKEN, "x")


class TestFaults:
    def test_a_time_out_may_heal(self) -> None:
        assert found("ok {} {} {} 1", timed_out=True) == (TEMPORARY, "task_timeout")

    @pytest.mark.parametrize(("number", "name"), [(9, "SIGKILL"), (200, "signal 200")])
    def test_a_signal_is_a_fault_of_the_task(self, number: int, name: str) -> None:
        heard = said(exited("ok {} {} {} 1", None, signal=number))

        assert (heard.state, heard.reason) == (UNKNOWN, "task_error")
        assert heard.message.endswith(f"killed by {name}")

    def test_one_that_did_not_start_is_no_fault_of_the_target(self) -> None:
        heard = said(Ran(failure="/no/such: not there"))

        assert (heard.state, heard.reason) == (UNKNOWN, "task_error")
        assert "/no/such: not there" in heard.message

    @pytest.mark.parametrize("code", [1, 2])
    def test_who_fails_after_a_refusal_was_blocked(self, code: int) -> None:
        heard = said(exited("", code, refused="10.0.0.1 is private"))

        assert (heard.state, heard.reason) == (BLOCKED, "task_refused")
        assert "10.0.0.1 is private" in heard.message

    def test_who_succeeds_after_a_refusal_was_not(self) -> None:
        assert found("", 0, refused="10.0.0.1 is private") == (OK, "task_ok")


class TestReasons:
    @pytest.mark.parametrize(
        ("code", "reason"),
        [
            ("No Title!", "no_title"),
            ("a" * 100, "a" * 64),
            ("3d", "task_broken"),
            ("  ", "task_broken"),
            ("ünïcode", "n_code"),
        ],
    )
    def test_a_code_of_its_own_is_made_clean(self, code: str, reason: str) -> None:
        assert found(json.dumps({"status": "error", "code": code})) == (BROKEN, reason)

    @pytest.mark.parametrize(
        ("code", "state"),
        [
            ("timeout_connect", TEMPORARY),
            ("robots_disallow", BLOCKED),
            ("http_503", TEMPORARY),
            ("http_404", BROKEN),
            ("slow", BROKEN),  # an error is not a warning, whatever it is called
            ("task_error", UNKNOWN),
        ],
    )
    def test_an_error_with_a_reason_of_ours_has_its_state(
        self, code: str, state: State
    ) -> None:
        assert found(f"error {code} {{}} {{}} 1") == (state, code)


class TestIdentity:
    def test_a_list_names_it(self) -> None:
        who = identified(exited("{wfs_ogr_info} {WFS OGRinfo}\n"))

        assert who == Identity("wfs_ogr_info", "WFS OGRinfo")

    def test_json_may_tell_more(self) -> None:
        line = '{"name": "a", "description": "b", "kinds": ["service"], "timeout": 9}'

        assert identified(exited(line)) == Identity("a", "b", ("service",), 9.0)

    @pytest.mark.parametrize(
        ("ran", "words"),
        [
            (Ran(failure="not executable"), "not executable"),
            (Ran(code=0, timed_out=True), "did not end in time"),
            (Ran(code=127, errors="no such thing"), "exit code 127: no such thing"),
            (exited(""), "it said ''"),
            (exited("usage: check URL"), "usage: check URL"),
            (exited("{My Task} {d}"), "My Task"),
            (exited("{a} {b} {c}"), "expected is {name} {description}"),
            (exited('{"name": "a", "timeout": -1}'), "no time limit"),
            (exited('{"name": 3}'), "expected is"),
        ],
    )
    def test_who_cannot_be_identified_is_told_why(self, ran: Ran, words: str) -> None:
        with pytest.raises(ValueError, match=re.escape(words)):
            identified(ran)


class TestEvidence:
    def test_it_is_the_end_of_both(self) -> None:
        ran = Ran(output="x" * 5000 + "\nout\x07put\n", errors="y" * 5000 + "\nerr")
        kept = evidence(ran)

        assert len(kept) <= EVIDENCE
        assert "xx\noutput\n[standard error]\n…yy" in kept
        assert kept.endswith("yy\nerr")

    def test_of_silence_there_is_none(self) -> None:
        assert evidence(Ran(output="\n")) == ""


class TestWhateverItIs:
    @given(
        output=st.one_of(
            answers, texts, st.binary().map(lambda b: b.decode("latin-1"))
        ),
        code=st.one_of(st.none(), st.integers(0, 255)),
        errors=texts,
        refused=st.booleans(),
    )
    def test_something_can_be_said_of_it(
        self, output: str, code: int | None, errors: str, refused: bool
    ) -> None:
        ran = Ran(code=code, output=output, errors=errors, refused="r" * refused)
        heard = said(ran)

        assert heard.state is None or heard.reason
        assert "\0" not in heard.message + heard.data
        assert "\n" not in heard.message
        (heard.message + heard.data + evidence(ran)).encode()
        assert len(evidence(ran)) <= EVIDENCE

    @given(answers)
    def test_it_identifies_itself_or_does_not(self, output: str) -> None:
        with contextlib.suppress(ValueError):
            assert identified(exited(output)).name

    def test_deep_json_is_a_fault_of_the_task(self) -> None:
        deep = '{"status": "ok", "data": ' + "[" * 100_000 + "]" * 100_000 + "}"

        assert found(deep) == (UNKNOWN, "task_error")


# -- lists of Tcl --------------------------------------------------------------------


def quoted(text: str) -> str:
    """As the safest of Tcl's own ways: a backslash before all that is special."""
    special = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\f": "\\f"}
    marked = (special.get(c, f"\\{c}" if c in ' \\"{}[]$;' else c) for c in text)
    return "".join(marked) or "{}"


class TestLists:
    @given(st.lists(texts))
    def test_what_was_put_in_comes_out(self, given_elements: list[str]) -> None:
        text = " ".join(map(quoted, given_elements))

        assert tcl.elements(text) == given_elements

    @given(st.lists(texts.filter(lambda text: not set(text) & set("\\{}"))))
    def test_braces_keep_what_is_in_them(self, given_elements: list[str]) -> None:
        text = " ".join(f"{{{one}}}" for one in given_elements)

        assert tcl.elements(text) == given_elements

    @given(answers)
    def test_there_are_elements_or_it_is_no_list(self, text: str) -> None:
        with contextlib.suppress(ValueError):
            assert all(isinstance(one, str) for one in tcl.elements(text))

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", []),
            ("  a\tb\n c ", ["a", "b", "c"]),
            ("{a {b c} d} e", ["a {b c} d", "e"]),
            (r"{a \} b}", [r"a \} b"]),
            (r'"a \x41\u00e9\101\n" \{', ["a AéA\n", "{"]),
            (r"\ud83d", ["\N{REPLACEMENT CHARACTER}"]),
        ],
    )
    def test_some_lists(self, text: str, expected: list[str]) -> None:
        assert tcl.elements(text) == expected

    @pytest.mark.parametrize("text", ["{a", '"a', "{a}b", '"a"b', "a \\", "x" * 99_999])
    def test_some_that_are_none(self, text: str) -> None:
        with pytest.raises(ValueError, match=r".+"):
            tcl.elements(text)


def test_json_that_is_cut_off_is_no_answer() -> None:
    found = said(Ran(code=0, output='{"status": "warning", "code": "x"'))

    assert (found.state, found.reason) == (State.UNKNOWN, "task_error")


@pytest.mark.parametrize(
    "errors",
    [
        'Traceback (most recent call last):\n  File "x"\nRuntimeError: boom\n',
        'boom\n    while executing\n"error boom"\n',
    ],
)
def test_a_program_that_crashed_says_nothing_of_its_target(errors: str) -> None:
    found = said(Ran(code=1, errors=errors))

    assert (found.state, found.reason) == (State.UNKNOWN, "task_error")
