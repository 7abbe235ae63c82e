"""Prompt to tokens for each API: plain completion, fill-in-the-middle, or chat."""

from __future__ import annotations

from counterlens.errors import ModelError
from counterlens.models.base import Api, Prompt
from counterlens.models.chat.turn import Turn
from counterlens.models.llama.chat_template import ChatTemplate
from counterlens.models.llama.grammar import Grammar
from counterlens.models.llama.native import Engine
from counterlens.models.local import healing
from counterlens.models.local.encoded_prompt import EncodedPrompt, encode_plain, overflow


class PromptEncoder:
    """Encodes prompts for one model.

    Args:
        engine: The model.
        api: Prompt format.

    Raises:
        ModelError: the model lacks the tokens for filling in the middle, or a chat template.
    """

    def __init__(self, engine: Engine, api: Api) -> None:
        self._engine, self._api = engine, api
        if api is Api.FILL and not engine.fill_marks:
            raise ModelError(
                "this model has no fill-in-the-middle tokens",
                "Use `completions`, or choose a model that was trained to fill in the middle",
            )
        self._template = ChatTemplate(engine) if api is Api.CHAT else None

    def encode(self, prompt: Prompt) -> EncodedPrompt:
        """Encode a prompt; its oldest tokens are dropped if it does not fit.

        Raises:
            ModelError: the prompt is empty, or requests more tokens than the context holds.
        """
        if self._template and prompt.text:
            return self._instructed(self._template, prompt)
        marks = self._engine.fill_marks if self._api is Api.FILL else None
        if marks and prompt.text and prompt.reply is None:
            return self._around(prompt, marks)
        return encode_plain(self._engine, prompt, self._form(prompt))

    def _around(self, prompt: Prompt, marks: tuple[int, int, int]) -> EncodedPrompt:
        """The prompt, the text after the hole, and the mark before the filling."""
        engine, (before, suffix, middle) = self._engine, marks
        tokens, required = healing.split(engine, prompt.text.encode())
        lead = tokens[: len(tokens) and int(engine.adds_bos)]
        after = engine.tokenize(prompt.suffix.encode())[: engine.context // 4]
        body = tokens[len(lead) :]
        dropped = self._overflow(prompt, len(tokens) + len(after) + 3 + len(required))
        fed = [*lead, before, *body[dropped:], suffix, *after, middle]
        return EncodedPrompt(prompt, fed, required, dropped, prompt.max_tokens)

    def _instructed(self, template: ChatTemplate, prompt: Prompt) -> EncodedPrompt:
        turn = Turn(prompt)
        tokens = template.tokens(turn.messages)
        if self._overflow(prompt, len(tokens)):
            raise ModelError(
                f"a message of {len(tokens)} tokens does not fit into a context of {self._engine.context}",
                "Choose a shorter function",
            )
        grammar = self._form(prompt)
        return EncodedPrompt(prompt, tokens, b"", 0, turn.max_tokens, grammar, None if prompt.reply else turn)

    def _form(self, prompt: Prompt) -> Grammar | None:
        """The grammar of an answer, if the question has one."""
        return Grammar(self._engine, prompt.reply.grammar) if prompt.reply and prompt.reply.grammar else None

    def _overflow(self, prompt: Prompt, tokens: int) -> int:
        return overflow(prompt, tokens, self._engine.context)
