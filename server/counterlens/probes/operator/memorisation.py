"""Memorisation (Hooda et al. 2024, Table 3): does the operator that is rarer in a corpus cost more?

Flipping an if-else replaces the operator in the condition by its complement. If a model completes a function
by frequent patterns, replacing the frequent operator of a pair by the rare one costs more correct completions
than vice versa.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from counterlens.counting import plural
from counterlens.errors import OptionError, SourceError, UnsteadyModelError
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.table import Table
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
from counterlens.probes.operator.complementary import Substitution, complementary
from counterlens.probes.operator.frequency import read_corpus
from counterlens.probes.operator.pairs import FLIP, changed_operators
from counterlens.probes.options import ProbeOptions, make, protocols
from counterlens.probes.pairs.completion import CompletionOptions, CompletionProbe
from counterlens.probes.pairs.published import CACP
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.record import Outcome, Record
from counterlens.probes.runner import run_probe

_COMPLETION = CompletionProbe()


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
        """Like `Probe.tables`."""
        pooled = [made for record in records for made in record.substitutions]
        return (complementary(pooled, records[0].frequency, what="correct completions"),)

    def summary(self, records: Sequence[MemorisationRecord]) -> str:
        """Like `Probe.summary`."""
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
        """Like `Probe.measures`."""
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
        operators = changed_operators(target.document, flipped, target.qualname, _changes(pair))
        if operators is None:
            left_out["its condition is not a single comparison"] += 1
        elif pair.original_right is None or pair.counterfactual_right is None:
            left_out["a completion could not be judged"] += 1
        else:
            yield Substitution(target.name, *operators, pair.original_right, pair.counterfactual_right)


def _changes(pair: PairRecord) -> tuple[Change, ...]:
    """The edits of a pair, each with its position in the counterfactual."""
    changes, shift = [], 0
    for edit in pair.edits:
        start, size = edit.start + shift, len(edit.text.encode("utf-8", "surrogatepass"))
        changes.append(Change((edit.start, edit.end), (start, start + size)))
        shift += size - (edit.end - edit.start)
    return tuple(changes)
