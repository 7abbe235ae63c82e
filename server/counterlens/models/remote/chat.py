"""The chat API: the model is asked to continue code (`POST /chat/completions`)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from counterlens.models.base import Prompt
from counterlens.models.chat.turn import INSTRUCTION, Turn
from counterlens.models.remote.answer import Json
from counterlens.models.remote.dialect import sampling


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
