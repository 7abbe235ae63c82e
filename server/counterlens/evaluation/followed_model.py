"""A model whose answered prompts, with their seconds, are reported to the observers of a run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event

from counterlens.models.base import Completion, Model, Progress, Prompt, TokenScores
from counterlens.models.wrapped import WrappedModel

Note = Callable[[int, float], None]
"""Called with a number of prompts that were answered, and the seconds since the last ones."""


class FollowedModel(WrappedModel):
    """Reports answered prompts, also before the others of the same call.

    Args:
        model: The model.
        note: Called on the thread of the call.
    """

    def __init__(self, model: Model, note: Note) -> None:
        super().__init__(model)
        self._note = note

    def complete(
        self, prompts: Sequence[Prompt], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> list[Completion]:
        """Like `Model.complete`."""
        with self._call(len(prompts), progress) as advance:
            return self.model.complete(prompts, cancel=cancel, progress=advance)

    def score(
        self,
        text: str,
        *,
        context: str = "",
        alternatives: int = 5,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> TokenScores:
        """Like `Model.score`; the text counts as one prompt."""
        with self._call(1):
            return self.model.score(
                text, context=context, alternatives=alternatives, cancel=cancel, progress=progress
            )

    def score_continuations(
        self,
        context: str,
        continuations: Sequence[str],
        *,
        alternatives: int = 5,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        """Like `Model.score_continuations`; each continuation counts as a prompt."""
        with self._call(len(continuations)):
            return self.model.score_continuations(
                context, continuations, alternatives=alternatives, cancel=cancel, progress=progress
            )

    def score_span(
        self, text: str, start: int, end: int, *, alternatives: int = 0, cancel: Event | None = None
    ) -> TokenScores:
        """Like `Model.score_span`; it counts as a prompt."""
        with self._call(1):
            return self.model.score_span(text, start, end, alternatives=alternatives, cancel=cancel)

    @contextmanager
    def _call(self, prompts: int, progress: Progress | None = None) -> Iterator[Progress]:
        """Follow a call; yields the progress callback for the model."""
        answered, last = 0, time.monotonic()

        def note(done: int) -> None:
            nonlocal answered, last
            now = time.monotonic()
            if done > answered:
                self._note(done - answered, now - last)
                answered, last = done, now

        def advance(done: int, total: int) -> None:
            note(done * prompts // max(total, 1))
            if progress is not None:
                progress(done, total)

        yield advance
        note(prompts)
