"""The chat template of a model: messages to tokens; no text in a message becomes a special token."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from subprocess import SubprocessError

import llama_cpp as llama

from counterlens.errors import ModelError
from counterlens.models.llama.native import Engine
from counterlens.processes import OWN_FOLDER, python, run

Message = tuple[str, str]
"""Role and text."""

_PLACE = "\u2060counterlens-message-{}\u2060"
_PROGRAM = Path(__file__).with_name("template_rendering.py")
_SECONDS = 120.0  # in which the process has its processor time, also on a very busy machine


class ChatTemplate:
    """Converts messages to tokens.

    Args:
        engine: The model.

    Raises:
        ModelError: the model has no chat template, or it needs too much time or memory.
    """

    def __init__(self, engine: Engine) -> None:
        template = llama.llama_model_chat_template(engine.model, None)
        if not template:
            raise ModelError(
                "this model has no chat template, so it was not trained to follow instructions",
                "Use `completions`",
            )
        self._engine = engine
        self._bos = engine.pieces[engine.bos].decode("utf-8", "replace") if engine.bos >= 0 else ""
        self._template = template.decode("utf-8", "replace")
        self._filled: dict[tuple[str, ...], str | ModelError] = {}
        filled = self._fill(("system", "user"))
        if isinstance(filled, _EndlessTemplateError):  # said before any other work with the model
            raise filled

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        """The tokens of a conversation, up to the point where the model is to answer.

        The template is filled with placeholders for the texts, so that a text that contains one of its marks,
        such as `<|im_end|>`, is read as text.

        Raises:
            ModelError: the template fails, does not end, or has no place for a message.
        """
        rest = self._fill([role for role, _ in messages])
        if isinstance(rest, ModelError):
            if messages[0][0] != "system" or isinstance(rest, _EndlessTemplateError):
                raise rest
            # Some models have no system role: its text goes to the user's first message.
            (_, instruction), (_, asked), *later = messages
            return self.tokens([("user", f"{instruction}\n\n{asked}"), *later])
        tokens: list[int] = []
        for number, (role, text) in enumerate(messages):
            before, mark, rest = rest.partition(_PLACE.format(number))
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

    def _fill(self, roles: Sequence[str]) -> str | ModelError:
        """The template, filled once for each sequence of roles."""
        key = tuple(roles)
        if key not in self._filled:
            messages = [{"role": role, "content": _PLACE.format(n)} for n, role in enumerate(roles)]
            try:
                self._filled[key] = fill_template(self._template, self._bos, messages)
            except ModelError as error:
                self._filled[key] = error
        return self._filled[key]


class _EndlessTemplateError(ModelError):
    """A chat template needs too much time or memory."""

    def __init__(self) -> None:
        super().__init__(
            "the chat template in the model's file needs too much time or memory",
            "Use `completions`, or get the file from its author again",
        )


def fill_template(template: str, bos: str, messages: Sequence[dict[str, str]]) -> str:
    """Fill a chat template in a process of its own, with limits of time and memory.

    Args:
        template: The template, in Jinja.
        bos: The text of the token at the beginning.
        messages: The messages, each with `role` and `content`.

    Raises:
        ModelError: the template fails, or reaches a limit.
    """
    given = json.dumps({"template": template, "bos": bos, "messages": list(messages)})
    try:
        ended = run(python(str(_PROGRAM)), seconds=_SECONDS, cwd=OWN_FOLDER, given=given.encode())
        answer = json.loads(ended.stdout)
    except (SubprocessError, ValueError):  # killed by its limit, it wrote nothing
        raise _EndlessTemplateError from None
    if "prompt" in answer:
        return str(answer["prompt"])
    if "limit" in answer:
        raise _EndlessTemplateError
    raise ModelError(
        f"the chat template in the model's file cannot be used: {answer['error']}", "Use `completions`"
    )
