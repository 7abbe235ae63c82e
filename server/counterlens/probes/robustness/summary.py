"""The summary and name probes (Nguyen et al. 2024, sections 4.2.1 and 4.2.2): do they follow the code?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from counterlens.errors import ModelError
from counterlens.metrics.similarity import cosine, lexical_vectors, name_agreement
from counterlens.models.base import ModelInfo, Prompt
from counterlens.models.sentences import SentenceEncoder, sentence_encoder
from counterlens.probes.common_options import Encoder, MaxTokens
from counterlens.probes.probe import Source
from counterlens.probes.prompts.function_text import definition, mask
from counterlens.probes.robustness.base import RobustnessProbe, Similarities, Similarity
from counterlens.probes.robustness.published import fixed_options, name_in, read_summary
from counterlens.probes.robustness.questions import RobustnessOptions, asked_in_one_line
from counterlens.syntax.document import Document

_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryOptions(RobustnessOptions):
    """Options of the summary probe; the front ends open the named encoder."""

    published = fixed_options(1024)

    encoder: Encoder = None


class SummaryProbe(RobustnessProbe[SummaryOptions]):
    """Summarises a function in one sentence."""

    id = "summary"
    title = "do its summaries follow the code?"
    source = Source("Nguyen et al. 2024", "section 4.2.1")
    options = SummaryOptions
    heading = "code summarisation"
    unlike = "zebras sleep under violet umbrellas"

    def prompt(
        self,
        info: ModelInfo,
        document: Document,
        qualname: str,
        call: str | None,  # noqa: ARG002
        max_tokens: int,
    ) -> Prompt:
        """Like `RobustnessProbe.prompt`."""
        return asked_in_one_line(info, self.id, document, definition(document, qualname), max_tokens)

    def read(self, text: str, language: str = "python") -> str | None:  # noqa: ARG002
        """Like `RobustnessProbe.read`."""
        return first_line(text)

    def read_published(self, text: str, language: str = "python") -> str | None:  # noqa: ARG002
        """Like `RobustnessProbe.read_published`."""
        return read_summary(text)

    def similarities(
        self,
        answers: Sequence[str],
        encoder: SentenceEncoder | None,
        language: str = "python",  # noqa: ARG002
    ) -> tuple[Similarities, str]:
        """Cosine of sentence embeddings and of TF-IDF vectors (Nguyen et al. 2024, equation 3)."""
        texts = list(dict.fromkeys(answers))
        at = {text: index for index, text in enumerate(texts)}
        lexical = lexical_vectors(texts)

        def by_words(answer: str, other: str) -> float:
            return 1.0 if answer == other else cosine(lexical[at[answer]], lexical[at[other]])

        try:
            encoder = encoder or sentence_encoder()
        except ModelError as error:
            return {"lexical": by_words}, f"semantic similarity is left out: {error.message}. {error.hint}"
        meaning = encoder.encode(texts)

        def by_meaning(answer: str, other: str) -> float:
            return cosine(meaning[at[answer]], meaning[at[other]])

        note = f"semantic: cosine of sentence embeddings ({encoder.name}); lexical: of TF-IDF vectors"
        return {"semantic": by_meaning, "lexical": by_words}, note


def first_line(text: str) -> str | None:
    """The first line with a word; None if there is none."""
    return next((line.strip() for line in text.splitlines() if _WORD.search(line)), None)


_NAME = re.compile(r"[^\W\d]\w*")
_MARKED = re.compile(r"[`'\"*]+(?:def )?([^\W\d]\w*)(?:\([^`]*\):?)?[`'\"*]+")
_COMPOUND = re.compile(r"\w_\w|[a-z][A-Z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class NameOptions(RobustnessOptions):
    """Options of the name probe."""

    published = fixed_options(256)

    max_tokens: MaxTokens = 16


class NameProbe(RobustnessProbe[NameOptions]):
    """Predicts the name of a function, which is hidden."""

    id = "name"
    title = "do its names for functions follow the code?"
    source = Source("Nguyen et al. 2024", "section 4.2.2")
    options = NameOptions
    heading = "method name prediction"
    unlike = "zebraUmbrella"

    def prompt(
        self,
        info: ModelInfo,
        document: Document,
        qualname: str,
        call: str | None,  # noqa: ARG002
        max_tokens: int,
    ) -> Prompt:
        """Like `RobustnessProbe.prompt`."""
        return asked_in_one_line(info, self.id, document, mask(document, qualname), max_tokens)

    def read(self, text: str, language: str = "python") -> str | None:  # noqa: ARG002
        """The name in an answer: the whole line, or marked as code, or the only word that looks like code."""
        line = first_line(text) or ""
        alone = line.strip("`'\"*.,:; ").removeprefix("def ").partition("(")[0]
        if _NAME.fullmatch(alone):
            return alone
        marked = _MARKED.search(line)
        if marked:
            return marked[1]
        compound = {word for word in _NAME.findall(line) if _COMPOUND.search(word)}
        return compound.pop() if len(compound) == 1 else None

    def read_published(self, text: str, language: str = "python") -> str | None:  # noqa: ARG002
        """Like `RobustnessProbe.read_published`."""
        return name_in(text, self.read)

    def similarities(
        self,
        answers: Sequence[str],  # noqa: ARG002
        encoder: SentenceEncoder | None,  # noqa: ARG002
        language: str = "python",  # noqa: ARG002
    ) -> tuple[Similarities, str]:
        """Exact match; precision, recall and F1 of the parts of names (Nguyen et al. 2024, section 4.2.2)."""

        def part(figure: str) -> Similarity:
            return lambda answer, other: getattr(name_agreement(answer, other), figure) or 0.0

        parts = {"F1": part("f1"), "precision": part("precision"), "recall": part("recall")}
        exact: Similarity = lambda answer, other: float(answer == other)  # noqa: E731
        return {"exact match": exact, **parts}, "F1, precision and recall refer to the parts of the names"
