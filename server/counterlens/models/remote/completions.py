"""The completions API: the model continues the prompt as it is (`POST /completions`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from counterlens.models import healing
from counterlens.models.base import Prompt
from counterlens.models.chat.turn import INSTRUCTION, Turn
from counterlens.models.entries import PLACE
from counterlens.models.remote.answer import Json
from counterlens.models.remote.dialect import sampling

_MOST_STOPS: Final = 4  # OpenAI's API refuses more


@dataclass(frozen=True, slots=True)
class Continuation:
    """A request to continue `head`; `gap` is the whitespace between it and the end of the prompt.

    `fill`: whether the server gets the text after the hole.
    """

    head: str
    gap: str
    prompt: Prompt
    fill: bool = False

    @property
    def payload(self) -> Json:
        """The body of the request."""
        body: Json = {
            "prompt": self.head,
            "max_tokens": self.prompt.max_tokens,
            **sampling(self.prompt.draw),
            "stream": True,
        }
        # the stop texts with the same effect on the server, where the completion includes the gap
        texts = [text for text in self.prompt.stop.texts if text]
        if self.gap:
            texts = [text for text in texts if text[0] not in healing.WHITESPACE]
        stops = texts[:_MOST_STOPS]
        if stops:
            body["stop"] = stops
        if self.prompt.logprobs:
            body["logprobs"] = 1  # the number of alternatives; some servers return none for 0
        if self.fill:
            body["suffix"] = self.prompt.suffix
        if self.prompt.reply is not None and self.prompt.reply.grammar:
            body["grammar"] = self.prompt.reply.grammar  # for llama.cpp's servers; others ignore or refuse it
        return body

    def text(self, answer: str, *, complete: bool) -> str | None:
        """Return the text after the prompt."""
        return healing.reconcile(self.gap, answer, complete=complete)

    def ended(self, answer: str) -> bool:  # noqa: ARG002 - only chat replies continue after their end
        """Always false: the server knows the end."""
        return False


class CompletionsDialect:
    """The completions API.

    Args:
        fill: Whether the model also gets the text after the hole (`suffix`), if the server accepts it.
        template: The text around a question, with the placeholder `{prompt}`; None: it is sent as it is.
    """

    path = "/completions"

    def __init__(self, *, fill: bool = False, template: str | None = None) -> None:
        self._fill, self._template = fill, template
        self.identity = "fill" if fill else "completions"
        if template is not None:
            self.identity += f" {template}"

    def exchange(self, prompt: Prompt, *, heal: bool = True) -> Continuation:
        """A request that ends at a token boundary, unless `heal` is false."""
        if prompt.reply is not None:
            return Continuation(self._around(prompt.text), "", prompt)
        head, gap = healing.split(prompt.text) if heal else (prompt.text, "")
        return Continuation(head, gap, prompt, fill=self._fill)

    def _around(self, question: str) -> str:
        return question if self._template is None else self._template.replace(PLACE, question)


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
        if self.prompt.logprobs:
            body["logprobs"] = True
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
