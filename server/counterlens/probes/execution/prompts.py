"""Prompts of execution reasoning, and how their answers are read.

Templates are data, one file a style and format, in `templates/`: `$source` is the program, `$call` the call;
see `probes/prompts/templates.py`. To add a style: write its files, and add it to `STYLES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from counterlens.models.base import Completion, ModelInfo, Prompt
from counterlens.probes.options import option
from counterlens.probes.prompts.literals import (
    AnswerOutcome,
    Literal,
    direct_answer,
    outcome,
    stepwise_answer,
    why_unread,
)
from counterlens.probes.prompts.templates import filled

DIRECT_TOKENS, STEPWISE_TOKENS, WRITTEN_TOKENS = 128, 384, 384
"""Most new tokens of a direct answer, of one step by step, and of a function, by default."""

StyleTokens = Annotated[
    int | None,
    option(
        f"Most new tokens of one answer; by default {DIRECT_TOKENS} of a direct one, {STEPWISE_TOKENS} "
        "of one step by step or of a function that is written.",
        metavar="N",
        low=1,
        high=4096,
        setting="probe.maxTokens",
    ),
]


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What was read in what a model said.

    Attributes:
        literal: The literal; None where there is none.
        outcome: Whether it is right.
        unread: Why there is no literal; None where there is one.
    """

    literal: Literal | None
    outcome: AnswerOutcome
    unread: str | None

    @property
    def written(self) -> str | None:
        """The literal as it is written."""
        return self.literal.written if self.literal else None


@dataclass(frozen=True, slots=True)
class Style:
    """A way to ask.

    Attributes:
        title: What it is called.
        find: Finds the answer in what the model says.
        max_tokens: How much it may say, unless the user says.
        stop: What it is stopped at when it completes.
        stepwise: Whether its answer stands at the end, behind `Answer:`.
    """

    title: str
    find: Callable[[str], Literal | None]
    max_tokens: int
    stop: tuple[str, ...]
    stepwise: bool = False

    def read(self, said: Completion, truth: Any) -> ReadAnswer:
        """The answer in what the model said, compared with the truth."""
        found = self.find(said.text)
        unread = None if found else why_unread(said.text, said.finish, stepwise=self.stepwise)
        return ReadAnswer(found, outcome(found, truth, unread=unread), unread)


STYLES = {
    "direct": Style("direct", direct_answer, DIRECT_TOKENS, ("\n\n", "\nassert", "\ndef ", "\n#")),
    "steps": Style(
        "step by step", stepwise_answer, STEPWISE_TOKENS, ("\n\n", "\ndef ", "\nassert"), stepwise=True
    ),
}


def prompt(info: ModelInfo, style: str, source: str, call: str, max_tokens: int | None = None) -> Prompt:
    """The question what a call gives; the answer may be as long as the style says, where nothing is given."""
    chosen = STYLES[style]
    tokens = chosen.max_tokens if max_tokens is None else max_tokens
    return filled(info, __package__, style, tokens, chosen.stop, source=source, call=call)


def state_prompt(
    info: ModelInfo, source: str, call: str, variable: str, times: str, max_tokens: int
) -> Prompt:
    """The question what a variable is after the marked line has run so many times."""
    return filled(
        info,
        __package__,
        "state",
        max_tokens,
        STYLES["direct"].stop,
        source=source,
        call=call,
        variable=variable,
        times=times,
    )
