"""The summary, name and output probes (Nguyen et al. 2024, sections 4.2.1 to 4.2.3): do they follow code?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from counterlens.errors import ModelError, SourceError
from counterlens.metrics.similarity import cosine, lexical_vectors, name_agreement
from counterlens.models.base import Prompt
from counterlens.models.sentences import SentenceEncoder, sentence_encoder
from counterlens.mutations.base import WHOLE_PROGRAM
from counterlens.probes.common_options import Encoder, MaxTokens
from counterlens.probes.execution.language import execution_of
from counterlens.probes.execution.prompts import prompt as call_prompt
from counterlens.probes.probe import Context, Source, Target
from counterlens.probes.prompts.function_text import mask, visible_part
from counterlens.probes.prompts.literals import direct_answer
from counterlens.probes.robustness.base import RobustnessProbe, Similarities, Similarity
from counterlens.probes.robustness.methods import METHODS
from counterlens.probes.robustness.published import completing_literal, fixed_options, name_in, read_summary
from counterlens.probes.robustness.questions import RobustnessOptions, VersionQuestion
from counterlens.probes.robustness.versions import AskedVersion, Standing, Version, Versions
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

_WORD = re.compile(r"\w")
_NAME = re.compile(r"[^\W\d]\w*")
_MARKED = re.compile(r"[`'\"*]+(?:def )?([^\W\d]\w*)(?:\([^`]*\):?)?[`'\"*]+")
_COMPOUND = re.compile(r"\w_\w|[a-z][A-Z]")
NO_CALL = "no call of it with literal arguments is known: add a doctest or a test"


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

    def read(self, text: str, language: str = "python") -> str | None:  # noqa: ARG002
        return first_line(text)

    def read_published(self, text: str, language: str = "python") -> str | None:  # noqa: ARG002
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
            return {"lexical": by_words}, f"semantic similarity is left out: {error}"
        meaning = encoder.encode(texts)

        def by_meaning(answer: str, other: str) -> float:
            return cosine(meaning[at[answer]], meaning[at[other]])

        note = f"semantic: cosine of sentence embeddings ({encoder.name}); lexical: of TF-IDF vectors"
        return {"semantic": by_meaning, "lexical": by_words}, note


def first_line(text: str) -> str | None:
    """The first line with a word; None if there is none."""
    return next((line.strip() for line in text.splitlines() if _WORD.search(line)), None)


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

    def shown(self, document: Document, qualname: str) -> str:
        return mask(document, qualname)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions(RobustnessOptions):
    """Options of the output probe."""

    published = fixed_options(256)

    max_tokens: MaxTokens = 128


class OutputProbe(RobustnessProbe[OutputOptions]):
    """Predicts the result of a call of a function."""

    id = "output"
    title = "do its predicted outputs follow the code?"
    source = Source("Nguyen et al. 2024", "section 4.2.3")
    options = OutputOptions
    heading = "output prediction"
    unlike = '"zebra umbrella"'
    never = (WHOLE_PROGRAM,)  # all versions get the same call, so the parameters must not change

    def prompt(self, asked: AskedVersion) -> Prompt:
        call, language = asked.call or "", execution_of(asked.document.language)
        function = find_function(asked.document, asked.qualname)
        document = language.unanswered(asked.document, function, call)
        source = visible_part(document, find_function(document, asked.qualname))
        question = call_prompt(asked.info, "direct", source, call, language=language.id)
        return replace(question, max_tokens=asked.max_tokens)

    def read(self, text: str, language: str = "python") -> str | None:
        """The literal in the answer, as written in the language."""
        answer = direct_answer(text, values=execution_of(language).values)
        return answer.written if answer else None

    def read_published(self, text: str, language: str = "python") -> str | None:
        answer = completing_literal(text, language)
        return answer.written if answer else None

    def finished_part(self, text: str, language: str) -> str:
        """Like `RobustnessProbe.finished_part`: a literal at the beginning, else whole lines with assertions.

        Reasoning that has not ended names other values, such as the arguments.
        """
        if direct_answer(text, cut_off=True, values=execution_of(language).values) is not None:
            return text
        return "\n".join(line for line in text.splitlines()[:-1] if "assert" in line)

    def similarities(
        self,
        answers: Sequence[str],  # noqa: ARG002
        encoder: SentenceEncoder | None,  # noqa: ARG002
        language: str = "python",
    ) -> tuple[Similarities, str]:
        """Equality as values (Nguyen et al. 2024, equation 4)."""
        values = execution_of(language).values

        def alike(answer: str, other: str) -> float:
            first, second = values.literal(answer), values.literal(other)
            if first is None or second is None:
                return 0.0
            return float(values.equal(first.value, second.value))

        return {"equal": alike}, "answers are compared as values"

    def questions(
        self,
        context: Context,
        program: Target,
        versions: Versions,
        options: OutputOptions,
        limits: Limits,
        left_out: Counter[str],
    ) -> Iterator[VersionQuestion]:
        """Like `RobustnessProbe.questions`, for each call; running the call shows the kind of a version.

        Under the protocol, the questions cover all tests, and no call is run.
        """
        info = context.model.info
        method = METHODS[options.chosen_protocol]
        calls = method.calls(context, program, seed=options.seed, limits=limits)
        if not calls:
            left_out[NO_CALL] += 1
        for call in calls:
            original = self.asked(info, program.document, program.qualname, call, options)
            if not method.runs_calls:
                for version in versions.versions:
                    changed = self.asked(info, version.document, program.qualname, call, options)
                    yield VersionQuestion(version, version.standing, call, original, changed)
                continue
            try:
                truth = execution_of(program.document.language).output_of(
                    program.document, call, context.setting(limits)
                )
            except SourceError as error:
                left_out[error.message] += 1
                continue
            for version in versions.versions:
                mutation = version.counterfactual.mutation
                try:
                    standing = _standing(context, version, call, truth.written, limits)
                    changed = self.asked(info, version.document, program.qualname, call, options)
                except SourceError as error:
                    left_out[f"{mutation}: {error.message}"] += 1
                    continue
                yield VersionQuestion(version, standing, call, original, changed)

    def rounds(self, program: Target, options: OutputOptions) -> int:
        return METHODS[options.chosen_protocol].rounds(program)


def _standing(context: Context, version: Version, call: str, truth: str, limits: Limits) -> Standing:
    """The kind of a version for one call.

    Raises:
        SourceError: the call cannot be run, or a preserving version returns another result.
    """
    there = (
        execution_of(version.document.language)
        .output_of(version.document, call, context.setting(limits))
        .written
    )
    if not version.counterfactual.preserving:
        return Standing.POSSIBLY_EQUIVALENT if there == truth else Standing.BREAKING
    if there != truth:
        raise SourceError("the call returns another result there")
    return Standing.PRESERVING
