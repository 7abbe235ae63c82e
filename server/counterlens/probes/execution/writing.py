"""The prompts for writing a function: its header and a description, without its body."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from counterlens.probes.execution.languages import execution_of
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.function_text import hollow
from counterlens.probes.prompts.gap import Gap
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function

_HEADING = re.compile(r"^\s*(for\s+)?(examples?|e\.g\.|sample (in|out)put)\b", re.IGNORECASE)
_SHOWS_VALUE = re.compile(r"==|=>|->|➞|→|⟹|\bshould (?:be|return)\b|\breturns?\b|\bgives?\b|=", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WrittenFunction:
    """A program with one function written by a model.

    Attributes:
        program: The whole source.
        finish: `stop` or `length`, as in `Completion`.
    """

    program: str
    finish: str


def description(target: Target, function: Function) -> str | None:
    """A function's description: its docstring, else the description of its dataset, else None."""
    described = execution_of(target.document.language).described(target.document, function)
    return (described or target.description).strip() or None


def without_examples(text: str, name: str) -> str:
    """A description without inputs and outputs (Liu et al. 2024, section IV-C).

    The removed parts: interactive examples, lines that call the function and show a value, and the lines
    below a heading such as `Example:` up to the next blank line.
    """
    kept: list[str] = []
    skipping = interactive = False
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped:
            skipping = interactive = False
        elif stripped.startswith(">>>"):
            interactive = True
        elif _HEADING.match(line):
            skipping = True
        shows = f"{name}(" in line and _SHOWS_VALUE.search(line)
        if not (skipping or interactive or shows):
            kept.append(line.rstrip())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def write(
    context: Context, document: Document, function: Function, text: str, max_tokens: int
) -> WrittenFunction:
    """Have the model write a function from its header and a description.

    The model continues the source up to the function, its header and a docstring, as for other completions,
    so that plain completion, fill-in-the-middle and chat models are all supported.

    Args:
        document: The source with the unchanged function.
        max_tokens: Maximum number of tokens of the completion.

    Raises:
        SourceError: the header of the function cannot be read.
        ModelError, Cancelled: as the model.
    """
    empty = hollow(document, function, text)
    gap = Gap.body_of(empty, find_function(empty, function.qualname))
    # The suffix is empty, because the code after the function may contain tests.
    said = context.complete(replace(gap.prompt(max_tokens), suffix="\n"))
    return WrittenFunction(gap.fill(said.text), said.finish)


def with_example(text: str, call: str, gives: str) -> str:
    """A description with an example of one input and output."""
    return f"{text}\n\n>>> {call}\n{gives}"
