"""The suites of others, read from beside the checkout: they are not ours to copy."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "shared/conformance"


def cases(name: str) -> list[Any]:
    """The cases of a suite. Without it: skip, but in CI nothing may be skipped."""
    path = FOLDER / name
    if not path.exists() and not os.environ.get("CI"):
        return [pytest.param(None, marks=pytest.mark.skip(f"{path} is missing"))]
    found = json.loads(path.read_text())
    return [
        pytest.param(case, id=f"{number}-{case.get('name', '')}".rstrip("-"))
        for number, case in enumerate(found)
        if isinstance(case, dict)  # the rest are comments
    ]
