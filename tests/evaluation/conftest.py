"""One run that was never interrupted, which others are compared with."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from tests.conftest import embedded_file
from tests.evaluation.running import FUNCTIONS, bench, run

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with code to ask about, and room for runs."""
    embedded_file()
    folder = tmp_path_factory.mktemp("evaluation")
    shutil.copytree(EXAMPLES, folder / "code")
    return folder


@pytest.fixture(scope="session")
def uninterrupted(place: Path) -> tuple[Path, float]:
    """A finished run, and how long it took."""
    folder, started = place / "whole", time.monotonic()
    done = run(bench(place, folder))
    assert done.returncode == 0, done.stderr
    assert f"All {FUNCTIONS} functions" in done.stdout
    return folder, time.monotonic() - started
