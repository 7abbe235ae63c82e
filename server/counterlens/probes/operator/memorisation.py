"""Memorisation (Hooda et al. 2024, Table 3): does the operator that is rarer in a corpus cost more?

Flipping an if-else replaces the operator in the condition by its complement. If a model completes a function
by frequent patterns, replacing the frequent operator of a pair by the rare one costs more correct completions
than vice versa.

A model that follows frequency loses more if the rarer operator of a pair replaces the more frequent one than
vice versa.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Lock
from typing import Annotated

from counterlens.counting import plural
from counterlens.datasets import open_dataset
from counterlens.errors import Cancelled, CounterlensError, OptionError, SourceError, UnsteadyModelError
from counterlens.languages.registry import LANGUAGES
from counterlens.metrics.bootstrap import Estimate, pooled_mean
from counterlens.metrics.effects import Effect
from counterlens.metrics.table import Cell, Table
from counterlens.models.base import Model
from counterlens.mutations.edits import Change
from counterlens.probes.common_options import (
    DEFAULT_MAP_TIMEOUT,
    DEFAULT_PREFIX_RATIO,
    DEFAULT_TIMEOUT,
    MAX_TOKENS,
    Corpus,
    ExcludedTests,
    MapTimeout,
    MaxTokens,
    PrefixRatio,
    Timeout,
    Without,
)
from counterlens.probes.operator.pairs import FLIP, changed_operators
from counterlens.probes.options import ProbeOptions, make, protocols
from counterlens.probes.pairs.completion import CompletionOptions, CompletionProbe
from counterlens.probes.pairs.published import CACP, COMPLEMENTS
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.record import Outcome, Record
from counterlens.probes.runner import run_probe
from counterlens.syntax.document import Document
from counterlens.syntax.operators import operator_sites
from counterlens.trust import is_inside

MOST_BYTES = 1 << 20
"""Maximum bytes of a file; longer files are usually generated, and are left out."""
_State = tuple[tuple[Path, int, int], ...]
_READ: dict[tuple[str, str], tuple[_State, OperatorCorpus]] = {}
_LOCK = Lock()  # only one of several concurrent probes reads a corpus
COLUMNS = ("op A", "op B", "ratio", "Δ(A→B)", "Δ(B→A)", "n A→B", "n B→A", "A : B")
"""The paper's five columns, in its order; then the numbers of pairs, and the counts behind the ratio."""
_COMPLETION = CompletionProbe()


@dataclass(frozen=True, slots=True)
class OperatorCorpus:
    """The operators of a corpus.

    Attributes:
        frequency: Count of each operator in it, the most frequent first.
        operations: The operations themselves, such as `a<b`, as `squeeze`.
    """

    frequency: Mapping[str, float]
    operations: frozenset[str]


def squeeze(operation: str) -> str:
    """The search form of an operation: without blanks and line breaks."""
    return "".join(operation.split())


def read_corpus(corpus: str, *, language: str = "python", cancel: Event | None = None) -> OperatorCorpus:
    """Read the operators of a corpus; an unchanged one is cached.

    Args:
        corpus: A source file, a folder of them, or the name of a dataset for `open_dataset`. Programs in
            other languages are left out, as are files that are not text, or longer than `MOST_BYTES`.
        language: The id of the language of the probed functions: code in other languages is irrelevant.

    Raises:
        CounterlensError: there is no such file, folder or dataset, or no operator in it.
        Cancelled: `cancel` was set.
    """
    with _LOCK:
        state, cached = _state(corpus, language), _READ.get((corpus, language))
        if cached is None or cached[0] != state:
            cached = _READ[corpus, language] = state, _count(corpus, language, cancel)
        return cached[1]


def _count(corpus: str, language: str, cancel: Event | None) -> OperatorCorpus:
    counts: Counter[str] = Counter()
    operations: set[str] = set()
    for document in _documents(corpus, language):
        if cancel is not None and cancel.is_set():
            raise Cancelled
        sites = operator_sites(document)
        counts.update(site.operator for site in sites)
        operations.update(squeeze(site.text) for site in sites)
    if not counts:
        raise CounterlensError(
            f"there are no operators in {corpus}",
            "Choose a source file in the language of the functions, or a folder of them",
        )
    return OperatorCorpus(dict(counts.most_common()), frozenset(operations))


def _source_files(corpus: str, language: str) -> list[Path]:
    path, suffix = Path(corpus).expanduser(), LANGUAGES[language].suffixes[0]
    if path.is_dir():
        return [file for file in sorted(path.rglob(f"*{suffix}")) if is_inside(file, path)]
    return [path] if path.suffix == suffix else []


def _state(corpus: str, language: str) -> _State:
    """The files of a corpus, each with its modification time and size."""
    files = _source_files(corpus, language)
    if not files:
        path = open_dataset(corpus).path
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
    stats = ((file, file.stat()) for file in files if file.is_file())
    return tuple((file, state.st_mtime_ns, state.st_size) for file, state in stats)


def _documents(corpus: str, language: str) -> Iterator[Document]:
    files = _source_files(corpus, language)
    if not files:
        for problem in open_dataset(corpus):
            if problem.language == language:
                yield Document(problem.source, language=language)
    for file in files:
        if file.is_file() and file.stat().st_size <= MOST_BYTES:
            try:
                yield Document.read(file)
            except SourceError:
                continue


@dataclass(frozen=True, slots=True)
class Substitution:
    """One operator that was replaced by its complement.

    Attributes:
        target: The id of the function.
        before: The original operator.
        after: The complementary one.
        original: Whether the model was right before.
        counterfactual: Whether it was right after.
    """

    target: str
    before: str
    after: str
    original: bool
    counterfactual: bool

    @property
    def effect(self) -> Effect:
        """The mutation effect."""
        return Effect(self.original, self.counterfactual)


@dataclass(frozen=True, slots=True)
class Direction:
    """The cost of one substitution.

    Attributes:
        n: Number of judged substitutions.
        drop: Mean of A(original) - A(counterfactual), with an interval over functions.
    """

    n: int
    drop: Estimate


def direction(substitutions: Sequence[Substitution], before: str, after: str) -> Direction:
    """The cost of replacing one operator by another, over all judged pairs."""
    judged = [made for made in substitutions if (made.before, made.after) == (before, after)]
    drops = ((made.target, -made.effect.signed) for made in judged)
    return Direction(len(judged), pooled_mean(drops, bounds=(-1, 1)))


def complementary(
    substitutions: Sequence[Substitution], frequency: Mapping[str, float], *, what: str
) -> Table:
    """The pairs of operators with substitutions.

    Args:
        substitutions: The judged substitutions.
        frequency: Count of each operator in the corpus.
        what: The noun for the lost items, such as `correct completions`.
    """
    rows = [_row(substitutions, frequency, pair) for pair in COMPLEMENTS]
    note = (
        f"ratio: how much more frequent A is than B; Δ: {what} lost when one replaces the other, as a "
        "share of the n pairs, with 95 % intervals over functions; below 0 more are gained than lost (the "
        "columns of Hooda et al. 2024, Table 3, which has no intervals)"
    )
    return Table("complementary operators", COLUMNS, tuple(row for row in rows if row[5] or row[6]), note)


def _row(
    substitutions: Sequence[Substitution], frequency: Mapping[str, float], pair: tuple[str, str]
) -> tuple[Cell, ...]:
    a, b = sorted(pair, key=lambda name: (-frequency.get(name, 0), pair.index(name)))
    there, back = direction(substitutions, a, b), direction(substitutions, b, a)
    counts = frequency.get(a, 0), frequency.get(b, 0)
    ratio = counts[0] / counts[1] if counts[1] else None
    return a, b, ratio, there.drop, back.drop, there.n, back.n, f"{counts[0]:.0f} : {counts[1]:.0f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorisationOptions(ProbeOptions):
    """Options of the memorisation probe; a corpus is required.

    The flip fixes the cut if the branches of an if-else are on separate lines; otherwise the prefix ratio
    does.
    """

    protocol: Annotated[str | None, protocols(CACP)] = None
    corpus: Corpus = None
    without: Without = ()
    prefix_ratio: PrefixRatio = DEFAULT_PREFIX_RATIO
    max_tokens: MaxTokens = MAX_TOKENS
    timeout: Timeout = DEFAULT_TIMEOUT
    map_timeout: MapTimeout = DEFAULT_MAP_TIMEOUT
    excluded_tests: ExcludedTests = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorisationRecord(Record):
    """The cost of substituting the operators of one function.

    Attributes:
        corpus: The corpus of the counts, as the user named it.
        frequency: Count of each operator in the corpus.
    """

    corpus: str
    frequency: Mapping[str, float]
    substitutions: tuple[Substitution, ...]


class MemorisationProbe(Probe[MemorisationOptions, MemorisationRecord]):
    """The frequency of operators beside the correct completions that substituting them costs."""

    id = "memorisation"
    title = "does the rarer operator cost more?"
    source = Source("Hooda et al. 2024", "Table 3")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX, Need.TESTS, Need.CORPUS})
    options = MemorisationOptions
    record = MemorisationRecord

    def run(self, context: Context, target: Target, options: MemorisationOptions) -> MemorisationRecord:
        """Like `Probe.run`.

        Raises:
            OptionError: no corpus is named.
            SourceError: nothing could be flipped and judged.
        """
        if not options.corpus:
            raise OptionError(
                "there is no corpus in which to count operators",
                "Give source files or a dataset with --corpus",
            )
        frequency = read_corpus(
            options.corpus, language=target.document.language, cancel=context.cancel
        ).frequency
        pairs = run_probe(_COMPLETION, replace(context, unjudged=False), target, _flips(options))
        if pairs.outcome is Outcome.UNSTEADY:
            raise UnsteadyModelError(pairs.reason, pairs.hint or None)
        if not isinstance(pairs, PairsRecord):
            raise SourceError(pairs.reason, pairs.hint or None)
        left_out = Counter(site.reason for site in pairs.refused)
        left_out["the flipped function fails its own tests"] += len(pairs.dropped)
        substitutions = tuple(_substitutions(target, pairs, left_out))
        if not substitutions:
            reasons = "; ".join(f"{count} {reason}" for reason, count in left_out.most_common(3) if count)
            raise SourceError("no if-else could be both flipped and judged", reasons or None)
        return MemorisationRecord(
            left_out=left_out, corpus=options.corpus, frequency=frequency, substitutions=substitutions
        )

    def tables(self, records: Sequence[MemorisationRecord], *, seed: int) -> tuple[Table, ...]:  # noqa: ARG002
        pooled = [made for record in records for made in record.substitutions]
        return (complementary(pooled, records[0].frequency, what="correct completions"),)

    def summary(self, records: Sequence[MemorisationRecord]) -> str:
        (table,) = self.tables(records, seed=0)
        both = [
            (there.value or 0, back.value or 0)
            for _, _, _, there, back, *counts in table.rows
            if isinstance(there, Estimate) and isinstance(back, Estimate) and all(counts[:2])
        ]
        if not both:
            return "No pair of operators was replaced in both directions, so nothing can be compared."
        more = sum(there > back for there, back in both)
        return (
            f"In {more} of {plural(len(both), 'pair')} replaced in both directions, replacing the more "
            "frequent operator by the rarer one cost more correct completions than the reverse."
        )

    def measures(self, record: MemorisationRecord) -> Mapping[str, bool]:
        return {
            "all originals right": all(made.original for made in record.substitutions),
            "all flipped right": all(made.counterfactual for made in record.substitutions),
        }

    def estimate(self, target: Target, options: MemorisationOptions, model: Model) -> int:
        """Like `Probe.estimate`: before any flip is dropped."""
        return _COMPLETION.estimate(target, _flips(options), model)


def _flips(options: MemorisationOptions) -> CompletionOptions:
    """The completion probe's options, with the mutation that inserts the complementary operator."""
    given = {
        "protocol": options.protocol,
        "seed": options.seed,
        "mutations": (FLIP,),
        "without": options.without,
        "placebos": 0,
        "ways": 0,
        "prefix_ratio": options.prefix_ratio,
        "max_tokens": options.max_tokens,
        "timeout": options.timeout,
        "map_timeout": options.map_timeout,
        "excluded_tests": options.excluded_tests,
    }
    return make(CompletionOptions, given)


def _substitutions(target: Target, pairs: PairsRecord, left_out: Counter[str]) -> Iterator[Substitution]:
    for pair in pairs.pairs:
        flipped = replace(target.document, text=pair.source(target.document.text))
        # the edits of a pair, each with its position in the counterfactual
        changes, shift = [], 0
        for edit in pair.edits:
            start, size = edit.start + shift, len(edit.text.encode("utf-8", "surrogatepass"))
            changes.append(Change((edit.start, edit.end), (start, start + size)))
            shift += size - (edit.end - edit.start)
        operators = changed_operators(target.document, flipped, target.qualname, tuple(changes))
        if operators is None:
            left_out["its condition is not a single comparison"] += 1
        elif pair.original_right is None or pair.counterfactual_right is None:
            left_out["a completion could not be judged"] += 1
        else:
            yield Substitution(target.name, *operators, pair.original_right, pair.counterfactual_right)
