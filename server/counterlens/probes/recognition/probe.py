"""The recognition probe: do the model's scores suggest that it has seen this code? Nothing is run.

Three families of methods, each with known weaknesses, and none of them says anything without its error rates
(`record.py`): the function among its own neighbours (Mattern et al. 2023, with counterfactuals that keep the
meaning instead of masked words), Min-K%++ (Zhang et al. 2024), and what the model writes word for word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import PurePath

import numpy as np

from counterlens.errors import SourceError
from counterlens.metrics.bootstrap import Estimate, bootstrap, mean, pooled_mean
from counterlens.metrics.effects import pooled_share
from counterlens.metrics.table import Cell, Table
from counterlens.models.base import Model, TokenScores
from counterlens.mutations import Concept, Counterfactual, Survey
from counterlens.probes.common_options import MaxTokens, PreservingMutations, Without
from counterlens.probes.options import ProbeOptions
from counterlens.probes.pairs.counterfactuals import alternate_mutations, gaps_of, rewritings
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.prompts.gap import Gap
from counterlens.probes.recognition.record import (
    MARGIN,
    RANK,
    STRUCTURE,
    Neighbour,
    Rate,
    RecognitionRecord,
    Verbatim,
    distinguishing_rates,
    rates_of,
)
from counterlens.probes.sanity import require_repeatable
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function
from counterlens.text import line_start

MOST_NEIGHBOURS = 8
"""Maximum number of neighbours per function; each is scored from its change on."""
MOST_WORDS = 32
"""Maximum number of words of the second half that are compared."""
_LOWEST = 0.2  # share of the tokens in Min-K%++: between the values that its authors report
_CERTAIN = 1e-3  # nats: a smaller deviation is that of a token without an alternative
_WORD = re.compile(r"\w+|[^\w\s]")
_UNTOLD = "Whether the model has seen this code cannot be told for this model: "


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognitionOptions(ProbeOptions):
    """Options of the recognition probe."""

    mutations: PreservingMutations = ()
    without: Without = ()
    max_tokens: MaxTokens = 64


class RecognitionProbe(Probe[RecognitionOptions, RecognitionRecord]):
    """Scores a function beside its counterfactuals, and compares what the model writes with the truth."""

    id = "recognition"
    title = "do its scores suggest that it has seen this code?"
    source = Source("Mattern et al. 2023, Zhang et al. 2024", "with counterfactuals as neighbours")
    needs = frozenset({Need.SCORE})
    options = RecognitionOptions
    record = RecognitionRecord

    def run(self, context: Context, target: Target, options: RecognitionOptions) -> RecognitionRecord:
        """Like `Probe.run`.

        Raises:
            SourceError: the function has too few tokens.
        """
        function, surveyed = _survey(target, options)
        document, model, steps = target.document, context.model, context.steps
        made, texts = _neighbours(document, function, surveyed.counterfactuals, options.seed)
        what = f"scoring {target.name} and {len(made)} neighbours"
        own, *others = model.score_continuations(texts[0], texts[1:], alternatives=0, **steps.request(what))
        scored = np.flatnonzero(~np.isnan(own.logprob))
        if len(scored) < 1 / _LOWEST:
            raise SourceError("it has too few tokens for a score")
        left_out = Counter(
            {"neighbour beyond the most that are scored": len(surveyed.counterfactuals) - len(made)}
        )
        if own.deviation is None:
            left_out["Min-K%++: the model gives no whole distributions"] += 1
        verbatim = _verbatim(context, document, function, surveyed.counterfactuals, options.max_tokens)
        if not verbatim:
            left_out["second half: no counterfactual changes the first half"] += 1
        return RecognitionRecord(
            left_out=left_out,
            identity=model.info.identity,
            language=document.language,
            tokens=len(scored),
            total=float(np.nansum(own.logprob)),
            neighbours=tuple(
                Neighbour(
                    each.mutation,
                    each.concept,
                    each.start_line,
                    int((~np.isnan(scores.logprob)).sum()),
                    float(np.nansum(scores.logprob)),
                )
                for each, scores in zip(made, others, strict=True)
            ),
            min_k=min_k(own),
            verbatim=verbatim,
        )

    def tables(self, records: Sequence[RecognitionRecord], *, seed: int) -> tuple[Table, ...]:
        """Like `Probe.tables`: figures only of the methods that tell something for the model."""
        usable = distinguishing_rates(records[0].identity, records[0].language)
        tables = [_rates(records[0])]
        if usable:
            tables += [_functions(records, usable), _files(records, usable, seed), _together(records, usable)]
        if {MARGIN, RANK} & usable.keys():
            tables.append(_concepts(records))
        return tuple(table for table in tables if table.rows)

    def summary(self, records: Sequence[RecognitionRecord]) -> str:
        record = records[0]
        if len(records) == 1 or not distinguishing_rates(record.identity, record.language):
            return seen_sentence(record)
        name, rate = next(iter(distinguishing_rates(record.identity, record.language).items()))
        scores = [score for each in records if (score := each.scores[name]) is not None]
        above = sum(score > rate.threshold for score in scores)
        return (
            f"{above} of {len(scores)} functions score higher than 95 % of code that the model cannot have "
            f"seen ({name}; 5 % of unseen functions do, too). {_trust(name, rate)}"
        )

    def measures(self, record: RecognitionRecord) -> Mapping[str, bool]:
        margins = record.margins(*STRUCTURE)
        return {"likelier than its structural neighbours": sum(margins) > 0} if margins else {}

    def estimate(self, target: Target, options: RecognitionOptions, model: Model) -> int:  # noqa: ARG002
        return 1 + min(len(_survey(target, options)[1].counterfactuals), MOST_NEIGHBOURS) + 3


def untold(identity: str, language: str) -> str | None:
    """Why nothing can be told about what a model has seen, in a sentence; None if something can."""
    rates = rates_of(identity, language)
    if rates is None:
        return f"{_UNTOLD}how often its scores are right about that was not measured."
    if not distinguishing_rates(identity, language):
        seen = max(rate.seen for rate in rates.methods.values())
        fresh = max(rate.fresh for rate in rates.methods.values())
        return (
            f"{_UNTOLD}in a trial with {seen} functions that it can have seen and {fresh} that it cannot, "
            "none of its scores was shown to be higher for the former."
        )
    return None


def seen_sentence(record: RecognitionRecord) -> str:
    """What suggests that the model has seen a function, in a sentence or two, as far as it can be told."""
    reason = untold(record.identity, record.language)
    if reason is not None:
        return reason
    for name, rate in distinguishing_rates(record.identity, record.language).items():
        if (score := record.scores[name]) is not None:
            more = "suggests" if score > rate.threshold else "does not suggest"
            than = "higher" if score > rate.threshold else "not higher"
            return (
                f"Its score {more} that the model has seen this code: {name} {score:.2f}, {than} than for 95 "
                f"% of code that it cannot have seen ({rate.threshold:.2f}). {_trust(name, rate)}"
            )
    return f"{_UNTOLD}this function has none of the scores that tell something."


def _trust(name: str, rate: Rate) -> str:
    return (
        f"On {rate.seen} seen and {rate.fresh} unseen functions, {name} ranks a seen one higher with a "
        f"probability of {rate.auc:.2f} (95 % interval {rate.low:.2f} to {rate.high:.2f})."
    )


def min_k(scores: TokenScores) -> float | None:
    """Min-K%++: the mean of the lowest standardised log-probabilities (Zhang et al. 2024, equation 3).

    A log-probability is standardised by the mean, minus the entropy, and the standard deviation of the
    log-probability of a token drawn from the model's distribution there.

    Args:
        scores: The scores of a text; None is returned if they lack the deviations.
    """
    if scores.deviation is None:
        return None
    scored = ~np.isnan(scores.logprob)
    deviation = scores.deviation[scored]
    distance = scores.logprob[scored] + scores.entropy[scored]
    standard = np.divide(distance, deviation, out=np.zeros(len(distance)), where=deviation > _CERTAIN)
    return float(np.sort(standard)[: max(1, int(len(standard) * _LOWEST))].mean())


def _survey(target: Target, options: RecognitionOptions) -> tuple[Function, Survey]:
    return rewritings(
        target.document, target.qualname, options.mutations, seed=options.seed, without=options.without
    )


def _neighbours(
    document: Document, function: Function, made: Sequence[Counterfactual], seed: int
) -> tuple[list[Counterfactual], list[str]]:
    """Some neighbours, of each mutation as many; and the texts: what all share, the original, the others."""
    chosen = alternate_mutations(made, f"{seed} {function.qualname}")[:MOST_NEIGHBOURS]
    whole = _whole(document, function)
    context = whole.shown.rstrip()
    texts = [_text(whole)[len(context) :]]
    for each in chosen:
        changed = replace(document, text=each.source)
        text = _text(_whole(changed, find_function(changed, function.qualname)))
        texts.append(text[len(context) :])
    return chosen, [context, *texts]


def _whole(document: Document, function: Function) -> Gap:
    return Gap.of(document, function, line_start(document.data, function.start))


def _text(gap: Gap) -> str:
    return gap.shown + gap.rest.rstrip("\n")


def _verbatim(
    context: Context, document: Document, function: Function, made: Sequence[Counterfactual], max_tokens: int
) -> tuple[Verbatim, ...]:
    """What the model writes of the second half of the original and of a counterfactual."""
    cut = [each for each in made if each.cut is not None]
    if not cut:
        return ()
    chosen = min(cut, key=lambda each: each.concept not in STRUCTURE)
    what = f"asking for the second half of {function.qualname}"
    gaps = gaps_of(document, function, chosen)
    prompts = [gap.prompt(max_tokens) for gap in gaps]
    said = [completion.text for completion in context.complete_all(what, prompts)]
    again = context.uncached
    require_repeatable(context.model, "write the same code", said[0], lambda: again.complete(prompts[0]).text)
    written = []
    for mutation, gap, text in zip(("", chosen.mutation), gaps, said, strict=True):
        true = _WORD.findall(gap.rest)[:MOST_WORDS]
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(true, _WORD.findall(text), strict=False))
        if true:
            written.append(Verbatim(mutation, len(true), sum(1 for _ in alike)))
    return tuple(written)


def _rates(record: RecognitionRecord) -> Table:
    rates = rates_of(record.identity, record.language)
    rows: list[tuple[Cell, ...]] = []
    for name, rate in (rates.methods if rates else {}).items():
        area = Estimate(rate.auc, rate.low, rate.high, rate.seen + rate.fresh) if rate.distinguishes else None
        told = rate.above if rate.distinguishes else None
        rows.append(
            (name, rate.seen, rate.fresh, area, told, "yes" if rate.distinguishes else "cannot be told")
        )
    blind = f"; by how well they compress alone, without a model, {rates.blind:.2f}" if rates else ""
    note = (
        "AUC: the probability that a function that the model can have seen scores higher than one published "
        f"after its training{blind}; found: share of the seen ones that score higher than 95 % of the others"
    )
    return Table(
        "how often the scores are right",
        ("method", "seen", "unseen", "AUC", "found", "tells"),
        tuple(rows),
        note,
    )


def _functions(records: Sequence[RecognitionRecord], usable: Mapping[str, Rate]) -> Table:
    rows = tuple((record.target, *(record.scores[name] for name in usable)) for record in records)
    limits = ", ".join(f"{name} {rate.threshold:.2f}" for name, rate in usable.items())
    return Table(
        "functions", ("function", *usable), rows, f"5 % of unseen functions score more than: {limits}"
    )


def _files(records: Sequence[RecognitionRecord], usable: Mapping[str, Rate], seed: int) -> Table:
    """The mean scores by file; without rows if there is one file."""
    files: dict[str, list[RecognitionRecord]] = {}
    for record in records:
        files.setdefault(str(PurePath(record.target.partition("::")[0])), []).append(record)
    rows: list[tuple[Cell, ...]] = []
    for file, own in files.items() if 1 < len(files) < len(records) else ():
        estimates = (
            bootstrap(own, lambda some, name=name: mean(each.scores[name] for each in some), seed=seed)  # type: ignore[misc]
            for name in usable
        )
        rows.append((file, len(own), *estimates))
    return Table("files", ("file", "n", *usable), tuple(rows), "means over functions")


def _together(records: Sequence[RecognitionRecord], usable: Mapping[str, Rate]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, rate in usable.items():
        scores = [(each.target, score) for each in records if (score := each.scores[name]) is not None]
        above = pooled_share((target, score > rate.threshold) for target, score in scores)
        rows.append((name, len(scores), pooled_mean(scores), above))
    note = "higher: share that scores higher than 95 % of unseen functions; 0.05 if none was seen"
    return Table("together", ("method", "n", "mean", "higher"), tuple(rows) if len(records) > 1 else (), note)


def _concepts(records: Sequence[RecognitionRecord]) -> Table:
    return Table(
        "the original among its neighbours",
        ("neighbours", "n", "margin (nats per token)", "likelier than the neighbour"),
        tuple(_concept_rows(records)),
        "structure: control and data flow, which keep all names; new names alone make any code less likely",
    )


def _concept_rows(records: Sequence[RecognitionRecord]) -> Iterator[tuple[Cell, ...]]:
    groups: dict[str, tuple[Concept, ...]] = {"structure": tuple(sorted(STRUCTURE))}
    groups |= {str(concept): (concept,) for concept in Concept}
    for name, concepts in groups.items():
        margins = [(each.target, margin) for each in records for margin in each.margins(*concepts)]
        if margins:
            likelier = pooled_share((target, margin > 0) for target, margin in margins)
            yield name, len(margins), pooled_mean(margins), likelier
