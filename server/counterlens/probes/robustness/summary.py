"""The summary probe (Nguyen et al. 2024, section 4.2.1): does the model's summary follow the code?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from counterlens.errors import ModelError
from counterlens.metrics.similarity import cosine, lexical_vectors
from counterlens.models.base import ModelInfo, Prompt
from counterlens.models.sentences import SentenceEncoder, sentence_encoder
from counterlens.probes.common_options import Encoder
from counterlens.probes.probe import Source
from counterlens.probes.prompts.function_text import definition
from counterlens.probes.robustness.base import RobustnessProbe, Similarities
from counterlens.probes.robustness.published import fixed_options, read_summary
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
