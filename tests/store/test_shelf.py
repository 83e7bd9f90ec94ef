"""robots.txt files that outlive a run, in a folder that anybody may have touched."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.store.shelf import OLD, Shelf, cache_folder

A, B = "http://a.test", "https://b.test:8443"
RULES = b"User-agent: *\nDisallow: /private\n"


class Wall:
    """The time of day, which moves only when it is told to."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def wall() -> Wall:
    return Wall()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "robots"


@pytest.fixture
def shelf(folder: Path, wall: Wall) -> Shelf:
    return Shelf(folder, wall)


def only_file(folder: Path) -> Path:
    [path] = folder.iterdir()
    return path


class TestPutAndGet:
    def test_what_was_put_is_had_again_with_its_age(
        self, shelf: Shelf, wall: Wall
    ) -> None:
        shelf.put(A, RULES)
        wall.now += 60.0

        assert shelf.get(A) == (RULES, pytest.approx(60.0, abs=0.001))

    def test_it_is_had_by_another_run(
        self, shelf: Shelf, folder: Path, wall: Wall
    ) -> None:
        shelf.put(A, RULES)

        assert Shelf(folder, wall).get(A) == (RULES, pytest.approx(0.0, abs=0.001))

    def test_what_was_never_put_is_not_there(self, shelf: Shelf) -> None:
        shelf.put(A, RULES)

        assert shelf.get(B) is None

    def test_the_newest_takes_the_place_of_the_old_one(
        self, shelf: Shelf, wall: Wall, folder: Path
    ) -> None:
        shelf.put(A, RULES)
        wall.now += 60.0
        shelf.put(A, b"new")

        assert shelf.get(A) == (b"new", pytest.approx(0.0, abs=0.001))
        assert len(list(folder.iterdir())) == 1

    @given(body=st.binary(max_size=200))
    def test_any_bytes_come_back_as_they_were(
        self, tmp_path_factory: pytest.TempPathFactory, body: bytes
    ) -> None:
        shelf = Shelf(tmp_path_factory.mktemp("shelf"), Wall())
        shelf.put(A, body)

        assert shelf.get(A) == (body, pytest.approx(0.0, abs=0.001))

    def test_others_may_not_look_into_it(self, shelf: Shelf, folder: Path) -> None:
        shelf.put(A, RULES)

        assert folder.stat().st_mode & 0o077 == 0
        assert only_file(folder).stat().st_mode & 0o077 == 0


class TestWholeOrNothing:
    def test_who_reads_while_another_writes_has_the_old_or_the_new(
        self, shelf: Shelf
    ) -> None:
        versions = [b"%d\n" % n * 50_000 for n in range(2)]
        shelf.put(A, versions[0])
        over = threading.Event()

        def write() -> None:
            for number in range(200):
                shelf.put(A, versions[number % 2])
            over.set()

        writer = threading.Thread(target=write)
        writer.start()
        seen = []
        while not over.is_set():
            seen.append(shelf.get(A))
        writer.join()

        assert all(found is not None and found[0] in versions for found in seen)

    def test_nothing_half_done_is_left_behind(self, shelf: Shelf, folder: Path) -> None:
        folder.mkdir(parents=True)
        shelf.put(A, RULES)
        taken = only_file(folder)
        taken.unlink()
        taken.mkdir()  # so that the file cannot be put in its place
        shelf.put(A, RULES)

        assert list(folder.iterdir()) == [taken]


class TestWhatCannotBeUsed:
    @pytest.mark.parametrize(
        "garbage", [b"", b"\0" * 100, b"\xff\xfe\n", b"User-agent: *\nDisallow: /\n"]
    )
    def test_a_file_that_is_not_ours_is_not_taken_for_one(
        self, shelf: Shelf, folder: Path, garbage: bytes
    ) -> None:
        shelf.put(A, RULES)
        only_file(folder).write_bytes(garbage)

        assert shelf.get(A) is None

    def test_a_file_of_another_authority_is_not_taken_for_ours(
        self, shelf: Shelf, folder: Path
    ) -> None:
        shelf.put(A, RULES)
        ours = only_file(folder)
        shelf.put(B, b"User-agent: *\nDisallow:\n")
        [others] = set(folder.iterdir()) - {ours}
        others.replace(ours)

        assert shelf.get(A) is None

    def test_a_folder_in_its_place_is_not_there(
        self, shelf: Shelf, folder: Path
    ) -> None:
        shelf.put(A, RULES)
        path = only_file(folder)
        path.unlink()
        path.mkdir()

        assert shelf.get(A) is None

    def test_one_from_the_future_is_not_used(self, shelf: Shelf, wall: Wall) -> None:
        shelf.put(A, RULES)
        wall.now -= 3600.0  # the clock was set

        assert shelf.get(A) is None

    @pytest.mark.parametrize("authority", ["http://\ud800.test", "http://a\0b"])
    def test_a_name_that_no_file_can_have_is_not_kept(
        self, shelf: Shelf, authority: str
    ) -> None:
        shelf.put(authority, RULES)

        assert shelf.get(authority) in {None, (RULES, 0.0)}


class TestAFolderThatCannotBeWritten:
    def test_nothing_is_kept_and_nothing_is_raised(
        self, tmp_path: Path, wall: Wall
    ) -> None:
        (tmp_path / "file").write_text("in the way")  # even root cannot write below it
        shelf = Shelf(tmp_path / "file" / "robots", wall)
        shelf.put(A, RULES)
        shelf.tidy()

        assert shelf.get(A) is None


class TestTidy:
    def test_what_is_too_old_goes_and_the_rest_stays(
        self, shelf: Shelf, wall: Wall
    ) -> None:
        shelf.put(A, RULES)
        wall.now += OLD - 1.0
        shelf.put(B, RULES)
        wall.now += 2.0
        shelf.tidy()

        assert shelf.get(A) is None
        assert shelf.get(B) is not None

    def test_one_that_cannot_be_deleted_does_not_save_the_others(
        self, shelf: Shelf, folder: Path, wall: Wall
    ) -> None:
        folder.mkdir(parents=True)
        for number in range(20):
            stuck = folder / f"{number}"
            stuck.mkdir()
            os.utime(stuck, (wall.now, wall.now))
            shelf.put(f"http://h{number}.test", RULES)
        wall.now += OLD + 1.0
        shelf.tidy()

        assert not [path for path in folder.iterdir() if path.is_file()]

    def test_a_folder_that_is_not_there_needs_no_tidying(
        self, shelf: Shelf, folder: Path
    ) -> None:
        shelf.tidy()

        assert not folder.exists()


class TestWhere:
    def test_the_cache_of_the_user_is_where_the_user_says(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

        assert cache_folder() == tmp_path / "ronda"

    @pytest.mark.parametrize("given", ["", None])
    def test_or_below_home(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: str | None
    ) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        if given is None:
            monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        else:
            monkeypatch.setenv("XDG_CACHE_HOME", given)

        assert cache_folder() == tmp_path / ".cache" / "ronda"

    def test_a_user_without_a_home_has_one_all_the_same(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.delenv("HOME", raising=False)
        monkeypatch.setattr(os, "getuid", lambda: 987_654_321)

        assert cache_folder().name == "ronda"
