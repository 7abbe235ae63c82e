"""The operator probe (Ahmed et al. 2024): does the model know which operator belongs in a gap?

It asks and shows in its own way, or in that of the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from counterlens.counting import plural
from counterlens.errors import SourceError
from counterlens.metrics.figures import draw_figures
from counterlens.metrics.table import Table
from counterlens.models.base import Api, Model, Prompt, Stop
from counterlens.probes.common_options import Corpus
from counterlens.probes.operator import cells, published, tables
from counterlens.probes.operator.cells import Records
from counterlens.probes.operator.memorisation import OperatorCorpus, read_corpus, squeeze
from counterlens.probes.operator.pairs import CHANGES, sites_of
from counterlens.probes.operator.questions import OperatorAsker, OperatorPlan
from counterlens.probes.operator.record import FilledGap, OperatorPair, OperatorRecord
from counterlens.probes.operator.scoring import OperatorScorer
from counterlens.probes.options import ProbeOptions, option, protocols
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.protocols import Methods

PROTOCOL = "operators"
"""The protocol of Ahmed et al. 2024."""
_TOKENS = 4
"""Token limit: an operator has at most three, and healing may repeat one."""
_LONGER = "<>=!*/&|^%"
"""Characters that continue a longer operator."""
Windows = Annotated[bool, option("Also ask for operators with less context: 10, 30 and 50 lexical tokens.")]
Sites = Annotated[
    int | None,
    option(
        "Maximum number of operators per function, drawn at random (--seed), for more functions in the same "
        "time. Default: all.",
        metavar="N",
        low=1,
    ),
]


class OperatorMethod:
    """The probe's own way.

    Attributes:
        by_paper: Whether only the paper's changes and operators are asked for.
        figures: The figures of the paper that its records are drawn as: number to title.
    """

    by_paper = False
    figures: Mapping[int, str] = {}

    def no_places(self, plan: OperatorPlan) -> SourceError:  # noqa: ARG002
        """Why a function has no question."""
        return SourceError("there are no operators to probe", "Choose another function or file")

    def tables(self, records: Records, frequency: Mapping[str, float], *, seed: int) -> tuple[Table, ...]:
        """The tables of some records, given the count of each operator."""
        asked = sum(len(record.operators) for record in records)
        shown = (
            tables.listing(records),
            *draw_figures([tables.families(frequency), tables.CHANGED, tables.SWAPPED], records, seed=seed),
            tables.sides(records, frequency, seed),
            tables.complementary_table(records, frequency),
            tables.windows(records),
            tables.familiar(records),
            *draw_figures([tables.FILLED], records, seed=seed),
            tables.operators(records, frequency, seed) if asked >= tables.FEW else None,
        )
        return tuple(table for table in shown if table is not None)


class PublishedOperators(OperatorMethod):
    """The protocol `operators`; see `published.py`."""

    by_paper = True
    figures = published.FIGURES

    def no_places(self, plan: OperatorPlan) -> SourceError:
        """Why a function has no question: the swaps that it has instead."""
        reasons = Counter[str]()
        for change, left_out in plan.left_out.items():
            reasons.update({f"{CHANGES[change].title}: {reason}": n for reason, n in left_out.items()})
        hint = "; ".join(f"{count} {reason}" for reason, count in reasons.most_common(3))
        return SourceError("it has no swap of the kind in the paper", hint or None)

    def tables(self, records: Records, frequency: Mapping[str, float], *, seed: int) -> tuple[Table, ...]:
        """The paper's tables and figures."""
        return tuple(published.tables(records, frequency, seed=seed))


METHODS = Methods(OperatorMethod(), operators=PublishedOperators())


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorOptions(ProbeOptions):
    """Options of the operator probe."""

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {PROTOCOL: {"windows": True}}

    protocol: Annotated[str | None, protocols(PROTOCOL)] = None
    windows: Windows = False
    sites: Sites = None
    corpus: Corpus = None


class OperatorProbe(Probe[OperatorOptions, OperatorRecord]):
    """Masked operators, before and after changes that keep the meaning."""

    id = "operator"
    title = "does it know which operator belongs where?"
    source = Source("Ahmed et al. 2024", "sections 3 and 4")
    needs = frozenset({Need.SCORE})
    options = OperatorOptions
    record = OperatorRecord

    def run(self, context: Context, target: Target, options: OperatorOptions) -> OperatorRecord:
        """Like `Probe.run`.

        Raises:
            SourceError: the function has no operator; with the protocol, no swap that the paper has.
        """
        plan = _plan(target, options)
        language = target.document.language
        corpus = (
            read_corpus(options.corpus, language=language, cancel=context.cancel) if options.corpus else None
        )
        asker = OperatorAsker(context.model, context.steps, 1 + plan.batches)
        asker.check(plan.places[0])
        operators = tuple(asker.answer(place) for place in plan.places)
        pairs = [asker.pair(pairing, window) for pairing, window in plan.pairs]
        return OperatorRecord(
            left_out={
                f"{CHANGES[change].title}: {reason}": count
                for change, reasons in plan.left_out.items()
                for reason, count in reasons.items()
            },
            corpus=options.corpus if corpus else None,
            frequency=corpus.frequency
            if corpus
            else {name: float(count) for name, count in plan.frequency.items()},
            operators=operators,
            pairs=tuple(_search_in(pair, corpus) if corpus else pair for pair in pairs),
            filled=fill_gaps(context, target) if fills(context.model) else (),
        )

    def tables(self, records: Sequence[OperatorRecord], *, seed: int) -> tuple[Table, ...]:
        """Like `Probe.tables`; chance uses the frequencies in the corpus, or in all the functions."""
        frequency = tables.frequencies(records)
        return METHODS[records[0].protocol].tables(records, frequency, seed=seed)

    def summary(self, records: Sequence[OperatorRecord]) -> str:
        answers = [(record.target, answer) for record in records for answer in record.operators]
        share = cells.share(answers)
        parts = [f"The model would have written {share.count} of {plural(share.n, 'operator')} as they are."]
        swaps = {"operand-swap", "block-swap"}
        pairs = [
            pair for record in records for pair in record.pairs if pair.complete and pair.change in swaps
        ]
        if pairs:
            both, once = sum(pair.both for pair in pairs), sum(pair.original.correct for pair in pairs)
            parts.append(
                f"Before a rewrite that keeps the meaning it knew {once} of {len(pairs)}, and after it "
                f"{both} of those {once}."
            )
        doubted = [
            answer for _, answer in answers if not answer.correct and answer.highest >= tables.PREFERRED
        ]
        if doubted:
            first = doubted[0]
            parts.append(
                f"Check line {first.line}: in `{first.text}` it strongly prefers `{first.predicted}`."
            )
        return " ".join(parts)

    def measures(self, record: OperatorRecord) -> Mapping[str, bool]:
        complete = [pair.both for pair in record.pairs if pair.complete]
        measures = {"all operators known": all(answer.correct for answer in record.operators)}
        return measures | (
            {"all operators known before and after changes": all(complete)} if complete else {}
        )

    def estimate(self, target: Target, options: OperatorOptions, model: Model) -> int:  # noqa: ARG002
        """Like `Probe.estimate`: one text for each candidate of each gap."""
        return _plan(target, options).texts


def _plan(target: Target, options: OperatorOptions) -> OperatorPlan:
    """The questions about a function.

    Raises:
        SourceError: there is no question.
    """
    method = METHODS[options.chosen_protocol]
    plan = OperatorPlan.of(
        target,
        windows=options.windows,
        seed=options.seed,
        most=options.sites,
        published=method.by_paper,
    )
    if not plan.places:
        raise method.no_places(plan)
    return plan


def _search_in(pair: OperatorPair, corpus: OperatorCorpus) -> OperatorPair:
    """A pair with the result of the search for its operations in a corpus."""
    before, after = (squeeze(side.text) in corpus.operations for side in (pair.original, pair.transformed))
    return replace(pair, found=(before, after))


def fills(model: Model) -> bool:
    """Whether a model's prompt format is fill-in-the-middle."""
    return model.info.api is Api.FILL


def fill_gaps(context: Context, target: Target) -> tuple[FilledGap, ...]:
    """The model's operator in each gap of a function.

    Raises:
        SourceError: there is no such function.
        ModelError, Cancelled: as `Model.complete`.
    """
    scorer = OperatorScorer(context.model, target.document)
    sites, gaps = sites_of(target.document, target.qualname), []
    stop = Stop(texts=("\n",))
    prompts = [Prompt(before, _TOKENS, stop, suffix=after) for before, after in map(scorer.sides, sites)]
    completions = context.complete_all(f"filling {target.name}", prompts) if sites else []
    for site, completion in zip(sites, completions, strict=True):
        said = completion.text
        written = operator_in(said, site.candidates)
        gaps.append(
            FilledGap(line=site.line, family=site.family, operator=site.operator, said=said, written=written)
        )
    return tuple(gaps)


def operator_in(text: str, candidates: Sequence[str]) -> str | None:
    """The candidate that a text begins with; None if it begins with none."""
    said = " ".join(text.split())
    for name in sorted(candidates, key=len, reverse=True):
        rest = said[len(name) :]
        goes_on = rest[:1].isalnum() or rest[:1] == "_" if name[-1].isalpha() else rest[:1] in _LONGER
        if said.startswith(name) and not (rest and goes_on):
            return name
    return None
