"""The chat template of a model: messages to tokens; no text in a message becomes a special token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import llama_cpp as llama
from jinja2 import TemplateError
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from counterlens.errors import ModelError
from counterlens.models.llama.native import Engine

Message = tuple[str, str]
"""Role and text."""

_PLACE = "\u2060counterlens-message-{}\u2060"


class ChatTemplate:
    """Converts messages to tokens.

    Args:
        engine: The model.

    Raises:
        ModelError: the model has no chat template.
    """

    def __init__(self, engine: Engine) -> None:
        template = llama.llama_model_chat_template(engine.model, None)
        if not template:
            raise ModelError(
                "this model has no chat template, so it was not trained to follow instructions",
                "Use `completions`",
            )
        self._engine = engine
        bos = engine.pieces[engine.bos].decode("utf-8", "replace") if engine.bos >= 0 else ""
        self._formatter = Jinja2ChatFormatter(
            template=template.decode("utf-8", "replace"), eos_token="", bos_token=bos
        )

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        """The tokens of a conversation, up to the point where the model is to answer.

        The template is filled with placeholders for the texts, so that a text that contains one of its marks,
        such as `<|im_end|>`, is read as text.
        """
        try:
            return self._filled(messages)
        except TemplateError:  # some models have no system role: its text goes to the user's message
            return self._filled([("user", "\n\n".join(text for _, text in messages))])

    def _filled(self, messages: Sequence[Message]) -> list[int]:
        places = [_PLACE.format(i) for i in range(len(messages))]
        empty: list[Any] = [
            {"role": role, "content": place} for (role, _), place in zip(messages, places, strict=True)
        ]
        rest = self._formatter(messages=empty).prompt
        tokens: list[int] = []
        for (role, text), place in zip(messages, places, strict=True):
            before, mark, rest = rest.partition(place)
            if not mark:
                raise ModelError(
                    f"the model's chat template has no place for a message of the {role}",
                    "Use `completions`",
                )
            tokens += self._engine.tokenize(before.encode(), marks=True)
            tokens += self._engine.tokenize(text.encode())
        tokens += self._engine.tokenize(rest.encode(), marks=True)
        lead = [self._engine.bos] if self._engine.adds_bos and tokens[:1] != [self._engine.bos] else []
        return lead + tokens
