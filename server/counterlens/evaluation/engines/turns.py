"""Models on this machine answer by turns: two that decode at once would slow each other down by far.

All models of a run are open, and asked about one function after the other. Each decodes as many prompts as it
takes at a time; then it is the turn of another one that has requests, so none gets far ahead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition, Event
from typing import Any

from counterlens.errors import Cancelled
from counterlens.models.base import Model
from counterlens.models.local.model import LocalModel
from counterlens.models.speed import noted_speed
from counterlens.models.wrapped import WrappedModel

_POLL_SECONDS = 0.25
_BESIDE_WEIGHTS = 1.5  # memory of a model whose need was never measured, in sizes of its file


@dataclass(frozen=True, slots=True, eq=False)
class _Request:
    """A request that waits: its model, and the number of its prompts."""

    model: Model
    prompts: int


class ModelTurns:
    """The turns of some models. Thread-safe."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._waiting: list[_Request] = []
        self._whose: Model | None = None
        self._working = self._taken = 0  # requests in progress, and prompts of this turn

    @contextmanager
    def turn(self, model: Model, prompts: int, cancel: Event | None) -> Iterator[None]:
        """Wait until a request to a model may begin; others of its turn may be in progress.

        Raises:
            Cancelled: `cancel` was set meanwhile.
        """
        request = _Request(model, prompts)
        with self._changed:
            self._waiting.append(request)
            try:
                while not self._changed.wait_for(lambda: self._may_begin(request), timeout=_POLL_SECONDS):
                    if cancel is not None and cancel.is_set():
                        raise Cancelled
                self._taken = prompts + (self._taken if self._working else 0)
                self._whose, self._working = model, self._working + 1
            finally:
                self._waiting.remove(request)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._working -= 1
                self._changed.notify_all()

    def _may_begin(self, request: _Request) -> bool:
        """Whether it is the first request of the model whose turn it is, and the turn has room for it."""
        others = [waiting for waiting in self._waiting if waiting.model is not self._whose]
        if self._working:
            own = [waiting for waiting in self._waiting if waiting.model is self._whose]
            has_room = not others or self._taken < request.model.together
            return own[:1] == [request] and has_room
        return (others or self._waiting)[0] is request


class TurnModel(WrappedModel):
    """A model whose requests wait for its turn; answers do not change."""

    def __init__(self, model: Model, turns: ModelTurns) -> None:
        super().__init__(model)
        self._turns = turns

    def _forward(self, method: str, *asked: Any, cancel: Event | None = None, **options: Any) -> Any:
        prompts = len(asked[0]) if method == "complete" else 1
        with self._turns.turn(self.model, prompts, cancel):
            return super()._forward(method, *asked, cancel=cancel, **options)


def excess_memory(models: Sequence[Model], available: int | None) -> str:
    """Why some open models are not asked by turns: what they need and what there is; empty if they fit.

    Args:
        available: Bytes that programs could still have before the models were opened; None if unknown.
    """
    here = [model for model in models if isinstance(model, LocalModel)]
    need = sum(map(_memory_of, here))
    if len(here) < 2 or available is None or need <= available:
        return ""
    return f"they need about {need / 1e9:.1f} GB of memory, and {available / 1e9:.1f} GB are free"


def _memory_of(model: LocalModel) -> float:
    speed = noted_speed(model.info.identity)
    return speed.memory if speed and speed.memory else _BESIDE_WEIGHTS * model.file_bytes
