"""The server's models: opened when first needed, closed after another one is chosen or nothing needs one.

Priority of requests to a local model: foreground requests interrupt background ones.

A local model answers one request at a time, and scoring a long class takes half a minute. A background
request is therefore cancelled between two chunks when a foreground request arrives, and retried after it.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePath
from threading import Condition, Event
from typing import Any, TypeVar

from counterlens.doubt.margins import margins_of
from counterlens.errors import Cancelled
from counterlens.lsp.idle_budget import IdleBudget
from counterlens.lsp.settings import EditorSettings
from counterlens.models import load
from counterlens.models.base import (
    PROCESSOR,
    RUNS_ON,
    Capability,
    Model,
    Progress,
)
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.onnx.export import export_name
from counterlens.models.opening import open_cached
from counterlens.models.registry import Options
from counterlens.models.wrapped import WrappedModel

Made = TypeVar("Made")
_LOOK = 0.05  # seconds between two checks whether a background request was cancelled


@dataclass(frozen=True, slots=True)
class _OpenModel:
    """An open model, with a wrapper for foreground, for background and for idle requests."""

    asked: CachedModel
    background: CachedModel
    idle: CachedModel

    @classmethod
    def of(cls, model: CachedModel, store: AnswerStore, budget: IdleBudget) -> _OpenModel:
        """Wrap a model; the first two wrappers differ if it answers one request at a time."""
        if not model.info.local:
            return cls(model, model, CachedModel(IdleModel(model.model, budget), store))
        precedence = Precedence()
        first, last = ForegroundModel(model.model, precedence), BackgroundModel(model.model, precedence)
        idle = BackgroundModel(IdleModel(model.model, budget), precedence)
        return cls(CachedModel(first, store), CachedModel(last, store), CachedModel(idle, store))


class ModelHost:
    """Holds the chosen model, and those with foreground requests in progress.

    Every method may be called from any thread; `get` and `use_model` may take seconds.

    Attributes:
        open: Opens a model by name.
        budget: What idle requests may cost.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._chosen = EditorSettings().chosen_model
        self.budget = IdleBudget()
        self._models: dict[tuple[str, Options], _OpenModel] = {}
        self._users: Counter[tuple[str, Options]] = Counter()
        self._names: dict[str, str] = {}
        self._devices: dict[tuple[str, Options], str] = {}
        self._unfitted: set[tuple[str, Options]] = set()
        self._store = AnswerStore()
        self.open: Callable[[str, Options], Model] = load

    @property
    def name(self) -> str:
        """The display name of the chosen model, even before it is open."""
        spec, _ = self._chosen
        return self._names.get(spec) or _display_name(spec)

    @property
    def device(self) -> str:
        """Where the chosen model is computed; empty if it is not open, or simply on the processor."""
        device = self._devices.get(self._chosen, PROCESSOR)
        return "" if device == PROCESSOR else device

    @property
    def is_unfitted(self) -> bool:
        """Whether the chosen model is known to have no margins, so that only tests mark places in doubt."""
        return self._chosen in self._unfitted

    def note_fitted(self, settings: EditorSettings) -> None:
        """Remember that margins of the chosen model were fitted."""
        self._unfitted.discard(settings.chosen_model)

    def choose(self, settings: EditorSettings) -> None:
        """Switch to the model that the settings name; it is opened when needed."""
        self._chosen = settings.chosen_model
        self.budget.allow(settings.idle_seconds)

    def get(
        self, settings: EditorSettings, progress: Progress | None = None, *, idle: bool = False
    ) -> CachedModel:
        """The model that the settings name, for the background: requests of `use_model` come first.

        It may be closed as soon as another one is chosen.

        Args:
            progress: Called with loading progress, if the model has to be loaded.
            idle: Whether `budget` is charged with its requests.

        Raises:
            ModelError: it cannot be opened.
        """
        with self._lock:
            model = self._opened(settings, progress)
            return model.idle if idle else model.background

    @contextmanager
    def use_model(
        self, settings: EditorSettings, progress: Progress | None = None, *, background: bool = False
    ) -> Iterator[CachedModel]:
        """The model that the settings name; it stays open while the context lasts, even if another is chosen.

        Args:
            progress: Called with loading progress, if the model has to be loaded.
            background: Whether nobody waits for the responses.

        Raises:
            ModelError: it cannot be opened.
        """
        wanted = settings.chosen_model
        with self._lock:
            model = self._opened(settings, progress)
            self._users[wanted] += 1
        try:
            yield model.background if background else model.asked
        finally:
            with self._lock:
                self._users[wanted] -= 1
                self._tidy()

    def close(self) -> None:
        """Close all models."""
        with self._lock:
            for model in self._models.values():
                model.asked.close()
            self._models.clear()
            self._store.close()

    def rest(self) -> None:
        """Close the models that nobody uses; they are opened again when needed."""
        with self._lock:
            self._tidy(keep_chosen=False)

    def _opened(self, settings: EditorSettings, progress: Progress | None) -> _OpenModel:
        wanted = spec, options = settings.chosen_model
        self._tidy(opening=wanted)  # first, as two may not fit into memory
        if wanted not in self._models:
            reported = replace(options, progress=progress)
            model = open_cached(spec, reported, store=self._store, load=self.open)
            self._models[wanted] = _OpenModel.of(model, self._store, self.budget)
            self._names[spec] = model.info.name
            if Capability.SCORE in model.info.capabilities and margins_of(model.info) is None:
                self._unfitted.add(wanted)
            self._devices[wanted] = dict(model.info.details).get(RUNS_ON, PROCESSOR)
        return self._models[wanted]

    def _tidy(self, opening: tuple[str, Options] | None = None, *, keep_chosen: bool = True) -> None:
        """Close models that are neither chosen nor lent."""
        kept = {opening, *(wanted for wanted, number in self._users.items() if number)}
        if keep_chosen:
            kept.add(self._chosen)
        for unused in [wanted for wanted in self._models if wanted not in kept]:
            self._models.pop(unused).asked.close()


def _display_name(spec: str) -> str:
    """The name of a model that is not open yet, without its folder or kind."""
    if spec.startswith("onnx:"):
        return export_name(spec.removeprefix("onnx:"))
    return PurePath(spec).stem if spec.endswith(".gguf") else spec.partition(":")[2] or spec


class Precedence:
    """The number of pending foreground requests to one model. Thread-safe."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._asking = 0

    @property
    def taken(self) -> bool:
        """Whether a foreground request is pending."""
        return self._asking > 0

    @contextmanager
    def take(self) -> Iterator[None]:
        """Count a foreground request while the context lasts."""
        with self._changed:
            self._asking += 1
        try:
            yield
        finally:
            with self._changed:
                self._asking -= 1
                self._changed.notify_all()

    def wait(self, cancel: Event | None) -> None:
        """Wait until no foreground request is pending.

        Raises:
            Cancelled: `cancel` was set.
        """
        with self._changed:
            while self.taken:
                if cancel is not None and cancel.is_set():
                    raise Cancelled
                self._changed.wait(_LOOK)


class _Interrupt(Event):
    """Set when a background request is cancelled or has to give way.

    Attributes:
        made_way: Whether the request gave way to a foreground request.
    """

    def __init__(self, precedence: Precedence, cancel: Event | None) -> None:
        super().__init__()
        self._precedence, self._cancel = precedence, cancel
        self.made_way = False

    def is_set(self) -> bool:
        """Whether the request should end."""
        if self._cancel is not None and self._cancel.is_set():
            return True
        self.made_way = self.made_way or self._precedence.taken
        return self.made_way


class _RankedModel(WrappedModel):
    """A model whose requests have a precedence."""

    def __init__(self, model: Model, precedence: Precedence) -> None:
        super().__init__(model)
        self._precedence = precedence


class ForegroundModel(_RankedModel):
    """A model for foreground requests, whose caller waits for the response."""

    def _forward(self, method: str, *asked: Any, cancel: Event | None = None, **options: Any) -> Any:
        with self._precedence.take():
            return super()._forward(method, *asked, cancel=cancel, **options)


class BackgroundModel(_RankedModel):
    """A model for background requests: each gives way, and is then retried."""

    def _forward(self, method: str, *asked: Any, cancel: Event | None = None, **options: Any) -> Any:
        while True:
            self._precedence.wait(cancel)
            interrupt = _Interrupt(self._precedence, cancel)
            try:
                return super()._forward(method, *asked, cancel=interrupt, **options)
            except Cancelled:
                if not interrupt.made_way or (cancel is not None and cancel.is_set()):
                    raise


class IdleModel(WrappedModel):
    """A model whose requests are charged to a budget, also those that were cancelled."""

    def __init__(self, model: Model, budget: IdleBudget) -> None:
        super().__init__(model)
        self._budget = budget

    def _forward(self, method: str, *asked: Any, cancel: Event | None = None, **options: Any) -> Any:
        before = self.model.seconds
        try:
            return super()._forward(method, *asked, cancel=cancel, **options)
        finally:
            self._budget.charge(self.model.seconds - before)
