"""`./ronda` in a checkout: what it does before anything is installed."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOBODY = 65534


@pytest.fixture
def checkout() -> Iterator[Path]:
    """A checkout that anybody may read; what pytest makes is for one user only."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        shutil.copy(ROOT / "ronda", folder)
        (folder / "scripts").mkdir()
        shutil.copy(ROOT / "scripts" / "setup", folder / "scripts")
        venv = folder / ".venv"
        venv.mkdir()
        (venv / "kept").touch()
        for path in (venv, folder):
            path.chmod(0o555)
        yield folder
        for path in (folder, venv):
            path.chmod(0o755)


def test_who_may_not_write_the_checkout_of_another_is_told_so(checkout: Path) -> None:
    stranger: dict[str, Any] = {}
    if os.geteuid() == 0:  # who may write everything
        stranger = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    done = subprocess.run(
        ["/bin/sh", str(checkout / "ronda"), "--version"],
        cwd="/",
        capture_output=True,
        check=False,
        text=True,
        **stranger,
    )

    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "may not write .venv" in line
    assert "a checkout of your own" in line
    assert (checkout / ".venv" / "kept").exists()
