"""What is asked about a function, and how the answers compare. To add a question: add it to `QUESTIONS`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from counterlens.errors import ModelError
from counterlens.metrics.similarity import cosine, lexical_vectors, name_agreement
from counterlens.models.base import ModelInfo, Prompt
from counterlens.models.sentences import SentenceEncoder, sentence_encoder
from counterlens.probes.execution.prompts import prompt as output_prompt
from counterlens.probes.prompts.function_text import shown
from counterlens.probes.prompts.literals import direct_answer, equal
from counterlens.probes.prompts.templates import filled
from counterlens.probes.understanding.seen import definition, masked
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

Measure = Callable[[str, str], float]
Measures = dict[str, Measure]
"""How alike the answer to the original and another one are, 0 to 1, by the name of the similarity."""
_NAME = re.compile(r"[^\W\d]\w*")
_MARKED = re.compile(r"[`'\"*]+(?:def )?([^\W\d]\w*)(?:\([^`]*\):?)?[`'\"*]+")
_COMPOUND = re.compile(r"\w_\w|[a-z][A-Z]")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that is asked of every version of a function.

    Attributes:
        id: What the user types.
        title: What it finds out.
        calls: Whether it is about a call of the function.
        prompt: What is asked, of a model, about a version, and a call where `calls` says so.
        read: The answer in what the model says; None where there is none.
        measures: The similarities, for all answers of a run.
        other: An answer unlike any other, for the check that a difference is seen.
    """

    id: str
    title: str
    calls: bool
    prompt: Callable[[ModelInfo, Document, str, str], Prompt]
    read: Callable[[str], str | None]
    measures: Callable[[Sequence[str], SentenceEncoder | None], tuple[Measures, str]]
    other: str


def _summary_prompt(info: ModelInfo, document: Document, qualname: str, _call: str) -> Prompt:
    return filled(info, __package__, "summary", 64, ("\n",), source=definition(document, qualname))


def _name_prompt(info: ModelInfo, document: Document, qualname: str, _call: str) -> Prompt:
    return filled(info, __package__, "name", 16, ("\n",), source=masked(document, qualname))


def _output_prompt(info: ModelInfo, document: Document, qualname: str, call: str) -> Prompt:
    return output_prompt(info, "direct", shown(document, find_function(document, qualname)), call)


def read_summary(text: str) -> str | None:
    """The first line that says something."""
    return next((line.strip() for line in text.splitlines() if _WORD.search(line)), None)


def read_name(text: str) -> str | None:
    """The name in what was said: all of it, or marked as code, or the only word that looks like code."""
    line = read_summary(text) or ""
    alone = line.strip("`'\"*.,:; ").removeprefix("def ").partition("(")[0]
    if _NAME.fullmatch(alone):
        return alone
    marked = _MARKED.search(line)
    if marked:
        return marked[1]
    compound = {word for word in _NAME.findall(line) if _COMPOUND.search(word)}
    return compound.pop() if len(compound) == 1 else None


def read_output(text: str) -> str | None:
    """The literal that was said, as it is written in Python."""
    found = direct_answer(text)
    return found.written if found else None


def summary_measures(answers: Sequence[str], encoder: SentenceEncoder | None) -> tuple[Measures, str]:
    """Cosine of sentence embeddings and of TF-IDF vectors (Nguyen et al. 2024, equation 3).

    Returns:
        The similarities, and what a reader needs to know of them.

    Raises:
        CounterlensError: scikit-learn is not installed.
    """
    texts = list(dict.fromkeys(answers))
    at = {text: i for i, text in enumerate(texts)}
    lexical = lexical_vectors(texts)

    def by_words(one: str, other: str) -> float:
        return 1.0 if one == other else cosine(lexical[at[one]], lexical[at[other]])

    try:
        encoder = encoder or sentence_encoder()
    except ModelError as error:
        return {"lexical": by_words}, f"semantic similarity is left out: {error.message}. {error.hint}"
    meaning = encoder.encode(texts)

    def by_meaning(one: str, other: str) -> float:
        return cosine(meaning[at[one]], meaning[at[other]])

    note = f"semantic: cosine of sentence embeddings ({encoder.name}); lexical: of TF-IDF vectors"
    return {"semantic": by_meaning, "lexical": by_words}, note


def name_measures(_answers: Sequence[str], _encoder: SentenceEncoder | None) -> tuple[Measures, str]:
    """Exact match; precision, recall and F1 of the parts of the names (Nguyen et al. 2024, section 4.2.2)."""

    def part(figure: str) -> Callable[[str, str], float]:
        return lambda one, other: getattr(name_agreement(one, other), figure) or 0.0

    measures: Measures = {"exact match": lambda one, other: float(one == other)}
    measures.update({"F1": part("f1"), "precision": part("precision"), "recall": part("recall")})
    return measures, "F1, precision and recall are of the parts of the names"


def output_measures(_answers: Sequence[str], _encoder: SentenceEncoder | None) -> tuple[Measures, str]:
    """Equality as values (Nguyen et al. 2024, equation 4)."""
    return {"equal": lambda one, other: float(equal(_value(one), _value(other)))}, "answers compare as values"


def _value(written: str) -> Any:
    found = direct_answer(written)
    return found.value if found else None


QUESTIONS = {
    one.id: one
    for one in (
        Question(
            "summary",
            "does what it says of code follow the code?",
            False,
            _summary_prompt,
            read_summary,
            summary_measures,
            "zebras sleep under violet umbrellas",
        ),
        Question(
            "name",
            "does the name it gives follow the code?",
            False,
            _name_prompt,
            read_name,
            name_measures,
            "zebraUmbrella",
        ),
        Question(
            "output",
            "does what it expects to come out follow the code?",
            True,
            _output_prompt,
            read_output,
            output_measures,
            "'zebra umbrella'",
        ),
    )
}
