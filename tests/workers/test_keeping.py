"""Answers that are saved: to a folder, to a WARC file, or both."""

import asyncio
import threading
from typing import Any

import pytest
from msgspec.structs import replace

from fakes import START, FakeClock
from ronda.model import Answer, Hop, Request, Target, Visit
from ronda.targets import media_type
from ronda.workers.keeping import Keeping

A, B = "http://a.test/", "http://b.test/"
VISIT = Visit(Target(A, ""), Request(A), "")


def html(body: bytes = b"<p>x", kind: str = "text/html", **more: Any) -> Answer:
    headers = (f"Content-Type: {kind}\r\n".encode(),) if kind else ()
    return Answer(**{"status": 200, "headers": headers, "body": body, **more})


class FakeMirror:
    def __init__(self, *has: str) -> None:
        self._has = has
        self.saved: list[tuple[str, str, bytes, list[str], str]] = []
        self.threads: set[int] = set()

    def __contains__(self, url: str) -> bool:
        return url in self._has

    def save(
        self, url: str, kind: str, body: bytes, hops: Any = (), charset: str = ""
    ) -> str:
        self.threads.add(threading.get_ident())
        self.saved.append((url, kind, body, list(hops), charset))
        return ""


class FakeArchive:
    appends = True

    def __init__(self, error: Exception | None = None) -> None:
        self.added: list[tuple[Request, Answer, float]] = []
        self._error = error

    def add(self, request: Request, answer: Answer, at: float) -> None:
        if self._error is not None:
            raise self._error
        self.added.append((request, answer, at))


def keeping(mirror: Any = None, archive: Any = None) -> Keeping:
    return Keeping(mirror, archive, media_type, FakeClock())


def saved(answer: Answer, visit: Visit = VISIT) -> Any:
    """What is saved of an answer, if anything."""
    mirror = FakeMirror()
    asyncio.run(keep(keeping(mirror), visit, answer))
    return mirror.saved[0] if mirror.saved else None


async def keep(kept: Keeping, visit: Visit, answer: Answer) -> None:
    await kept(visit, answer)


class TestTheFolder:
    def test_a_page_is_saved_with_its_kind_and_charset(self) -> None:
        told = saved(html(kind='Text/HTML; x=1; Charset="utf-8"'))

        assert told == (A, "text/html", b"<p>x", [], "utf-8")

    @pytest.mark.parametrize("kind", ["text/html", "text/html; x", "text/html;"])
    def test_without_a_charset_none_is_told(self, kind: str) -> None:
        assert saved(html(kind=kind))[4] == ""

    def test_what_led_to_it_is_told(self) -> None:
        hops = (Hop("http://old.test/", 301, B), Hop(B, 302, A))
        visit = replace(VISIT, hops=hops)

        assert saved(html(), visit)[3] == ["http://old.test/", B]

    @pytest.mark.parametrize(
        ("body", "kind"), [(b" \n<html>", "text/html"), (b"GIF89a", ""), (b"", "")]
    )
    def test_where_the_server_does_not_say_its_kind_it_is_looked_at(
        self, body: bytes, kind: str
    ) -> None:
        assert saved(html(body, ""))[1] == kind

    def test_the_name_says_it_where_the_server_does_not(self) -> None:
        url = f"{A}style.css"
        visit = Visit(Target(url, ""), Request(url), "")

        assert saved(html(b"a {}", ""), visit)[1] == media_type(url, "")

    @pytest.mark.parametrize("status", [304, 404, 301, 206])
    def test_only_what_is_whole_and_new_is_saved(self, status: int) -> None:
        assert saved(html(status=status)) is None
        assert saved(html(cut=True)) is None

    def test_it_is_written_in_a_thread(self) -> None:
        mirror = FakeMirror()
        asyncio.run(keep(keeping(mirror), VISIT, html()))

        assert mirror.threads.isdisjoint({threading.get_ident()})


class TestTheArchive:
    def test_everything_is_kept_as_it_came_and_with_its_moment(self) -> None:
        archive = FakeArchive()
        clock = FakeClock(now=500.0)
        answer = html(status=404, sent_at=530.0)
        asyncio.run(keep(Keeping(None, archive, media_type, clock), VISIT, answer))

        [(request, kept, at)] = archive.added
        assert (request, kept) == (VISIT.request, answer)
        assert at == START.timestamp() + 30.0

    def test_with_both_it_is_kept_twice(self) -> None:
        mirror, archive = FakeMirror(), FakeArchive()
        asyncio.run(keep(keeping(mirror, archive), VISIT, html()))

        assert len(mirror.saved) == len(archive.added) == 1

    def test_an_answer_whose_moment_is_not_known_is_of_now(self) -> None:
        archive = FakeArchive()
        clock = FakeClock(now=500.0)
        asyncio.run(keep(Keeping(None, archive, media_type, clock), VISIT, html()))

        assert archive.added[0][2] == START.timestamp()

    def test_a_full_disk_is_told_to_whoever_waits(self) -> None:
        archive = FakeArchive(OSError("full"))
        with pytest.raises(OSError, match="full"):
            asyncio.run(keep(keeping(None, archive), VISIT, html()))


class TestWhatIsThere:
    def test_without_a_folder_nothing_needs_to_come_again(self) -> None:
        assert keeping(None, FakeArchive()).has(A)

    def test_with_one_what_is_not_in_it_does(self) -> None:
        kept = keeping(FakeMirror(A))

        assert kept.has(A)
        assert not kept.has(B)
