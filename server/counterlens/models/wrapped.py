"""A wrapper around a model."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

from counterlens.models.base import (
    Capability,
    Completion,
    Model,
    ModelInfo,
    Progress,
    Prompt,
    TokenScores,
    Vectors,
)
from counterlens.models.usage import Usage


class WrappedModel(Model):
    """Passes every request on to another model; subclasses override what they change.

    Attributes:
        model: The other model.
    """

    def __init__(self, model: Model) -> None:
        self.model = model

    @property
    def info(self) -> ModelInfo:
        """Identity of the other model."""
        return self.model.info

    @property
    def usage(self) -> Usage:
        """Delegate to the other model."""
        return self.model.usage

    def offers(self, capability: Capability, *, retest: bool = False, cancel: Event | None = None) -> bool:
        """Like `Model.offers`."""
        return self.model.offers(capability, retest=retest, cancel=cancel)

    def complete(
        self, prompts: Sequence[Prompt], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> list[Completion]:
        """Like `Model.complete`."""
        return self.model.complete(prompts, cancel=cancel, progress=progress)

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
        return self.model.score(
            text, context=context, alternatives=alternatives, cancel=cancel, progress=progress
        )

    def score_continuations(
        self,
        context: str,
        continuations: Sequence[str],
        *,
        unscored: Sequence[int] = (),
        alternatives: int = 5,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        """Like `Model.score_continuations`."""
        return self.model.score_continuations(
            context,
            continuations,
            unscored=unscored,
            alternatives=alternatives,
            cancel=cancel,
            progress=progress,
        )

    def score_span(
        self, text: str, start: int, end: int, *, alternatives: int = 0, cancel: Event | None = None
    ) -> TokenScores:
        """Like `Model.score_span`."""
        return self.model.score_span(text, start, end, alternatives=alternatives, cancel=cancel)

    def embed(
        self, texts: Sequence[str], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> Vectors:
        """Like `Model.embed`."""
        return self.model.embed(texts, cancel=cancel, progress=progress)

    def close(self) -> None:
        """Close the other model."""
        self.model.close()
