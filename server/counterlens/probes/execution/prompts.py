"""Prompts of execution reasoning: templates are data, one file a style and format, in `templates/`.

`$source` is the program, `$call` the call; see `probes/prompts/templates.py`. To add a style: write its
files, and add it to `STYLES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from counterlens.models.base import ModelInfo, Prompt
from counterlens.probes.prompts.literals import Literal, direct_answer, stepwise_answer
from counterlens.probes.prompts.templates import filled


@dataclass(frozen=True, slots=True)
class Style:
    """A way to ask.

    Attributes:
        title: What it is called.
        read: Finds the answer in what the model says.
        max_tokens: How much it may say.
        stop: What it is stopped at when it completes.
        stepwise: Whether its answer stands at the end, behind `Answer:`.
    """

    title: str
    read: Callable[[str], Literal | None]
    max_tokens: int
    stop: tuple[str, ...]
    stepwise: bool = False


STYLES = {
    "direct": Style("direct", direct_answer, 128, ("\n\n", "\nassert", "\ndef ", "\n#")),
    "steps": Style("step by step", stepwise_answer, 384, ("\n\n", "\ndef ", "\nassert"), stepwise=True),
}


def prompt(info: ModelInfo, style: str, source: str, call: str) -> Prompt:
    """The question what a call gives."""
    chosen = STYLES[style]
    return filled(info, __package__, style, chosen.max_tokens, chosen.stop, source=source, call=call)
