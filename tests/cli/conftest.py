"""Runs the command line in this process; a model is loaded once for all tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import pytest

from counterlens.models.default import VARIABLE
from counterlens.models.local.process import ModelProcess, _Child
from tests.conftest import short_model
from tests.folders import emptied

AT_A_TIME = 2  # idle child processes; each uses a few hundred megabytes


@pytest.fixture
def tmp_path(common_folder: Path) -> Path:
    """An empty folder, the same one for all tests."""
    return emptied(common_folder)


@pytest.fixture
def short() -> list[str]:
    """The options that choose the short model, for tests in which any answer will do."""
    return ["--model", str(short_model())]


@pytest.fixture
def short_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the short model the default."""
    monkeypatch.setenv(VARIABLE, str(short_model()))


@pytest.fixture(scope="package", autouse=True)
def _models_stay_loaded() -> Iterator[None]:
    """Reuse the child process of a closed model for the next model with the same parameters.

    A model changes the first request to later children once its first child has answered.
    """
    idle: dict[Any, _Child] = {}
    openings: WeakKeyDictionary[ModelProcess, Any] = WeakKeyDictionary()
    ready, close = ModelProcess._ready, ModelProcess.close

    def take(self: ModelProcess, *more: Any) -> _Child:
        opening = openings.setdefault(self, (self._worker, self.opening))
        if self._child is None and not self._closed:
            self._child = idle.pop(opening, None)
        return ready(self, *more)

    def keep(self: ModelProcess) -> None:
        child = self._child
        if child is None or not child.alive or child.busy:
            close(self)
            return
        self._closed, self._child = True, None
        idle.setdefault(openings[self], child)
        if idle[openings[self]] is not child:
            child.end()
        elif len(idle) > AT_A_TIME:
            idle.pop(next(iter(idle))).end()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ModelProcess, "_ready", take)
        patch.setattr(ModelProcess, "close", keep)
        yield
    for child in idle.values():
        child.end()
