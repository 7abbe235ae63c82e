"""Priority of requests to a local model: foreground requests interrupt background ones.

A local model answers one request at a time, and scoring a long class takes half a minute. A background
request is therefore cancelled between two chunks when a foreground request arrives, and retried after it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Condition, Event
from typing import TypeVar

from counterlens.errors import Cancelled
from counterlens.models.base import Completion, Model, Progress, Prompt, TokenScores, Vectors
from counterlens.models.wrapped import WrappedModel

Made = TypeVar("Made")
_LOOK = 0.05  # seconds between two checks whether a background request was cancelled


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
    """A model whose requests all go through `_ask`."""

    def __init__(self, model: Model, precedence: Precedence) -> None:
        super().__init__(model)
        self._precedence = precedence

    @abstractmethod
    def _ask(self, request: Callable[[Event | None], Made], cancel: Event | None) -> Made:
        """Send a request; it gets the event that ends it."""

    def complete(
        self, prompts: Sequence[Prompt], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> list[Completion]:
        """Like `Model.complete`."""
        ask = super().complete
        return self._ask(lambda end: ask(prompts, cancel=end, progress=progress), cancel)

    def score(
        self,
        text: str,
        *,
        context: str = "",
        alternatives: int = 5,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> TokenScores:
        """Like `Model.score`."""
        ask, more = super().score, {"context": context, "alternatives": alternatives}
        return self._ask(lambda end: ask(text, **more, cancel=end, progress=progress), cancel)  # type: ignore[arg-type]

    def score_continuations(
        self,
        context: str,
        continuations: Sequence[str],
        *,
        alternatives: int = 5,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        """Like `Model.score_continuations`."""
        ask = super().score_continuations
        return self._ask(
            lambda end: ask(context, continuations, alternatives=alternatives, cancel=end, progress=progress),
            cancel,
        )

    def score_span(
        self, text: str, start: int, end: int, *, alternatives: int = 0, cancel: Event | None = None
    ) -> TokenScores:
        """Like `Model.score_span`."""
        ask = super().score_span
        return self._ask(lambda stop: ask(text, start, end, alternatives=alternatives, cancel=stop), cancel)

    def embed(
        self, texts: Sequence[str], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> Vectors:
        """Like `Model.embed`."""
        ask = super().embed
        return self._ask(lambda end: ask(texts, cancel=end, progress=progress), cancel)


class ForegroundModel(_RankedModel):
    """A model for foreground requests, whose caller waits for the response."""

    def _ask(self, request: Callable[[Event | None], Made], cancel: Event | None) -> Made:
        with self._precedence.take():
            return request(cancel)


class BackgroundModel(_RankedModel):
    """A model for background requests: each gives way, and is then retried."""

    def _ask(self, request: Callable[[Event | None], Made], cancel: Event | None) -> Made:
        while True:
            self._precedence.wait(cancel)
            interrupt = _Interrupt(self._precedence, cancel)
            try:
                return request(interrupt)
            except Cancelled:
                if not interrupt.made_way or (cancel is not None and cancel.is_set()):
                    raise
