"""The tables of the probes of pairs: mutation effects and likelihood effects, by mutation and by concept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from counterlens.metrics.bootstrap import Estimate, pooled_mean
from counterlens.metrics.effects import pooled_share
from counterlens.metrics.pass_rates import NOTHING, PassCount, RateFinding, mean_difference, pass_at
from counterlens.metrics.significance import holm, p_text
from counterlens.metrics.summary import EffectSummary, Observation, summaries_by, summarize
from counterlens.metrics.table import Cell, Table
from counterlens.probes.pairs.floor_tables import floor_tables
from counterlens.probes.pairs.record import NOISE, Drawn, DrawnPair, PairRecord, PairsRecord

_STABILITY_COLUMNS = ("informative", "effect", "stable", "effect there")
_STABILITY_NOTE = (
    "informative: pairs with followed ties; effect: of all pairs; stable: informative pairs with the same "
    "verdict for every alternative choice between tokens that are closer than the model's rounding, on both "
    "sides; there: over these pairs"
)

ALL = "all"
"""The label of the row for all mutations."""
_COLUMNS = ("pairs", "draws", "original passes", "counterfactual passes", "difference", *RateFinding)
_NOTE = (
    "completions sampled at a temperature; passes: the mean over pairs of the share that passed, of the "
    "first samples, which all pairs have (early stopping would bias it); difference: the counterfactual's "
    "minus the original's, below 0 it loses, functions being independent; moved: pairs whose interval "
    f"excludes 0; held: pairs whose interval lies within {NOTHING:g} of 0; open: the others"
)
_AT_K_NOTE = (
    "the probability that one of k sampled completions passes (Chen et al. 2021, equation 1), mean over "
    "pairs, functions being independent; all completions were sampled, because early stopping would bias it"
)
_SIDES: tuple[Callable[[DrawnPair], Drawn], ...] = (
    lambda drawn: drawn.original,
    lambda drawn: drawn.counterfactual,
)
_Found = tuple[str, str, DrawnPair]
"""The function of a pair, its mutation, and its samples."""

Models = Mapping[str, Sequence[PairsRecord]]
"""The records of each model, by its name."""
Effects = Mapping[tuple[str, ...], EffectSummary]
_KEYS: dict[str, Callable[[PairRecord | Observation], str]] = {
    "mutation": lambda pair: pair.mutation,
    "concept": lambda pair: pair.concept,
}
EFFECTS = (
    "pairs", "informative", "original right", "effect", "contested", "uncontested effect", "signed",
    "p", "Holm p",
)  # fmt: skip
_PAIRS_NOTE = (
    "original right: share of the originals of judged pairs that were completed correctly, each counted "
    "once; effect: share of the informative pairs (either side right) whose verdict changed; contested: "
    "informative pairs with a pass that differs from the original on an input; uncontested effect: over the "
    "others; signed: below 0 the counterfactual loses (Hooda et al. 2024, section 4.3); p: exact sign-flip "
    "test over functions; Holm p: adjusted for the number of tests in the table"
)
_DISCRIMINATING = ("pairs", "effect", "discriminating", "informative there", "effect there", "copied there")
_DISCRIMINATING_NOTE = (
    "effect: of all pairs; discriminating: judged pairs that expose copying, because the true rest of the "
    "original fails after the counterfactual's prompt; there: over these pairs; copied: share on "
    "which it wrote the same code on both sides, right or wrong"
)
_WRITTEN = ((ALL, None), ("before the training cutoff", False), ("after it", True))
_HOLES_NOTE = (
    "statements that commits added, cut out and completed; passed: share of the judged holes; pairs: "
    "informative pairs at these holes; held: share of them with the same verdict when the code is rewritten; "
    "code that was written after the cutoff was not in the training data"
)
_LIKELIHOOD = ("pairs", "nats per token", "change", "less likely", "more likely")
_LIKELIHOOD_NOTE = (
    "nats per token: mean log-probability of the true rest of the original; change: the counterfactual's "
    f"minus it, functions resampled; less and more likely: by more than {NOISE} nats, the limit of rounding"
)


def observations(records: Iterable[PairsRecord]) -> list[Observation]:
    """The observations of the pairs of some records."""
    return [seen for record in records for seen in record.observations]


def effect_tables(models: Models) -> tuple[Table, ...]:
    """The mutation effect of all pairs, by mutation, by concept and beside the noise floor.

    The tests of a table are one family.
    """
    seen = {model: observations(records) for model, records in models.items()}
    whole: Effects = {(model,): summarize(pairs) for model, pairs in seen.items()}
    tables = [Table("mutation effect", ("model", *EFFECTS), effect_rows(whole), _PAIRS_NOTE)]
    for title, key in _KEYS.items():
        parts: Effects = {
            (model, name): summary
            for model, pairs in seen.items()
            for name, summary in sorted(summaries_by(pairs, key).items())
        }
        tables.append(Table(f"by {title}", ("model", title, *EFFECTS), effect_rows(parts)))
    tables += discriminating_table(seen)
    if cuts := _by_cut(models):
        tables.append(Table("by prefix ratio", ("model", "prefix ratio", *EFFECTS), effect_rows(cuts)))
    return (
        *tables,
        *hole_tables(models),
        *floor_tables(models),
        *stability_tables(models),
        *drawn_tables(models),
        *pass_at_tables(models),
    )


def discriminating_table(
    seen: Mapping[str, Sequence[Observation]], counted: Collection[str] = ()
) -> tuple[Table, ...]:
    """The effects of all pairs of each model beside those of the discriminating ones; empty without any.

    Args:
        counted: The mutations whose pairs are in the row of all; empty for every one.
    """
    rows: list[tuple[Cell, ...]] = []
    for model, pairs in seen.items():
        together = [pair for pair in pairs if not counted or pair.mutation in counted]
        parts = {"all": summarize(together), **dict(sorted(summaries_by(pairs, _KEYS["mutation"]).items()))}
        for name, whole in parts.items():
            if subset := whole.discriminating:
                there = (subset.pairs, subset.average.n, subset.average, subset.copied)
                rows.append((model, name, whole.pairs, whole.average, *there))
    columns = ("model", "mutation", *_DISCRIMINATING)
    return (Table("discriminating pairs", columns, tuple(rows), _DISCRIMINATING_NOTE),) if rows else ()


def hole_tables(models: Models) -> tuple[Table, ...]:
    """The holes of commits that each model filled, and the pairs that held at them; empty without any."""
    rows: list[tuple[Cell, ...]] = []
    for model, records in models.items():
        for label, after in _WRITTEN:
            holes = [
                (record, hole)
                for record in records
                for hole in record.holes
                if after is None or hole.after_training is after
            ]
            effects = [
                (record.target, pair.effect)
                for record, hole in holes
                for pair in record.pairs
                if pair.cut and pair.cut.original == hole.cut and pair.effect and pair.effect.informative
            ]
            judged = [(record.target, hole.right) for record, hole in holes if hole.right is not None]
            held = pooled_share((name, not effect.signed) for name, effect in effects)
            if holes:
                rows.append((model, label, len(holes), pooled_share(judged), len(effects), held))
    columns = ("model", "written", "holes", "passed", "pairs", "held")
    return (Table("holes of commits", columns, tuple(rows), _HOLES_NOTE),) if rows else ()


def _by_cut(models: Models) -> Effects:
    """The effects of the pairs that were cut in each of several ranges; empty if there is one cut."""
    parts: dict[tuple[str, ...], list[Observation]] = {}
    for model, records in models.items():
        for record in records:
            for pair, seen in zip(record.pairs, record.observations, strict=True):
                if pair.cut_range:
                    parts.setdefault((model, range_text(pair.cut_range)), []).append(seen)
    return {head: summarize(seen) for head, seen in sorted(parts.items())}


def range_text(cut_range: tuple[float, float]) -> str:
    """The name of a range of cuts in tables."""
    return f"{cut_range[0]:g} - {cut_range[1]:g}"


def likelihood_tables(models: Models) -> tuple[Table, ...]:
    """The likelihood effect of all pairs, by mutation and by concept; arguments as for `effect_tables`."""
    whole = tuple((model, *_changes(records, None)) for model, records in models.items())
    tables = [Table("likelihood effect", ("model", *_LIKELIHOOD), whole, _LIKELIHOOD_NOTE)]
    for title, key in _KEYS.items():
        rows = tuple(
            (model, name, *_changes(records, (title, name)))
            for model, records in models.items()
            for name in sorted({key(pair) for record in records for pair in record.pairs})
        )
        tables.append(Table(f"by {title}", ("model", title, *_LIKELIHOOD), rows))
    return tuple(tables)


def effect_rows(effects: Effects) -> tuple[tuple[Cell, ...], ...]:
    """A row for each summary, under `EFFECTS`; their tests are one family."""
    adjusted = holm([summary.p for summary in effects.values()])
    return tuple(
        (*head, *_summary(summary), p_text(p))
        for (head, summary), p in zip(effects.items(), adjusted, strict=True)
    )


def _summary(summary: EffectSummary) -> tuple[Cell, ...]:
    signed = None if summary.signed is None else f"{summary.signed:+.2f}"
    return (
        summary.pairs,
        summary.average.n,
        summary.original_accuracy,
        summary.average,
        summary.uncontested.contested.count if summary.uncontested else None,
        summary.uncontested.average if summary.uncontested else None,
        signed,
        p_text(summary.p),
    )


def _changes(records: Sequence[PairsRecord], part: tuple[str, str] | None) -> tuple[Cell, ...]:
    """The cells of all pairs, or of those of one mutation or concept."""
    effects = [
        (record.target, pair.likelihood)
        for record in records
        for pair in record.pairs
        if pair.likelihood and (part is None or _KEYS[part[0]](pair) == part[1])
    ]
    before: Estimate = pooled_mean(((name, effect.original) for name, effect in effects))
    change = pooled_mean(((name, effect.change) for name, effect in effects))
    less = pooled_share((name, effect.change <= -NOISE) for name, effect in effects)
    more = pooled_share((name, effect.change >= NOISE) for name, effect in effects)
    return len(effects), before, change, less, more


def drawn_tables(models: Mapping[str, Sequence[PairsRecord]]) -> tuple[Table, ...]:
    """The pass rates of all pairs and by mutation; empty if nothing was sampled.

    Args:
        models: The records of each model, by its name.
    """
    rows: list[tuple[Cell, ...]] = []
    for model, records in models.items():
        draws = list(_drawn_pairs(records))
        names = [ALL, *sorted({mutation for _, mutation, _ in draws})] if draws else []
        rows += ((model, name, *_cells([draw for draw in draws if name in (ALL, draw[1])])) for name in names)
    if not rows:
        return ()
    return (Table("pass rates of sampled completions", ("model", "mutation", *_COLUMNS), tuple(rows), _NOTE),)


def pass_at_tables(models: Mapping[str, Sequence[PairsRecord]]) -> tuple[Table, ...]:
    """pass@k of both sides of all pairs and by mutation; empty if it was not requested.

    Args:
        models: The records of each model, by its name.
    """
    rows: list[tuple[Cell, ...]] = []
    for model, records in models.items():
        draws = [draw for draw in _drawn_pairs(records) if draw[2].pass_at]
        names = [ALL, *sorted({mutation for _, mutation, _ in draws})] if draws else []
        for name in names:
            part = [draw for draw in draws if name in (ALL, draw[1])]
            sides = (
                [(at, pass_at(drawn.pass_at, side(drawn).count)) for at, _, drawn in part] for side in _SIDES
            )
            shares = [
                pooled_mean(((at, share) for at, share in side if share is not None), bounds=(0.0, 1.0))
                for side in sides
            ]
            rows.append((model, name, part[0][2].pass_at, len(part), *shares))
    columns = ("model", "mutation", "k", "pairs", "original pass@k", "counterfactual pass@k")
    return (Table("pass@k", columns, tuple(rows), _AT_K_NOTE),) if rows else ()


def _drawn_pairs(records: Iterable[PairsRecord]) -> Iterator[_Found]:
    for record in records:
        for pair in record.pairs:
            if pair.drawn is not None:
                yield f"{record.target} {record.function}", pair.mutation, pair.drawn


def _cells(draws: Sequence[_Found]) -> tuple[Cell, ...]:
    def rate(counts: Iterable[tuple[str, PassCount]]) -> Cell:
        return pooled_mean(((name, count.rate) for name, count in counts if count.n), bounds=(0.0, 1.0))

    sides = [
        (name, drawn.original.count_of(drawn.first), drawn.counterfactual.count_of(drawn.first))
        for name, _, drawn in draws
    ]
    findings = Counter(drawn.finding for _, _, drawn in draws)
    return (
        len(draws),
        sum(len(drawn.original.passed) + len(drawn.counterfactual.passed) for _, _, drawn in draws),
        rate((name, before) for name, before, _ in sides),
        rate((name, after) for name, _, after in sides),
        mean_difference(sides),
        *(findings[finding] for finding in RateFinding),
    )


def stability_tables(models: Mapping[str, Sequence[PairsRecord]]) -> tuple[Table, ...]:
    """The effects of all pairs and by mutation, over all and over stable ones; empty without alternatives.

    Args:
        models: The records of each model, by its name.
    """
    rows: list[tuple[Cell, ...]] = []
    for model, records in models.items():
        seen = [observation for record in records for observation in record.observations]
        parts = {
            ALL: summarize(seen),
            **dict(sorted(summaries_by(seen, lambda observation: observation.mutation).items())),
        }
        for name, whole in parts.items():
            if stable := whole.stable:
                rows.append((model, name, stable.share.n, whole.average, stable.share, stable.average))
    if not rows:
        return ()
    return (
        Table("stable verdicts", ("model", "mutation", *_STABILITY_COLUMNS), tuple(rows), _STABILITY_NOTE),
    )
