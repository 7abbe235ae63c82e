"""The server's one model: opened when it is first needed, reopened when the settings name another."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from counterlens.lsp.settings import Settings
from counterlens.models import DEFAULT_MODEL, Model, load
from counterlens.models.base import Progress
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.registry import Options


class ModelHost:
    """Holds the model. Every method may be called from any thread; `get` may take seconds.

    Attributes:
        name: What a person calls the model.
        open: Opens one by name.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: CachedModel | None = None
        self._opened_for: tuple[object, ...] | None = None
        self._store = AnswerStore()
        self.name = DEFAULT_MODEL
        self.open: Callable[[str, Options], Model] = load

    def get(self, settings: Settings, progress: Progress | None = None) -> CachedModel:
        """The model that the settings name.

        Args:
            settings: Name it.
            progress: Told how much of it is loaded, where it has to be.

        Raises:
            ModelError: it cannot be opened.
        """
        wanted = (settings.model_spec, settings.model_options)
        with self._lock:
            if self._model is None or self._opened_for != wanted:
                if self._model is not None:
                    self._model.close()
                self._model, self._opened_for = None, None
                opened = self.open(settings.model_spec, replace(settings.model_options, progress=progress))
                self._model, self._opened_for = CachedModel(opened, self._store), wanted
                self.name = self._model.info.name
            return self._model

    def close(self) -> None:
        """Give the model back."""
        with self._lock:
            if self._model is not None:
                self._model.close()
            self._model = None
            self._store.close()
