"""ftp, ftps, sftp and file: listed, begun, there, or why not."""

from errno import EACCES

import pytest

from ronda.config import Check, Fetch
from ronda.model import Answer, Ask, Done, Target, Visit
from ronda.probes.file import File
from ronda.probes.ftp import Ftp


def ftp_step(url: str, answer: Answer, retries: int = 0) -> Ask | Done:
    ftp = Ftp(Fetch(retries=retries))
    target = Target(url, "a.test")
    return ftp.advance(Visit(target, ftp.begin(target), "a.test"), answer, 0.0)


@pytest.mark.parametrize(
    ("url", "listing", "code"),
    [
        ("ftp://a.test/folder/", True, "ftp_listed"),
        ("ftp://a.test/", True, "ftp_listed"),
        ("sftp://a.test/file", False, "ftp_started"),
    ],
)
def test_folders_are_listed_and_files_begin(url: str, listing: bool, code: str) -> None:
    step = ftp_step(url, Answer(status=226))

    assert isinstance(step, Done)
    assert step.verdict.reason == code
    assert Ftp(Fetch()).begin(Target(url, "")).listing is listing


@pytest.mark.parametrize(
    ("error", "code"),
    [(9, "ftp_denied"), (67, "login_denied"), (78, "ftp_missing"), (79, "ssh_failed")],
)
def test_what_libcurl_says_is_heard(error: int, code: str) -> None:
    step = ftp_step("ftp://a.test/x", Answer(error=error))

    assert isinstance(step, Done)
    assert step.verdict.reason == code


def test_a_failed_dialogue_is_tried_again() -> None:
    assert isinstance(ftp_step("ftp://a.test/x", Answer(error=12), retries=1), Ask)


def test_a_url_without_a_host_is_not_asked() -> None:
    assert Ftp(Fetch()).allow("ftp://a.test/")
    assert not Ftp(Fetch()).allow("sftp:///etc/passwd")


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(), "file_found"),
        (Answer(error=37), "file_missing"),
        (Answer(error=37, errno=EACCES), "file_denied"),
    ],
)
def test_a_file_is_there_or_not(answer: Answer, code: str) -> None:
    file = File(Check(), Fetch())
    target = Target("file:///a", "")
    step = file.advance(Visit(target, file.begin(target), ""), answer, 0.0)

    assert isinstance(step, Done)
    assert step.verdict.reason == code


def test_only_our_own_disk_is_looked_at() -> None:
    assert File(Check(), Fetch()).allow("file:///etc/hosts")
    assert not File(Check(), Fetch()).allow("file://elsewhere/share")


@pytest.mark.parametrize(("reads", "anchors"), [(True, False), (False, True)])
def test_a_file_is_read_only_when_it_is_wanted(reads: bool, anchors: bool) -> None:
    idle = File(Check(), Fetch(body_limit=2000))
    file = File(Check(fragments=anchors), Fetch(body_limit=2000))

    assert idle.begin(Target("file:///a", "")).body == 0
    assert file.begin(Target("file:///a", "", reads)).body == 2000
