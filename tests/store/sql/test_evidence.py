"""What a result rests on is kept whole, in few bytes."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ronda.model import Certificate, Hop, Result, State, TaskResult, Timings
from ronda.store.sql.evidence import TICK, pack, unpack

texts = st.text(max_size=9)
counts = st.integers(0, 2**40)
seconds = st.integers(0, 10**9).map(lambda ticks: ticks / TICK)
certificates = st.builds(
    Certificate, texts, texts, texts, texts, st.lists(texts, max_size=3).map(tuple)
)
hops = st.lists(st.builds(Hop, texts, st.integers(300, 399), texts, texts), max_size=3)
tasks = st.builds(
    TaskResult, texts, st.sampled_from(State), texts, texts, seconds, texts, texts
)
results = st.builds(
    Result,
    url=texts,
    verdict=st.sampled_from(State),
    reason=texts,
    message=texts,
    hops=hops.map(tuple),
    status=st.integers(0, 999),
    address=texts,
    timings=st.builds(Timings, seconds, seconds, seconds, seconds, seconds),
    bytes=counts,
    certificate=st.none() | certificates,
    attempts=st.integers(1, 99),
    directives=st.lists(texts, max_size=3).map(tuple),
    depth=st.integers(0, 99),
    media_type=texts,
    digest=texts,
    evidence=texts,
    task=texts,
    tasks=st.lists(tasks, max_size=3).map(tuple),
)


def again(result: Result) -> Result:
    words = {"reason": result.reason, "message": result.message, "task": result.task}
    return unpack(pack(result), url=result.url, state=result.verdict, **words)


@given(results)
def test_what_is_packed_is_unpacked(result: Result) -> None:
    assert again(result) == result


@given(st.floats(0, 1e5))
def test_moments_are_kept_to_a_tick(moment: float) -> None:
    result = Result(url="", verdict=State.OK, reason="", message="")
    result = replace(result, timings=Timings(total=moment))

    assert abs(again(result).timings.total - moment) <= 0.51 / TICK


def test_an_answer_that_is_fine_takes_few_bytes() -> None:
    result = Result(
        url="https://www.example.com/path/to/page.html",
        verdict=State.OK,
        reason="http_200",
        message="200 OK",
        status=200,
        address="192.0.2.123",
        timings=Timings(0.0123, 0.0312, 0.0712, 0.121, 0.1312),
        bytes=12345,
        media_type="text/html",
    )

    assert len(pack(result)) < 50
    assert len(msgspec.msgpack.encode(result)) > 250


def test_a_task_that_found_nothing_wrong_takes_few_bytes_too() -> None:
    fine = TaskResult("congruence", State.OK, "congruent", "as it should be", 0.2)
    result = Result(url="", verdict=State.OK, reason="", message="")
    plain = len(pack(result))

    assert len(pack(replace(result, tasks=(fine,) * 6))) < plain + 6 * 50 + 10


def test_what_was_packed_before_there_were_tasks_is_unpacked() -> None:
    row = (200, (0, 0, 0, 0, 0), "", "", 0, 1, (), (), None, "", 0, "trace")
    old = msgspec.msgpack.encode(row)

    found = unpack(old, url="", state=State.OK, reason="", message="")
    assert (found.evidence, found.tasks) == ("trace", ())
