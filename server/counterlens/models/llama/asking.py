"""How a local model is asked: to go on with a text, to fill in its middle, or by an instruction."""

from __future__ import annotations

from dataclasses import dataclass

from counterlens.errors import ModelError
from counterlens.models import stopping
from counterlens.models.base import Prompt
from counterlens.models.llama import healing
from counterlens.models.llama.chatting import Chat
from counterlens.models.llama.grammar import Grammar
from counterlens.models.llama.native import Engine
from counterlens.models.remote.chat import Turn

_LEAST_PROMPT = 16


@dataclass(frozen=True)
class Asked:
    """A prompt as a model reads it.

    Attributes:
        prompt: What was asked.
        tokens: What is fed.
        required: What the first tokens have to spell out.
        dropped: How many of the prompt's oldest tokens are not fed.
        max_tokens: How many tokens may be generated.
        grammar: What the answer is held to.
        turn: Set where the answer is a reply that the continuation has to be read out of.
    """

    prompt: Prompt
    tokens: list[int]
    required: bytes
    dropped: int
    max_tokens: int
    grammar: Grammar | None = None
    turn: Turn | None = None

    def text(self, written: bytes, *, complete: bool) -> tuple[str, bool]:
        """The continuation according to what was generated, and whether it ends here."""
        answer = written[len(self.required) :].decode("utf-8", "ignore")  # a character may be incomplete
        text: str | None = answer
        ended = False
        if self.turn:
            ended = self.turn.ended(answer)
            text = self.turn.text(answer, complete=complete or ended)
        if text is None:
            return "", False
        at_line_start = self.prompt.text.endswith("\n")
        end = stopping.cut(text, self.prompt.stop, at_line_start=at_line_start)
        return (text, ended) if end is None else (end, True)


class Asker:
    """Makes tokens of prompts.

    Args:
        engine: The model.
        api: `completions`, `fill` or `chat`.

    Raises:
        ModelError: the model lacks the tokens for filling in the middle, or a chat template.
    """

    def __init__(self, engine: Engine, api: str) -> None:
        self._engine, self._api = engine, api
        if api == "fill" and not engine.fill_marks:
            raise ModelError(
                "this model has no tokens for filling in the middle",
                "Ask it through `completions`, or choose a model that was trained to fill",
            )
        self._chat = Chat(engine) if api == "chat" else None

    def ask(self, prompt: Prompt) -> Asked:
        """Make tokens of a prompt; one that does not fit loses its oldest ones.

        Raises:
            ModelError: a prompt is empty, or asks for more than the context holds.
        """
        if not prompt.text:
            raise ModelError("an empty prompt cannot be completed", "Give the model something to continue")
        if self._chat:
            return self._instructed(self._chat, prompt)
        engine, text = self._engine, prompt.text.encode()
        if prompt.reply is not None:  # a question is read as it stands
            grammar = self._form(prompt)
            tokens, required = engine.tokenize(text), b""
            dropped = self._overflow(prompt, len(tokens))
            return Asked(prompt, tokens[dropped:], required, dropped, prompt.max_tokens, grammar)
        tokens, required = healing.split(engine, text)
        if self._api == "fill" and engine.fill_marks:
            before, suffix, middle = engine.fill_marks
            lead = tokens[: len(tokens) and int(engine.adds_bos)]
            after = engine.tokenize(prompt.suffix.encode())[: engine.context // 4]
            body = tokens[len(lead) :]
            dropped = self._overflow(prompt, len(tokens) + len(after) + 3 + len(required))
            fed = [*lead, before, *body[dropped:], suffix, *after, middle]
            return Asked(prompt, fed, required, dropped, prompt.max_tokens)
        dropped = self._overflow(prompt, len(tokens) + len(required))
        return Asked(prompt, tokens[dropped:], required, dropped, prompt.max_tokens)

    def _instructed(self, chat: Chat, prompt: Prompt) -> Asked:
        turn = Turn(prompt)
        payload = turn.payload
        tokens = chat.tokens(payload["messages"])
        if self._overflow(prompt, len(tokens)):
            raise ModelError(
                f"a message of {len(tokens)} tokens does not fit into a context of {self._engine.context}",
                "Ask about a shorter function",
            )
        grammar = self._form(prompt)
        return Asked(prompt, tokens, b"", 0, payload["max_tokens"], grammar, None if prompt.reply else turn)

    def _form(self, prompt: Prompt) -> Grammar | None:
        """What an answer is held to; a question may leave it open."""
        return Grammar(self._engine, prompt.reply.grammar) if prompt.reply and prompt.reply.grammar else None

    def _overflow(self, prompt: Prompt, tokens: int) -> int:
        """How many of the prompt's tokens do not fit.

        Raises:
            ModelError: hardly any would.
        """
        room = self._engine.context - prompt.max_tokens
        if room < _LEAST_PROMPT:
            raise ModelError(
                f"{prompt.max_tokens} new tokens do not fit into a context of {self._engine.context}",
                "Ask for fewer",
            )
        return max(0, tokens - room)
