"""AsC-Causal on the records of the task `confidence`, with effects as in Table II."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from counterlens.errors import DataError
from counterlens.evaluation.results import RunResults
from counterlens.metrics.causal import (
    CONFOUNDERS,
    LEAST_SNIPPETS,
    SIMULATIONS,
    ConceptEffect,
    Refutation,
    Snippet,
)
from counterlens.metrics.table import Cell, Table
from counterlens.probes.confidence import NODE_TYPES, ConfidenceRecord
from counterlens.probes.confidence.methods import ALL_CONCEPTS, METHODS
from counterlens.probes.options import contradiction
from counterlens.probes.protocols import under

TASK = "confidence"
_VARIABLES = ("cyclo", "AST levels", "AST nodes", "sequence", "cross-entropy")
_MOST_SIDE_BY_SIDE = 2  # models per table, as in the paper
_NOTE = (
    "Pearson's correlation of the confidence in a concept with each confounder and with cross-entropy; "
    "effect: the average treatment effect on cross-entropy in nats per token, for a confidence of 1 instead "
    "of 0, with the four confounders held constant and a 95 % interval over files"
)
_REFUTATIONS = (
    "the effect with the confidences shuffled (placebo: it refutes if it has at least half of the effect, or "
    "all of it in the opposite direction), with a random common cause and on 80 % of the functions (it "
    "should stay the same), and with an unobserved common cause that works against it by a fifth of a "
    "standard deviation on both sides (its sign should stay the same)"
)


class Absent(StrEnum):
    """The confidence of a function in a concept that it lacks."""

    ZERO = "zero"
    """None: it counts as 0, as in the replication package of Palacio et al. 2023."""
    DROP = "drop"
    """Unknown: the function does not count for that concept."""


def absent_of(protocol: str, given: Absent | None = None) -> Absent:
    """The treatment of functions without a concept: the requested one, or the one that the protocol fixes.

    Raises:
        OptionError: the protocol fixes a different one.
    """
    if not METHODS[protocol].absent_is_zero:
        return given or Absent.DROP
    if given is Absent.DROP:
        raise contradiction(protocol, "--absent", Absent.ZERO, given)
    return Absent.ZERO


def snippets_of(records: Iterable[ConfidenceRecord], absent: Absent = Absent.DROP) -> list[Snippet]:
    """The data of measured functions for the causal analysis, without functions that do not parse.

    In the protocol `astxplainer`, a function's confidence in a node type is the mean over the tokens of all
    its nodes, and its confidence in all concepts is the mean over the 14 treatments.

    Args:
        records: Records of the functions. Functions of one file, `FILE::NAME`, are correlated.
        absent: The treatment of concepts that a function lacks.
    """
    snippets = []
    for record in records:
        values = [getattr(record.confounders, name) for name in CONFOUNDERS]
        concepts = METHODS[record.protocol].treatments(record, zero=absent is Absent.ZERO)
        if None in values or not concepts:
            continue
        snippets.append(
            Snippet(
                cluster=record.target.partition("::")[0],
                cross_entropy=record.cross_entropy,
                confounders=tuple(map(float, values)),
                concepts=concepts,
            )
        )
    if absent is Absent.ZERO:
        zeros = dict.fromkeys((name for snippet in snippets for name in snippet.concepts), 0.0)
        snippets = [replace(snippet, concepts=zeros | dict(snippet.concepts)) for snippet in snippets]
    return snippets


def confidence_records(results: RunResults) -> dict[str, list[ConfidenceRecord]]:
    """The records of a run for functions, by model.

    Raises:
        DataError: the run does not have the task `confidence`.
    """
    part = results.only(TASK)
    return {
        model: [record for record in part.probed(model) if isinstance(record, ConfidenceRecord)]
        for model in part.models
    }


def check_enough(snippets: Sequence[Snippet]) -> None:
    """Report early that nothing can be estimated.

    Raises:
        DataError: there are too few functions for any effect.
    """
    if len(snippets) < LEAST_SNIPPETS:
        raise DataError(
            f"{len(snippets)} functions are too few: five variables need at least {LEAST_SNIPPETS}",
            "Give more files, a folder, or a dataset with --data",
        )


def causal_tables(
    effects: Mapping[str, Sequence[ConceptEffect]],
    *,
    seed: int = 0,
    simulations: int = SIMULATIONS,
    side_by_side: bool = True,
    protocol: str = "",
    absent: Absent = Absent.DROP,
) -> list[Table]:
    """The effects with the correlations, and the refutation tests.

    Args:
        effects: Effects by model.
        seed: Random seed of the estimates.
        simulations: Number of simulations of the estimates.
        side_by_side: Whether two models share a table, with a column for each under every variable, as in the
            paper; otherwise, and if there are more models, each has a separate table.
        protocol: The published protocol; empty for Counterlens's own definitions.
        absent: The treatment of concepts that a function lacks.
    """
    if not side_by_side or len(effects) > _MOST_SIDE_BY_SIDE:
        return [
            table
            for model, listed in effects.items()
            for table in causal_tables(
                {model: listed}, seed=seed, simulations=simulations, protocol=protocol, absent=absent
            )
        ]
    how = f"{_ABSENT[absent]}; seed {seed}, {simulations} simulations of each refutation test"
    whose = METHODS[protocol].definitions
    names = ", ".join(effects)
    tables = [
        Table(
            f"effect of confidence on cross-entropy, {names}", *_effects(effects), f"{_NOTE}; {how}; {whose}"
        )
    ]
    columns, rows = _refutation_table(effects)
    if rows:
        tables.append(Table(f"refutation tests of the effects, {names}", columns, rows, _REFUTATIONS))
    return [*under(protocol, tables)]


def _effects(
    effects: Mapping[str, Sequence[ConceptEffect]],
) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Columns and rows of Table II: by variable, and below each by model."""
    by_model = {model: {effect.concept: effect for effect in listed} for model, listed in effects.items()}

    def named(what: str, model: str) -> str:
        return what if len(effects) == 1 else f"{what}, {model}"

    *held, last = _VARIABLES
    columns = (
        *("category", "concept"),
        *(named("functions", model) for model in by_model),
        *(named(variable, model) for variable in held for model in by_model),
        *(named(what, model) for model in by_model for what in (last, "effect")),
    )
    concepts = sorted({name for listed in by_model.values() for name in listed}, key=_place)
    rows = tuple(
        (
            _category(name),
            name if name in NODE_TYPES else "all of it",
            *(effect.n if effect else 0 for effect in each),
            *(
                _two(effect.pearson[variable]) if effect else None
                for variable in CONFOUNDERS
                for effect in each
            ),
            *(
                cell
                for effect in each
                for cell in (
                    (_two(effect.pearson["cross_entropy"]), effect.effect) if effect else (None, None)
                )
            ),
        )
        for name in concepts
        for each in [[listed.get(name) for listed in by_model.values()]]
    )
    return columns, rows


def _refutation_table(
    effects: Mapping[str, Sequence[ConceptEffect]],
) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Columns and rows of the refutation tests: one row per effect."""
    several = len(effects) > 1
    tried = [
        (model, effect)
        for model, listed in effects.items()
        for effect in sorted(listed, key=lambda effect: _place(effect.concept))
        if effect.refutations
    ]
    attempts = list(tried[0][1].refutations) if tried else []
    rows = tuple(
        (
            *((model,) if several else ()),
            effect.concept,
            _two(effect.effect.value),
            *(_attempt(effect.refutations[name]) for name in attempts),
        )
        for model, effect in tried
    )
    return (*(("model",) if several else ()), "concept", "effect", *attempts), rows


def _attempt(refutation: Refutation) -> str:
    return f"{refutation.effect:+.2f}{'' if refutation.holds else ' (refuted)'}"


_ABSENT = {
    Absent.ZERO: "a function without a concept has a confidence of 0 in it",
    Absent.DROP: "a function without a concept is left out for it",
}


def _category(concept: str) -> str:
    return str(NODE_TYPES.get(concept, "global" if concept == ALL_CONCEPTS else concept))


def _place(concept: str) -> tuple[int, str, int]:
    """Sort key: all concepts first, then each category followed by its node types."""
    kinds = list(NODE_TYPES)
    kind = kinds.index(concept) if concept in NODE_TYPES else -1
    return (concept != ALL_CONCEPTS, _category(concept), kind)


def _two(value: float | None) -> str | None:
    return None if value is None else f"{value:+.2f}"
