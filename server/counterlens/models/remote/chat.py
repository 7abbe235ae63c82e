"""The chat API: the model is asked to continue code (`POST /chat/completions`)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from counterlens.models.base import Prompt, Reply
from counterlens.models.remote import healing, replies
from counterlens.models.remote.answer import Json
from counterlens.models.remote.dialect import Piece, first_choice, string

INSTRUCTION: Final = (
    "You continue source code. The user sends the beginning of a file. Write what comes next, exactly as it"
    " would stand in the file, with its indentation, until the function that was begun is complete. Do not"
    " repeat what is already there. Reply with only the continuation, in one code block."
)
_FENCE_TOKENS: Final = 16  # the code block's own marks are not part of the completion
_TICKS = re.compile(r"`{3,}")


@dataclass(frozen=True, slots=True)
class Turn:
    """One user message, and the reply to it."""

    prompt: Prompt

    @property
    def payload(self) -> Json:
        """The body of the request. Stop texts stay here: a reply that repeats the prompt may contain them."""
        if self.prompt.reply is not None:
            return _question(self.prompt, self.prompt.reply)
        head, _ = healing.split(self.prompt.text)
        longest = max((len(ticks) for ticks in _TICKS.findall(head)), default=2)
        fence = "`" * (longest + 1)
        return {
            "messages": [
                {"role": "system", "content": INSTRUCTION},
                {"role": "user", "content": f"{fence}\n{head}\n{fence}"},
            ],
            "max_tokens": self.prompt.max_tokens + _FENCE_TOKENS,
            "temperature": 0,
            "stream": True,
        }

    def text(self, answer: str, *, complete: bool) -> str | None:
        """What follows the prompt; to a question, all of the reply."""
        if self.prompt.reply is not None:
            return replies.without_thought(answer)
        return replies.continuation(answer, self.prompt.text, self.prompt.stop.indent, complete=complete)

    def ended(self, answer: str) -> bool:
        """Whether the code block is closed."""
        if self.prompt.reply is not None:
            return False
        block = replies.first_block(answer)
        return block is not None and block.closed


def _question(prompt: Prompt, reply: Reply) -> Json:
    """The body of a request that asks a question, in the form of answer that chat APIs agree on."""
    body: Json = {
        "messages": [
            {"role": "system", "content": reply.instruction},
            {"role": "user", "content": prompt.text},
        ],
        "max_tokens": prompt.max_tokens,
        "temperature": 0,
        "stream": True,
    }
    if reply.schema:
        form = {"name": "answer", "strict": True, "schema": json.loads(reply.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    return body


class ChatDialect:
    """The chat API."""

    path = "/chat/completions"
    identity = f"chat {INSTRUCTION}"

    def exchange(self, prompt: Prompt, *, heal: bool = True) -> Turn:  # noqa: ARG002 - nothing to heal
        """A request; the reply starts a line of its own, so it never contradicts the prompt."""
        return Turn(prompt)

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
