"""What the daemon prints of results is safe for a terminal, whatever is in it."""

import pytest

from processes import entry
from ronda.cli.serve import Told
from ronda.config import Settings
from ronda.model import Standing, State
from ronda.store.sql.values import Due


def test_odd_words_of_a_result_are_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    due = Due(1, "http://a.test/", 1, Standing())
    odd = "a\x1b[2Jb\nc\0\udcffé"

    Told(Settings()).result(entry(due, State.BROKEN, message=odd))

    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert line.endswith("a\ufffd[2Jb\ufffdc\ufffd\ufffdé\n")
