"""Models that pass their requests on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from threading import Event
from typing import Any

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


class ForwardingModel(Model):
    """A model whose requests all go through one method."""

    @abstractmethod
    def _forward(self, method: str, *asked: Any, cancel: Event | None, **options: Any) -> Any:
        """Answer a request: the name of a method of `Model`, and its arguments."""

    def complete(
        self, prompts: Sequence[Prompt], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> list[Completion]:
        completions: list[Completion] = self._forward("complete", prompts, cancel=cancel, progress=progress)
        return completions

    def score(
        self,
        text: str,
        *,
        context: str = "",
        alternatives: int = 5,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> TokenScores:
        options = {"context": context, "alternatives": alternatives, "progress": progress}
        scores: TokenScores = self._forward("score", text, cancel=cancel, **options)
        return scores

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
        options = {"unscored": unscored, "alternatives": alternatives, "progress": progress}
        scores: list[TokenScores] = self._forward(
            "score_continuations", context, continuations, cancel=cancel, **options
        )
        return scores

    def score_span(
        self, text: str, start: int, end: int, *, alternatives: int = 0, cancel: Event | None = None
    ) -> TokenScores:
        scores: TokenScores = self._forward(
            "score_span", text, start, end, alternatives=alternatives, cancel=cancel
        )
        return scores

    def embed(
        self, texts: Sequence[str], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> Vectors:
        vectors: Vectors = self._forward("embed", texts, cancel=cancel, progress=progress)
        return vectors


class WrappedModel(ForwardingModel):
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
        return self.model.offers(capability, retest=retest, cancel=cancel)

    def _forward(self, method: str, *asked: Any, cancel: Event | None, **options: Any) -> Any:
        return getattr(self.model, method)(*asked, cancel=cancel, **options)

    def close(self) -> None:
        """Close the other model."""
        self.model.close()
