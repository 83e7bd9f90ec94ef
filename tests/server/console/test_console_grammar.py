"""Lines of the protocol: words, quotes, keys; and whatever else may come."""

import asyncio
import json
import shlex
import time

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fakes import FakeClock
from monitored import FakeMonitor
from ronda.server.console.commands import COMMANDS, answer
from ronda.server.console.grammar import RefusedError, chosen, words
from ronda.server.console.monitor import Who
from ronda.server.console.pages import NAMES, PAGES
from ronda.server.console.replies import FORMS, Form, Reply, rendered
from ronda.server.console.sessions import Hall, Limits, Session

ROOT = Who("root", administrator=True)
LINES = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.tuples(
        st.sampled_from(sorted(NAMES)),
        st.lists(st.one_of(st.text(), st.integers().map(str))),
    ).map(lambda pair: " ".join((pair[0], *pair[1])).encode("utf-8", "surrogatepass")),
)


def reply_to(line: bytes, who: Who | None = ROOT):
    session = Session("unix", who, 0.0)
    hall = Hall(FakeMonitor(), FakeClock(), Limits(), {session: None})
    return asyncio.run(answer(line, session, hall))


@given(LINES)
@example(b"")
@example(b"\x00\xff")
@example(b"CHECK 'open")
@example(b"QTASK 99999999999999999999")
@example(b"CHECK \xc2\xb2")
def test_whatever_comes_there_is_one_reply_and_it_is_framed(line):
    reply = reply_to(line)

    assert reply.code.isdecimal()
    assert reply.code != "501"
    for form in FORMS.values():
        data = rendered(reply, form)
        end = b"\n" if form == Form(json=True) else b"\n\n"
        assert data.endswith(end)
        assert data.count(end) == 1
        if form.json:
            assert json.loads(data)["code"] == reply.code


@given(LINES)
def test_a_stranger_gets_nothing_out_of_the_daemon(line):
    assert reply_to(line, None).code in {"100", "101", "103", "104", "107", "113"} | {
        *("120", "130", "503")
    }


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1)))
def test_words_are_quoted_as_in_a_shell(given_words):
    line = " ".join(map(shlex.quote, ["CHECK", *given_words]))

    assert words(line.encode()) == ["CHECK", *given_words]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'  CHECK "a \\"b\\" c"  d\\ e\r\n', ["CHECK", 'a "b" c', "d e"]),
        (b"a'b c'd", ["ab cd"]),
        (b"''", [""]),
        ("é\u00a0ü".encode(), ["é", "ü"]),
    ],
)
def test_a_line_has_these_words(line, found):
    assert words(line) == found


@pytest.mark.parametrize("line", [b"a 'b", b'a "b', b"a \\", b" ", b"\n", b"\xff"])
def test_what_cannot_be_read_is_no_command(line):
    with pytest.raises(RefusedError) as no:
        words(line)

    assert no.value.reply.code == "101"


def test_the_longest_line_is_read_in_no_time():
    begun = time.monotonic()
    for line in (b"a " * 32_000, b'"' * 65_001, b"a\\" * 32_000, b"'a\"" * 21_000):
        reply_to(line)

    assert time.monotonic() - begun < 2


def test_targets_and_owners_can_be_mixed_and_each_counts_once():
    found = chosen(["12", "gid=13", "EID=3", "12", "Lis%", "Lis%"], ("gid", "eid"))

    assert (found.gids, found.eids, found.patterns) == ((12, 13), (3,), ("Lis%",))


@pytest.mark.parametrize(
    "word", ["eid=", "eid=x", "gid=-1", "gid=1.5", "id=3", "gid=99999999999999999999"]
)
def test_a_wrong_key_or_number_is_a_wrong_argument(word):
    with pytest.raises(RefusedError) as no:
        chosen([word], ("gid", "eid"))

    assert no.value.reply.code == "103"


def test_every_command_has_a_page_and_every_page_a_command():
    assert sorted(COMMANDS) == sorted(page.name for page in PAGES)
    assert len(NAMES) == sum(1 + len(page.aliases) for page in PAGES)
    assert all(all(line.strip() for line in page.lines) for page in PAGES)


def test_a_text_that_is_no_unicode_is_mended_in_json():
    data = rendered(Reply("102", "a\ud800b", {"x": ["\udfff"]}), Form(json=True))

    assert msgspec.json.decode(data) == {"code": "102", "message": "a?b", "x": ["?"]}
