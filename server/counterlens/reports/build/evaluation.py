"""The report on a run: figures, plots, and every pair with its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from counterlens.counting import plural
from counterlens.evaluation.effects import (
    RunEffects,
    all_tables,
    effects_of,
    judged_parts,
    observations_of,
    tables_of_runs,
)
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.metrics.effects import PairOutcome
from counterlens.metrics.significance import (
    Adequacy,
    adequacy,
)
from counterlens.probes.pairs.counterfactuals import ELSEWHERE
from counterlens.probes.pairs.phrases import noise_floor
from counterlens.probes.pairs.record import PairRecord, PairsRecord, judged_pairs
from counterlens.probes.pairs.wording import OUTCOMES, figures
from counterlens.probes.probe import Need
from counterlens.probes.record import Record, plain
from counterlens.probes.registry import PROBES
from counterlens.reports.build import plots
from counterlens.reports.build.choice import answer
from counterlens.reports.build.overview import FAILING, places, quality_and_speed, verdicts_held
from counterlens.reports.build.pairs import evidence_blocks, outcome_mark
from counterlens.reports.build.run_wording import circumstances, not_drawn, plan_lines, progress_of, title
from counterlens.reports.document import (
    Block,
    Bullets,
    CodeBlock,
    Entries,
    Entry,
    Folded,
    Heading,
    Paragraph,
    Report,
    TableBlock,
)
from counterlens.reports.wording import lines_of
from counterlens.text import json_text

_NAMED = 3

__all__ = ["changed_report", "evaluation_report", "plan_lines", "progress_of", "runs_report"]

_CHANGED = frozenset({PairOutcome.LOST, PairOutcome.GAINED})
_TOO_LONG = frozenset({"types"})  # every syntax node of a function: JSON and Parquet have them
_SHOWN = frozenset({"judged_by", "pairs", "placebos"})  # keys of a record of pairs that have separate blocks


def evaluation_report(
    results: RunResults, *, brief: bool = False, sizes: Mapping[str, int] | None = None
) -> Report:
    """The report on a run, finished or not.

    Args:
        results: Its results so far.
        sizes: Numbers of parameters given by the user, by model.
        brief: Whether to show only the tables of the tasks, without effects, plots and pairs.
    """
    head = Heading(1, title(results))
    answers = [*answer(results)]
    if brief:
        tables = (TableBlock.of(table) for table in results.tables() if table.rows)
        where = [block for part in judged_parts(results) for block in places(part, brief=True)]
        why = map(Paragraph, why_nothing(results))
        progress = Paragraph(progress_of(results))
        speeds = quality_and_speed({"": results})
        blocks = (head, *answers, *speeds, *where, progress, *tables, *_left_out(results), *why)
        return Report(title(results), blocks)
    effects = effects_of(results, sizes)
    sections: dict[str, Sequence[Block]] = {
        "Summary": [*_summary(results, effects), *_left_out(results)],
        "Where it fails": [block for part in judged_parts(results) for block in places(part)],
        "Plots": [*_plots(results, effects)],
        "Tables": [TableBlock.of(table) for table in all_tables(results, effects)],
        "Functions and pairs": [_entries(results)],
        "Circumstances": [*_circumstances(results)],
    }
    blocks = (
        head,
        *answers,
        *(
            block
            for name, inside in sections.items()
            if inside
            for block in (Heading(2, name, name.partition(" ")[0].lower()), *inside)
        ),
    )
    return Report(title(results), blocks)


def changed_report(results: RunResults) -> Report:
    """What somebody who changed some functions wants to know, on one screen: where which model fails now."""
    failing = [
        table
        for part in judged_parts(results)
        for table in places(part, brief=True)
        if table.title.startswith(FAILING)
    ]
    progress = Paragraph(progress_of(results))
    why = map(Paragraph, why_nothing(results))
    blocks = (Heading(1, title(results)), *answer(results), *failing, progress, *_left_out(results), *why)
    return Report(title(results), blocks)


def runs_report(runs: Mapping[str, RunResults], sizes: Mapping[str, int] | None = None) -> Report:
    """The tables of several runs, by name, in which a column names the run."""
    heading = "Several runs"
    what = tuple(f"{name}: {title(run)}; {progress_of(run)}" for name, run in runs.items())
    tables = map(TableBlock.of, tables_of_runs(runs, sizes))
    return Report(heading, (Heading(1, heading), Bullets(what), Heading(2, "Tables", "tables"), *tables))


def _summary(results: RunResults, effects: Mapping[str, RunEffects]) -> Iterator[Block]:
    for task_effects in effects.values():
        yield from verdicts_held(task_effects.models)
    yield from quality_and_speed({"": results})
    yield Paragraph(progress_of(results))
    yield from map(Paragraph, why_nothing(results))
    for task, task_effects in effects.items():
        for model, summary in task_effects.models.items():
            head = f"{model}, {task}" if len(effects) > 1 else model
            yield Paragraph(f"{figures(summary, task_effects.floors.get(model))}.", lead=f"{head}:")
    yield Paragraph(_next_step(results, effects), lead="Next:")


def _next_step(results: RunResults, effects: Mapping[str, RunEffects]) -> str:
    """What to do after reading the answer."""
    if len(results.records) < results.total:
        return "resume the run: it keeps what it has, and more functions make the answer surer."
    summaries = [summary for effect in effects.values() for summary in effect.models.values()]
    if summaries and all(adequacy(summary) is not Adequacy.ADEQUATE for summary in summaries):
        return "ask a larger model about the same functions; the two runs can then be compared."
    if any(summary.average.count for summary in summaries):
        return (
            "open the first function under “Where it fails” and read its pairs: each is a test of a change."
        )
    return "ask another model about the same functions, and compare the two runs."


def _left_out(results: RunResults) -> Iterator[Block]:
    if results.left_out:
        yield TableBlock("left out", ("reason", "functions"), tuple(results.left_out.items()))
    for line in not_drawn(results):
        yield Paragraph(line)


def _plots(results: RunResults, effects: Mapping[str, RunEffects]) -> Iterator[Block]:
    for task, task_effects in effects.items():
        yield from plots.plots(task_effects, prefix=f"{task}: " if len(effects) > 1 else "")
    yield from plots.published_figures(results)
    yield from plots.boxes(results)


def _entries(results: RunResults) -> Entries:
    pairs = [pair for _, stored in results.records for pair in judged_pairs(stored.record)]
    seen = {pair.outcome for pair in pairs}
    choices = {
        "model": [(model, model) for model in results.models],
        "mutation": [(name, name) for name in sorted({pair.mutation for pair in pairs})],
        "outcome": [(str(outcome), words) for outcome, words in OUTCOMES.items() if outcome in seen],
    }
    several = len(results.settings.tasks) > 1
    return Entries(
        tuple(_entry(item, stored, several=several) for item, stored in results.records),
        {name: tuple(values) for name, values in choices.items()} if pairs else {},
        "function",
    )


def _entry(item: Item, stored: StoredRecord, *, several: bool) -> Entry:
    task = f", {item.task}" if several else ""
    head = Heading(
        3, f"{item.problem} ({item.model}{task}, record {item.position})", f"record-{item.position}"
    )
    blocks: list[Block] = [head, *_about(stored.record)]
    blocks += [_pair(item, number, pair) for number, pair in enumerate(judged_pairs(stored.record))]
    blocks += [_pair(item, number, pair) for number, pair in _changed_placebos(stored)]
    body = plain(stored.record)
    shown_keys = {
        *plain(Record()),
        *_TOO_LONG,
        *(_SHOWN if judged_pairs(stored.record) else _SHOWN - {"pairs"}),
    }
    rest = {key: value for key, value in body.items() if value and key not in shown_keys}
    if rest:
        text = json_text(rest)
        blocks.append(Folded("Other findings", (CodeBlock(text, "json"),)))
    return Entry(tuple(blocks), {"model": item.model, "function": item.problem})


def _changed_placebos(stored: StoredRecord) -> Iterator[tuple[int, PairRecord]]:
    """The placebos that changed the verdict, numbered after the pairs."""
    placebos = stored.record.placebos if isinstance(stored.record, PairsRecord) else ()
    for number, pair in enumerate(placebos, len(judged_pairs(stored.record))):
        if pair.outcome in _CHANGED:
            yield number, pair


def _about(record: Record) -> Iterator[Block]:
    if not record.probed:
        yield Paragraph(f"Left out: {record.reason}")
    if isinstance(record, PairsRecord):
        if record.judged_by:
            yield Paragraph(f"Judged by {record.judged_by}.")
        if not record.pairs:
            yield Paragraph("No counterfactual could be probed.")
        elif floor := noise_floor(record):
            yield Paragraph(floor)


def _pair(item: Item, number: int, pair: PairRecord) -> Folded:
    assumed = f"; assumes {', '.join(pair.assumptions)}" if pair.assumptions else ""
    return Folded(
        f"{pair.mutation}, {lines_of(pair)}",
        (Paragraph(f"{pair.description}; {pair.concept}{assumed}"), *evidence_blocks(pair, 4)),
        outcome_mark(pair),
        f"pair-{item.position}-{number}",
        {"outcome": str(pair.outcome), "mutation": pair.mutation},
        kept=pair.outcome in _CHANGED,
    )


def _circumstances(results: RunResults) -> Iterator[Block]:
    if results.manifests:
        yield Bullets(circumstances(results))
    for digest, manifest in results.manifests.items():
        text = json_text(manifest)
        yield Folded(f"Manifest {digest[:12]}", (CodeBlock(text, "json"),))


def why_nothing(results: RunResults) -> Iterator[str]:
    """A line per model of a pair task without judged pairs: the reasons, most frequent first."""
    for part in results.parts:
        probe = PROBES[part.settings.task]
        if not issubclass(probe.record, PairsRecord) or Need.COMPLETE not in probe.needs:
            continue
        for model, pairs in observations_of(part).items():
            records = [stored.record for _, stored in part.of(model)]
            # If a model gets none right, the report says that it is, or may be, too weak.
            if records and not any(pair.effect for pair in pairs):
                yield f"no result for {model}: {_reason(records)}"


def _reason(records: Sequence[Record]) -> str:
    reasons = Counter[str]()
    for record in records:
        if not isinstance(record, PairsRecord):
            reasons[record.reason] += 1
        elif record.why_not_judged:
            reasons[record.why_not_judged] += 1
        else:
            reasons.update(_without_pairs(record))
    ordered = sorted(reasons.items(), key=lambda counted: (-counted[1], counted[0]))
    listed = "; ".join(f"{reason} ({count})" for reason, count in ordered[:_NAMED])
    return f"no pair of {plural(len(records), 'function')} could be judged: {listed}"


def _without_pairs(record: PairsRecord) -> set[str]:
    """Why a function that can be judged has no pair.

    The report says so if it can be mutated, but not on the requested lines.
    """
    reasons = {refusal.reason for refusal in record.refused}
    if ELSEWHERE in reasons:
        return {ELSEWHERE}
    reasons |= {
        f"{counterfactual.mutation} is judged differently from the original"
        for counterfactual in record.dropped
    }
    return reasons or {"nothing to change"}
