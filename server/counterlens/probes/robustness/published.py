"""The protocol of EMPICA (Nguyen et al. 2024): its questions, its versions, and the reading of answers.

The tables are in `empica_tables.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from keyword import iskeyword
from types import MappingProxyType
from typing import Any

from counterlens.counting import enumeration
from counterlens.errors import OptionError
from counterlens.languages.registry import title_of
from counterlens.models.base import Prompt
from counterlens.models.chat.replies import without_thought
from counterlens.mutations import Counterfactual, Refusal, Survey, everywhere
from counterlens.mutations.languages import MUTATED, parse_document
from counterlens.mutations.mutation import Transformation
from counterlens.probes.execution.language import execution_of
from counterlens.probes.probe import Target
from counterlens.probes.prompts.function_text import MASK
from counterlens.probes.prompts.literals import Literal, direct_answer
from counterlens.probes.prompts.templates import fill
from counterlens.probes.robustness.versions import AskedVersion
from counterlens.syntax.functions import find_function

EMPICA = "empica"
_DEFINED = re.compile(
    r"\bdef\s+([^\W\d]\w*)\s*\("
    r"|^[ \t]*(?:(?:public|protected|private|static|final)\s+)*"
    r"(?!new\b|return\b|else\b)[^\W\d][\w.<>\[\], ?]*\s"
    r"([^\W\d]\w*)\s*\([^;{}()]*\)\s*(?:throws\s[\w., ]+)?\{",
    re.MULTILINE,
)
"""The header of a function in the answer, in Python or in Java."""
_QUOTED = re.compile(r"(`+|\*\*)([^`*\n]+)\1")
_WORD = re.compile(r"\w")


def fixed_options(max_tokens: int) -> Mapping[str, Mapping[str, Any]]:
    """The options of a probe that the protocol sets.

    The code is the model's own implementation (section 4), and all operators are applied. The maximum number
    of tokens is that of the authors' scripts.
    """
    options = {"code": "written", "mutations": (), "without": (), "max_tokens": max_tokens, "ask_by": "text"}
    return MappingProxyType({EMPICA: MappingProxyType(options)})


def transform(target: Target, *, seed: int, without: Collection[str]) -> Survey:
    """One version of a function for each operator that has a site in it (section 4.1, Table 1).

    Args:
        seed: Chooses the replacement of an arithmetic operator.
        without: Assumptions that no version may depend on.

    Raises:
        SourceError: the function does not exist, or does not parse.
        OptionError: the language has no operators.
    """
    transformations = transformations_of(target.document.language)
    function = find_function(target.document, target.qualname).qualname
    module = parse_document(target.document)
    made: list[Counterfactual] = []
    refused: list[Refusal] = []
    for transformation in transformations:
        survey = everywhere(module, transformation.mutation, function, seed=seed, without=without)
        made += survey.counterfactuals
        refused += survey.refusals
    return Survey(tuple(made), tuple(refused))


def transformations_of(language: str) -> Sequence[Transformation]:
    """The operators for a language.

    Raises:
        OptionError: it has none.
    """
    mutated_language = MUTATED.get(language)
    if mutated_language is None or not mutated_language.transformations:
        titles = enumeration(
            [title_of(language) for language, its in MUTATED.items() if its.transformations], "and"
        )
        raise OptionError(f"--protocol {EMPICA} supports {titles} only", "Leave out --protocol")
    return mutated_language.transformations


def question(task: str, asked: AskedVersion, source: str) -> Prompt:
    """The question (section 4.3): without examples and, for chat models, without a separate instruction."""
    places = {"call": asked.call} if asked.call is not None else {}
    return fill(asked.info, __package__, f"{EMPICA}-{task}", asked.max_tokens, (), source=source, **places)


def read_summary(text: str) -> str | None:
    """The summary: the whole answer without the preceding reasoning; None if it has no words."""
    answer = without_thought(text).strip()
    return answer if _WORD.search(answer) else None


def name_in(text: str, read: Callable[[str], str | None]) -> str | None:
    """The name in an answer: from the header of a function, else from the first line that has a name.

    Args:
        read: Reads the name from a line; None if there is none.
    """
    answer = without_thought(text).replace(MASK, "")  # the mask is not a name, even if repeated
    defined = _DEFINED.search(answer)
    if defined:
        return defined[1] or defined[2]
    lines = [line.strip() for line in answer.splitlines() if _WORD.search(line)]
    telling = [
        line for line in lines if not line.startswith("```") and (len(lines) == 1 or line[-1] not in ",:!")
    ]
    return next((name for line in telling if (name := read(line)) is not None and _is_name(name)), None)


def _is_name(text: str) -> bool:
    return text not in MASK and not iskeyword(text)


def completing_literal(text: str, language: str = "python") -> Literal | None:
    """The literal that completes a test case: alone, in an assertion, or marked as code."""
    answer, values = without_thought(text), execution_of(language).values
    alone = direct_answer(answer, values=values)
    if alone is not None:
        return alone
    lines = [line.strip().strip("`") for line in answer.splitlines()]
    tests = (values.asserted(line[line.index("assert") :]) for line in lines if "assert" in line)
    marked = (values.literal(said.strip().removeprefix(language)) for _, said in _QUOTED.findall(answer))
    alone_on_a_line = (values.literal(line) for line in lines)
    literals = (literal for literal in (*tests, *marked, *alone_on_a_line) if literal is not None)
    return next(literals, None)
