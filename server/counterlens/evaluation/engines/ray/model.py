"""A model that runs on the nodes of a cluster: each call goes to an idle replica."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from typing import TypeVar

from counterlens.evaluation.engines.ray.replicas import Replicas
from counterlens.models.base import Completion, Model, ModelInfo, Progress, Prompt, TokenScores, Vectors

Found = TypeVar("Found")


class RayModel(Model):
    """Thread-safe; it reports progress only at the end.

    Args:
        replicas: Replicas of the model.
    """

    def __init__(self, replicas: Replicas) -> None:
        self._replicas = replicas

    @property
    def info(self) -> ModelInfo:
        """Identity of the model."""
        return self._replicas.info

    def complete(
        self,
        prompts: Sequence[Prompt],
        *,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> list[Completion]:
        """Like `Model.complete`."""
        found: list[Completion] = self._replicas.ask("complete", list(prompts), cancel=cancel)
        return _report_done(found, len(found), progress)

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
        found: TokenScores = self._replicas.ask(
            "score", text, context=context, alternatives=alternatives, cancel=cancel
        )
        return _report_done(found, len(found), progress)

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
        found: list[TokenScores] = self._replicas.ask(
            "score_continuations", context, list(continuations), alternatives=alternatives, cancel=cancel
        )
        return _report_done(found, len(found), progress)

    def embed(
        self, texts: Sequence[str], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> Vectors:
        """Like `Model.embed`."""
        found: Vectors = self._replicas.ask("embed", list(texts), cancel=cancel)
        return _report_done(found, len(found), progress)

    def close(self) -> None:
        """Close the replicas."""
        self._replicas.close()


def _report_done(found: Found, steps: int, progress: Progress | None) -> Found:
    if progress:
        progress(steps, steps)
    return found
