"""Prompt to tokens for each API: plain completion, fill-in-the-middle, or chat."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from subprocess import SubprocessError

import llama_cpp as llama
import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError
from counterlens.models.base import Api, Prompt
from counterlens.models.chat.turn import Turn
from counterlens.models.llama.native import Engine
from counterlens.models.local import encoded_prompt
from counterlens.models.local.encoded_prompt import EncodedPrompt, encode_plain, overflow
from counterlens.processes import OWN_FOLDER, python, run

Message = tuple[str, str]
"""Role and text."""

_PLACE = "\u2060counterlens-message-{}\u2060"
_PROGRAM = Path(__file__).with_name("template_rendering.py")
_SECONDS = 120.0  # in which the process has its processor time, also on a very busy machine

_FIRST = 32
"""Candidates tried before the whole vocabulary: one of them nearly always fits."""
_TOKEN = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


class PromptEncoder:
    """Encodes prompts for one model.

    Args:
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
        if api is Api.CHAT:
            _ = self._template  # said before any other work with the model

    @cached_property
    def _template(self) -> ChatTemplate:
        """The model's chat template; filling it takes another process, so it waits until it is needed."""
        return ChatTemplate(self._engine)

    def encode(self, prompt: Prompt) -> EncodedPrompt:
        """Encode a prompt; its oldest tokens are dropped if it does not fit.

        Raises:
            ModelError: the prompt is empty, or requests more tokens than the context holds.
        """
        asked = prompt.reply is not None and prompt.reply.by_template
        if prompt.text and (self._api is Api.CHAT or asked):
            return self._instructed(self._template, prompt)
        marks = self._engine.fill_marks if self._api is Api.FILL else None
        if marks and prompt.text and prompt.reply is None and not prompt.candidates:
            return self._around(prompt, marks)
        return encode_plain(self._engine, prompt, self._form(prompt))

    def _around(self, prompt: Prompt, marks: tuple[int, int, int]) -> EncodedPrompt:
        """The prompt, the text after the hole, and the mark before the filling."""
        engine, (before, suffix, middle) = self._engine, marks
        tokens, required = encoded_prompt.split(engine, prompt.text.encode())
        lead = tokens[: len(tokens) and int(engine.adds_bos)]
        after = engine.tokenize(prompt.suffix.encode())[: engine.context // 4]
        body = tokens[len(lead) :]
        dropped = self._overflow(prompt, len(tokens) + len(after) + 3 + len(required))
        fed = [*lead, before, *body[dropped:], suffix, *after, middle]
        return EncodedPrompt(prompt, fed, required, dropped, prompt.max_tokens)

    def _instructed(self, template: ChatTemplate, prompt: Prompt) -> EncodedPrompt:
        turn = Turn(prompt)
        tokens = template.tokens(turn.messages)
        if prompt.reply is not None and prompt.reply.begun:
            tokens += self._engine.tokenize(prompt.reply.begun.encode())
        if self._overflow(prompt, len(tokens)):
            raise ModelError(
                f"a message of {len(tokens)} tokens does not fit into a context of {self._engine.context}",
                "Choose a shorter function",
            )
        grammar = self._form(prompt)
        return EncodedPrompt(
            prompt,
            tokens,
            b"",
            0,
            turn.max_tokens,
            grammar,
            None if prompt.reply else turn,
            template.closing if prompt.candidates else None,
        )

    def _form(self, prompt: Prompt) -> Grammar | None:
        """The grammar of an answer, if the question has one."""
        return Grammar(self._engine, prompt.reply.grammar) if prompt.reply and prompt.reply.grammar else None

    def _overflow(self, prompt: Prompt, tokens: int) -> int:
        return overflow(prompt, tokens, self._engine.context)


class Grammar:
    """The state of one completion in a grammar.

    Args:
        engine: The model whose vocabulary is used.
        text: GBNF; the rule `root` is the whole answer.

    Raises:
        ModelError: the grammar is invalid.
    """

    def __init__(self, engine: Engine, text: str) -> None:
        self._sampler = llama.llama_sampler_init_grammar(engine.vocab, text.encode(), b"root")
        if not self._sampler:
            raise ModelError("llama.cpp cannot read the grammar of the answer")

    def __del__(self) -> None:
        if getattr(self, "_sampler", None):
            llama.llama_sampler_free(self._sampler)

    def choose(self, logits: npt.NDArray[np.float32]) -> int:
        """The most likely allowed token; the end of the text if the answer may be complete.

        Args:
            logits: (v,) float32.

        Raises:
            ModelError: the vocabulary has no allowed token.
        """
        likely = np.argpartition(-logits, _FIRST)[:_FIRST]
        for candidates in (likely, np.arange(len(logits))):
            values = self._allowed(candidates, logits[candidates])
            best = int(np.argmax(values))
            if values[best] > -np.inf:
                return int(candidates[best])
        raise ModelError("the model's vocabulary cannot spell an answer in the requested form")

    def accept(self, token: int) -> None:
        """Advance past a chosen token."""
        llama.llama_sampler_accept(self._sampler, token)

    def _allowed(
        self, tokens: npt.NDArray[np.int64], logits: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """The logits, with -inf for tokens that are not allowed."""
        count = len(tokens)
        data = (llama.llama_token_data * count)()
        raw = np.frombuffer(memoryview(data).cast("B"), _TOKEN)
        raw["id"], raw["logit"], raw["p"] = tokens, logits, 0
        array = llama.llama_token_data_array(data=data, size=count, selected=-1, sorted=False)
        llama.llama_sampler_apply(self._sampler, ctypes.byref(array))
        allowed: npt.NDArray[np.float32] = raw["logit"].copy()
        return allowed


class ChatTemplate:
    """Converts messages to tokens.

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

    @cached_property
    def closing(self) -> int | None:
        """The token that ends an answer; None if the template has none.

        The vocabulary's own end of a turn may be another token, such as that of a text.
        """
        filled = self._fill(("user", "assistant"))
        behind = "" if isinstance(filled, ModelError) else filled.partition(_PLACE.format(1))[2]
        tokens = self._engine.tokenize(behind.encode(), marks=True)
        return next((token for token in tokens if token in self._engine.ends), None)

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
