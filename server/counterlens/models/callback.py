"""A chat model behind other code, such as the editor: it completes, but gives no probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from threading import Event

from counterlens.errors import Cancelled
from counterlens.models.base import Api, Capability, Completion, Model, ModelInfo, Progress, Prompt
from counterlens.models.chat.replies import still_thinks
from counterlens.models.chat.turn import INSTRUCTION, Turn
from counterlens.models.stopping import cut


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request to a chat model.

    Attributes:
        messages: Role (`system`, `user` or `assistant`) and text of each message.
        max_tokens: Maximum number of new tokens.
    """

    messages: tuple[tuple[str, str], ...]
    max_tokens: int


Ask = Callable[[ChatRequest, Event], str]
"""Sends a request from any thread, and returns the whole reply. Raises `ModelError`, or `Cancelled` when
the event is set."""


class CallbackModel(Model):
    """A model behind a function; completions only.

    Args:
        spec: The user's name for the model.
        name: Its display name.
        where: Its provider.
        ask: Sends a request to it.
    """

    def __init__(self, spec: str, name: str, where: str, ask: Ask) -> None:
        identity = sha256(f"{where} {name} {INSTRUCTION}".encode()).hexdigest()
        self._info = ModelInfo(spec, name, identity, where, frozenset({Capability.COMPLETE}), api=Api.CHAT)
        self._ask = ask

    @property
    def info(self) -> ModelInfo:
        """Identity of the model."""
        return self._info

    def complete(
        self, prompts: Sequence[Prompt], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> list[Completion]:
        """Like `Model.complete`, one prompt at a time; the provider chooses the temperature."""
        answers: list[Completion] = []
        for prompt in prompts:
            answers.append(self._complete(prompt, cancel or Event()))
            if progress:
                progress(len(answers), len(prompts))
        return answers

    def _complete(self, prompt: Prompt, cancel: Event) -> Completion:
        if cancel.is_set():
            raise Cancelled("the request was cancelled")
        turn = Turn(prompt)
        reply = self._ask(ChatRequest(turn.messages, turn.max_tokens), cancel)
        text = turn.text(reply, complete=True) or ""
        end = cut(text, prompt.stop, at_line_start=prompt.text[-1:] in ("", "\n", "\r"))
        # Tokens are not counted; a reply that ends within its reasoning shows that the limit ended it.
        return Completion(text if end is None else end, "length" if still_thinks(reply) else "stop", 0)
