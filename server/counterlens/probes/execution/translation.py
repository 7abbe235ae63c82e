"""Writing a function: from a description, or from a program in another language (Liu et al. 2024, II-B)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import msgspec

from counterlens.errors import OptionError, SourceError
from counterlens.languages.registry import title_of
from counterlens.metrics.table import Table
from counterlens.models.base import Prompt
from counterlens.probes.execution.language import EXECUTED, execution_of
from counterlens.probes.execution.record import DependentExecutionRecord, SpecificationRecord
from counterlens.probes.options import option
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.function_text import hollow
from counterlens.probes.prompts.gap import Gap
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function

Written = DependentExecutionRecord | SpecificationRecord
_HEADING = re.compile(r"^\s*(for\s+)?(examples?|e\.g\.|sample (in|out)put)\b", re.IGNORECASE)
_SHOWS_VALUE = re.compile(r"==|=>|->|➞|→|⟹|\bshould (?:be|return)\b|\breturns?\b|\bgives?\b|=", re.IGNORECASE)


def _check(language: str | None) -> None:
    if language is not None and language not in EXECUTED:
        raise OptionError(
            f"there are no translations from {language!r}", f"Choose one of {', '.join(EXECUTED)}"
        )


FromLanguage = Annotated[
    str | None,
    option(
        "Ask for a translation of each function: the model is shown the reference solution in this language "
        "instead of a description. Needs a dataset with the same problems in several languages, such as "
        "humaneval-x.",
        flag="from",
        metavar="LANGUAGE",
        check=_check,
    ),
]


@dataclass(frozen=True, slots=True)
class Specification:
    """What a function is written from.

    Attributes:
        text: Its docstring; empty for none.
        program: The program to translate, without comments and docstrings, which describe the function and
            give examples; empty for none.
        language: The title of the program's language.
    """

    text: str
    program: str = ""
    language: str = ""

    def before(self, into: str) -> str:
        """What stands before a source with the header of the function.

        The form is the one of HumanEval-X (Zheng et al. 2023): both programs below the names of their
        languages. A docstring that asks for a translation is answered by a promise to write one.

        Args:
            into: The title of the source's language.
        """
        return f"code translation\n{self.language}:\n{self.program}\n\n{into}:\n" if self.program else ""

    def with_example(self, call: str, gives: str) -> Specification:
        """The same with an example of one input and output."""
        text = f"{self.text}\n\n>>> {call}\n{gives}" if self.text else f">>> {call}\n{gives}"
        return replace(self, text=text)


def to_translate(target: Target, language: str) -> Specification:
    """The specification of a function to translate.

    Args:
        language: The id of the source language.

    Raises:
        SourceError: the data has no such program.
    """
    if target.counterpart is None:
        raise SourceError(
            f"there is no program in {title_of(language)} to translate it from",
            "Translation needs a dataset with the same problems in several languages, such as humaneval-x",
        )
    return Specification("", _bare(target.counterpart), title_of(language))


def translation_of(records: Sequence[Written]) -> str:
    """The kind of some records, such as `translation from Java`; empty if nothing was translated."""
    language = records[0].translated_from or ""
    return f"translation from {title_of(language)}" if language else ""


def as_translation(tables: Iterable[Table], records: Sequence[Written]) -> tuple[Table, ...]:
    """The tables of some records; their titles name the translation, if any."""
    kind = translation_of(records)
    return tuple(replace(table, title=f"{table.title}, {kind}") if kind else table for table in tables)


def noted(language: str | None) -> str | msgspec.UnsetType:
    """The source language of a translation, as in records; unset, so without a key, if there is none."""
    return language or msgspec.UNSET


def _bare(document: Document) -> str:
    """A program without comments and documentation, and without consecutive blank lines."""
    bare = execution_of(document.language).code_alone(document)
    lines = [line.rstrip() for line in bare.text.replace("\r\n", "\n").strip().split("\n")]
    kept = [line for number, line in enumerate(lines) if line or lines[number - 1]]
    return "\n".join(kept)


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


def write_each(
    context: Context,
    document: Document,
    function: Function,
    specifications: Sequence[Specification],
    max_tokens: int,
) -> list[WrittenFunction]:
    """Have the model write a function from its header and each of some specifications.

    The model continues the source up to the function, its header and a docstring, as for other completions,
    so that plain completion, fill-in-the-middle and chat models are all supported.

    Args:
        document: The source with the unchanged function.
        max_tokens: Maximum number of tokens of the completion.

    Raises:
        SourceError: the header of the function cannot be read.
        ModelError, Cancelled: as the model.
    """
    gaps, prompts = list[Gap](), list[Prompt]()
    for specification in specifications:
        source = hollow(document, function, specification.text)
        gap = Gap.body_of(source, find_function(source, function.qualname))
        before = specification.before(title_of(document.language))
        # The suffix is empty, because the code after the function may contain tests.
        prompt = gap.own_prompt(max_tokens, None)
        gaps.append(gap)
        prompts.append(replace(prompt, text=before + prompt.text))
    answers = context.complete_all(f"writing {function.name}", prompts)
    return [
        WrittenFunction(gap.fill(said.text), said.finish) for gap, said in zip(gaps, answers, strict=True)
    ]
