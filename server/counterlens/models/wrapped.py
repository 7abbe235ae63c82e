"""Models that pass their requests on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from threading import Event
from typing import Any, Unpack

from counterlens.models.base import (
    Capability,
    Completion,
    Model,
    ModelInfo,
    Prompt,
    TokenScores,
    Vectors,
)
from counterlens.models.usage import Usage
from counterlens.progress import RequestOptions


class ScoreOptions(RequestOptions, total=False):
    """What `Model.score` takes besides the text."""

    context: str
    alternatives: int


class ContinuationOptions(RequestOptions, total=False):
    """What `Model.score_continuations` takes besides the texts."""

    unscored: Sequence[int]
    alternatives: int


class ForwardingModel(Model):
    """A model whose requests all go through one method."""

    @abstractmethod
    def _forward(self, method: str, *asked: Any, cancel: Event | None = None, **options: Any) -> Any:
        """Answer a request: the name of a method of `Model`, and its arguments."""

    def complete(self, prompts: Sequence[Prompt], **options: Unpack[RequestOptions]) -> list[Completion]:
        completions: list[Completion] = self._forward("complete", prompts, **options)
        return completions

    def score(self, text: str, **options: Unpack[ScoreOptions]) -> TokenScores:
        scores: TokenScores = self._forward("score", text, **options)
        return scores

    def score_continuations(
        self, context: str, continuations: Sequence[str], **options: Unpack[ContinuationOptions]
    ) -> list[TokenScores]:
        scores: list[TokenScores] = self._forward("score_continuations", context, continuations, **options)
        return scores

    def score_span(
        self, text: str, start: int, end: int, *, alternatives: int = 0, cancel: Event | None = None
    ) -> TokenScores:
        scores: TokenScores = self._forward(
            "score_span", text, start, end, alternatives=alternatives, cancel=cancel
        )
        return scores

    def embed(self, texts: Sequence[str], **options: Unpack[RequestOptions]) -> Vectors:
        vectors: Vectors = self._forward("embed", texts, **options)
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
    def together(self) -> int:
        """Delegate to the other model."""
        return self.model.together

    @property
    def usage(self) -> Usage:
        """Delegate to the other model."""
        return self.model.usage

    @property
    def seconds(self) -> float:
        """Delegate to the other model."""
        return self.model.seconds

    def offers(self, capability: Capability, *, retest: bool = False, cancel: Event | None = None) -> bool:
        return self.model.offers(capability, retest=retest, cancel=cancel)

    def _forward(self, method: str, *asked: Any, cancel: Event | None = None, **options: Any) -> Any:
        return getattr(self.model, method)(*asked, cancel=cancel, **options)

    def close(self) -> None:
        """Close the other model."""
        self.model.close()


class UninstructedModel(WrappedModel):
    """A model that is asked questions in the prompt format in which it gets code, not through a template."""

    @property
    def info(self) -> ModelInfo:
        """Identity of the other model, without `Capability.INSTRUCT`."""
        info = self.model.info
        return replace(info, capabilities=info.capabilities - {Capability.INSTRUCT})
