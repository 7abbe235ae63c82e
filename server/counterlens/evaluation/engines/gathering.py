"""Requests to a model on this machine wait for each other, so that its first steps have many rows, too.

Items begin with programs that run for some time. A model that answers the first request at once decodes it
alone, at the price of many, and takes the processors from the programs that the other requests wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Condition, Event
from typing import Any, TypeVar, Unpack

from counterlens.errors import Cancelled
from counterlens.evaluation.store import Item
from counterlens.models.base import Completion, Model, Prompt
from counterlens.models.wrapped import WrappedModel
from counterlens.progress import RequestOptions

Result = TypeVar("Result")

_POLL_SECONDS = 0.25


class GatheringModel(WrappedModel):
    """Holds prompts until they fill the model, or all items in progress wait for it; answers do not change.

    Prompts that come while the model works on many join these at once.
    """

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._changed = Condition()
        self._items = self._asking = 0  # items in progress, and those of them that wait for the model
        self._held = self._sent = 0  # prompts

    def counted(self, perform: Callable[[Item], Result]) -> Callable[[Item], Result]:
        """What processes an item, which counts as in progress meanwhile."""

        def performed(item: Item) -> Result:
            self._count(items=1)
            try:
                return perform(item)
            finally:
                self._count(items=-1)

        return performed

    def complete(self, prompts: Sequence[Prompt], **options: Unpack[RequestOptions]) -> list[Completion]:
        """Like `Model.complete`, when there are enough prompts."""
        number = len(prompts)
        self._count(asking=1, held=number)
        try:
            self._wait(options.get("cancel"))
            self._count(held=-number, sent=number)
            number = 0
            return self.model.complete(prompts, **options)
        finally:
            self._count(asking=-1, held=-number, sent=number - len(prompts))

    def _forward(self, method: str, *asked: Any, cancel: Event | None = None, **options: Any) -> Any:
        self._count(asking=1)
        try:
            return super()._forward(method, *asked, cancel=cancel, **options)
        finally:
            self._count(asking=-1)

    def _count(self, *, items: int = 0, asking: int = 0, held: int = 0, sent: int = 0) -> None:
        with self._changed:
            self._items, self._asking = self._items + items, self._asking + asking
            self._held, self._sent = self._held + held, self._sent + sent
            self._changed.notify_all()

    def _wait(self, cancel: Event | None) -> None:
        with self._changed:
            while not self._changed.wait_for(self._is_full, timeout=_POLL_SECONDS):
                if cancel is not None and cancel.is_set():
                    raise Cancelled

    def _is_full(self) -> bool:
        """Whether a prompt may be sent: there are enough, the model is at work, or no item brings more."""
        enough = self._held + self._sent >= self.together or 2 * self._sent >= self.together
        return enough or self._asking >= self._items
