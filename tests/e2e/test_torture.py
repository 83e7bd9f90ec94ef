"""kill -9 at random moments: nothing lost, nothing doubled, nobody asked too early."""

from pathlib import Path

import pytest

from e2e.torture import LOCATIONS, Torture, listening
from servers.site import Site

KILLS = 50


@pytest.mark.parametrize(
    ("database_url", "processes"),
    [("sqlite", 1), ("postgresql", 3)],
    indirect=["database_url"],
)
def test_daemons_that_are_killed_forget_nothing_and_offend_nobody(
    tmp_path: Path, database_url: str, processes: int
):
    with Site(tmp_path / "site", *LOCATIONS) as site, listening() as told:
        torture = Torture(tmp_path, database_url, site, told, seed=5)
        torture.register()
        torture.play(KILLS, processes)

        torture.judge()
        assert torture.kills == KILLS
        assert len(told.batches) > 1
