"""The chat API: the model is asked to continue code (`POST /chat/completions`)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from counterlens.models.base import Prompt
from counterlens.models.chat.turn import INSTRUCTION, Turn
from counterlens.models.remote.answer import Json
from counterlens.models.remote.dialect import Piece, first_choice, sampling, string


@dataclass(frozen=True, slots=True)
class ChatExchange(Turn):
    """One request of the chat API, and the answer to it."""

    @property
    def payload(self) -> Json:
        """The body of the request. Stop texts stay here: a reply that repeats the prompt may contain them."""
        body: Json = {
            "messages": [{"role": role, "content": text} for role, text in self.messages],
            "max_tokens": self.max_tokens,
            **sampling(self.prompt.draw),
            "stream": True,
        }
        if self.prompt.reply is not None and self.prompt.reply.schema:
            form = {"name": "answer", "strict": True, "schema": json.loads(self.prompt.reply.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body


class ChatDialect:
    """The chat API."""

    path = "/chat/completions"
    identity = f"chat {INSTRUCTION}"

    def exchange(self, prompt: Prompt, *, heal: bool = True) -> ChatExchange:  # noqa: ARG002 - nothing to heal
        """A request; the reply starts a line of its own, so it never contradicts the prompt."""
        return ChatExchange(prompt)

    def piece(self, chunk: Json) -> Piece:
        """The text of the first choice: a message, or what a chunk adds to it."""
        choice = first_choice(chunk)
        if choice is None:
            return Piece("")
        finish = choice.get("finish_reason")
        message = choice["delta"] if "delta" in choice else choice["message"]
        if message is None and finish is not None:
            return Piece("", finish)
        if not isinstance(message, dict):
            raise TypeError("a message is not an object")
        return Piece(string(message.get("content")), finish)
