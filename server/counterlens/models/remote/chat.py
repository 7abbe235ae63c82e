"""The chat API: the model is asked to continue code (`POST /chat/completions`)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from counterlens.models.base import Prompt
from counterlens.models.chat.turn import INSTRUCTION, Turn
from counterlens.models.remote.answer import Json
from counterlens.models.remote.dialect import Piece, choices_of, index_of, sampling, string
from counterlens.models.remote.thinking import field_of


@dataclass(frozen=True, slots=True)
class ChatExchange(Turn):
    """One request of the chat API, and its response."""

    @property
    def payload(self) -> Json:
        """The body of the request, without stop texts: a reply that repeats the prompt may contain them."""
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
        """A request; the reply starts its own line, so it never contradicts the prompt."""
        return ChatExchange(prompt)

    def pieces(self, chunk: Json) -> list[Piece]:
        """The text of each choice: a message, or the addition of a chunk."""
        return [_piece(choice) for choice in choices_of(chunk)]


def _piece(choice: Json) -> Piece:
    finish, index = choice.get("finish_reason"), index_of(choice)
    message = choice["delta"] if "delta" in choice else choice["message"]
    if message is None and finish is not None:
        return Piece("", finish, index=index)
    if not isinstance(message, dict):
        raise TypeError("a message is not an object")
    return Piece(string(message.get("content")), finish, field_of(message), index)
