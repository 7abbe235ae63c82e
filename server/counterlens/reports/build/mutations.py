"""The report on counterfactuals without a model: `counterlens mutate`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from counterlens.counting import plural
from counterlens.judging.settlement import NOT_RUN, Settled, Settlement, counts
from counterlens.mutations.base import Counterfactual, Refusal
from counterlens.mutations.line_differences import line_difference
from counterlens.reports.document import Block, Difference, Heading, Marked, Paragraph, Report

_TITLE = "Counterfactuals"
_MARKS = {Settlement.HOLDS: "passed", Settlement.BREAKS: "passed", Settlement.DISCARDED: "failed"}
_NONE: tuple[Block, ...] = (Paragraph("No mutation applies here."),)


def mutation_report(
    counterfactuals: Iterable[Counterfactual],
    refused: Iterable[Refusal],
    *,
    explain: bool,
) -> Report:
    """Counterfactuals as differences; with `explain`, also the reasons of refusals."""
    shown = [block for made in counterfactuals for block in _counterfactual(made, f"; {NOT_RUN}")]
    return Report(_TITLE, (*(shown or _NONE), *_refusal_blocks(refused, explain)))


def settled_report(settled: Sequence[Settled], refused: Iterable[Refusal], *, explain: bool) -> Report:
    """The same with the results of running them, and the number of each."""
    blocks: list[Block] = []
    for each in settled:
        mark = Marked(each.finding.value, _MARKS.get(each.finding, "pending"))
        blocks += [*_counterfactual(each.counterfactual), Paragraph(each.reason, lead=mark)]
    numbers = ", ".join(f"{number} {finding.value}" for finding, number in counts(settled).items() if number)
    total = Paragraph(f"{plural(len(settled), 'counterfactual')}: {numbers or 'none'}.")
    return Report(_TITLE, (*(blocks or _NONE), *_refusal_blocks(refused, explain), total))


def _counterfactual(made: Counterfactual, run: str = "") -> Iterator[Block]:
    kind = "keeps the meaning" if made.preserving else "breaks the meaning"
    assumed = f", assuming {', '.join(made.assumptions)}" if made.assumptions else ""
    yield Heading(2, made.mutation)
    place = f"{made.concept}, {made.function}, line {made.start_line}"
    yield Paragraph(f"{place}; {kind}{assumed}{run}", quiet=True)
    yield Paragraph(made.description)
    yield Difference(line_difference(made))


def _refusal_blocks(refused: Iterable[Refusal], explain: bool) -> Iterator[Block]:
    for site in refused if explain else ():
        yield Paragraph(f"{site.mutation}, {site.function}, line {site.line}: {site.reason}", lead="refused")
