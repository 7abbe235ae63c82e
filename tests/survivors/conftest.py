"""Folders for programs that are judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.folders import emptied


@pytest.fixture
def tmp_path(common_folder: Path) -> Path:
    """An empty folder, the same one for all tests."""
    return emptied(common_folder)
