"""A chat model that someone else asks for us, such as the editor: it writes, and gives no probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from threading import Event
from types import TracebackType
from typing import Self

from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import (
    Capability,
    Completion,
    ModelInfo,
    Progress,
    Prompt,
    TokenScores,
    Vectors,
)
from counterlens.models.remote.chat import INSTRUCTION, Turn
from counterlens.models.stopping import cut


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be asked.

    Attributes:
        messages: Role (`system` or `user`) and text of each.
        max_tokens: At most so many new tokens.
    """

    messages: tuple[tuple[str, str], ...]
    max_tokens: int


Ask = Callable[[Question, Event], str]
"""Asks from any thread, and gives the whole reply. Raises `ModelError`; `Cancelled` once the event is set."""


class CarriedModel:
    """A model behind an `Ask`; implements `counterlens.models.base.Model`, completions only.

    Args:
        spec: What the user typed to choose it.
        name: What a person calls it.
        where: Who runs it.
        ask: Asks it.
    """

    def __init__(self, spec: str, name: str, where: str, ask: Ask) -> None:
        identity = sha256(f"{where} {name} {INSTRUCTION}".encode()).hexdigest()
        self.info = ModelInfo(spec, name, identity, where, frozenset({Capability.COMPLETE}))
        self._ask = ask

    def offers(self, capability: Capability, *, anew: bool = False, cancel: Event | None = None) -> bool:  # noqa: ARG002
        """As `Model.offers`."""
        return capability in self.info.capabilities

    def complete(
        self, prompts: Sequence[Prompt], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> list[Completion]:
        """As `Model.complete`, one after the other; how far at temperature 0 is up to who runs the model."""
        answers: list[Completion] = []
        for prompt in prompts:
            answers.append(self._completed(prompt, cancel or Event()))
            if progress:
                progress(len(answers), len(prompts))
        return answers

    def _completed(self, prompt: Prompt, cancel: Event) -> Completion:
        if cancel.is_set():
            raise Cancelled("the request was cancelled")
        turn = Turn(prompt)
        payload = turn.payload
        messages = tuple((one["role"], one["content"]) for one in payload["messages"])
        reply = self._ask(Question(messages, payload["max_tokens"]), cancel)
        text = turn.text(reply, complete=True) or ""
        end = cut(text, prompt.stop, at_line_start=prompt.text[-1:] in ("", "\n", "\r"))
        # Nobody counts the tokens, and the reply does not say whether the model or the limit ended it.
        return Completion(text if end is None else end, "stop", 0)

    def score(
        self,
        text: str,  # noqa: ARG002
        *,
        context: str = "",  # noqa: ARG002
        alternatives: int = 5,  # noqa: ARG002
        cancel: Event | None = None,  # noqa: ARG002
        progress: Progress | None = None,  # noqa: ARG002
    ) -> TokenScores:
        """Never."""
        raise self._no_probabilities()

    def score_continuations(
        self,
        context: str,  # noqa: ARG002
        continuations: Sequence[str],  # noqa: ARG002
        *,
        alternatives: int = 5,  # noqa: ARG002
        cancel: Event | None = None,  # noqa: ARG002
        progress: Progress | None = None,  # noqa: ARG002
    ) -> list[TokenScores]:
        """Never."""
        raise self._no_probabilities()

    def embed(
        self,
        texts: Sequence[str],  # noqa: ARG002
        *,
        cancel: Event | None = None,  # noqa: ARG002
        progress: Progress | None = None,  # noqa: ARG002
    ) -> Vectors:
        """Never."""
        raise ModelError(f"{self.info.name} gives no embeddings", "Choose a model that does")

    def close(self) -> None:
        """Nothing is held."""

    def __enter__(self) -> Self:
        """The model itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """As `close`."""

    def _no_probabilities(self) -> ModelError:
        return ModelError(
            f"{self.info.name} gives no token probabilities",
            "It can be probed by what it writes; scores need another model",
        )
