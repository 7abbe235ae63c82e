"""AsC-Causal on what the task `confidence` found: its records as snippets, effects as Table II has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from counterlens.errors import DataError
from counterlens.evaluation.figures import Found
from counterlens.evaluation.store import PROBED
from counterlens.metrics.causal import (
    CONFOUNDERS,
    LEAST_SNIPPETS,
    ConceptEffect,
    Snippet,
)
from counterlens.probes.concepts import NODE_TYPES
from counterlens.probes.task import Cell, Table

TASK = "confidence"
ALL_CONCEPTS = "all concepts"
_COLUMNS = (
    "category",
    "concept",
    "functions",
    "cyclo",
    "AST levels",
    "AST nodes",
    "sequence",
    "cross-entropy",
)
_NOTE = (
    "Pearson's correlation of the confidence in a concept with each confounder and with cross-entropy; "
    "effect: the average treatment effect on cross-entropy in nats a token, for a confidence of 1 instead of "
    "0, the four confounders held, with a 95 % interval over files (Palacio et al. 2023, Table II)"
)


def snippets_of(functions: Iterable[Mapping[str, Any]]) -> list[Snippet]:
    """What the causal analysis needs of measured functions; those that do not parse are left out.

    Args:
        functions: Of the task's data. The functions of one file, `FILE::NAME`, hang together.
    """
    found = []
    for one in functions:
        values = [one["confounders"][name] for name in CONFOUNDERS]
        if None in values or not one["concepts"]:
            continue
        nodes = sum(concept["nodes"] for concept in one["concepts"].values())
        total = sum(concept["nodes"] * concept["confidence"] for concept in one["concepts"].values())
        found.append(
            Snippet(
                cluster=one["target"].partition("::")[0],
                cross_entropy=one["cross_entropy"],
                confounders=tuple(map(float, values)),
                concepts={
                    ALL_CONCEPTS: total / nodes,
                    **{name: concept["confidence"] for name, concept in one["concepts"].items()},
                    **one.get("node_types", {}),
                },
            )
        )
    return found


def measured(found: Found) -> dict[str, list[Mapping[str, Any]]]:
    """What a run measured of the functions, by model.

    Raises:
        DataError: the run is not of the task `confidence`.
    """
    part = found.only(TASK)
    return {
        model: [
            one
            for _, record in part.of(model)
            if record.outcome == PROBED
            for one in record.body["functions"]
        ]
        for model in part.models
    }


def check_enough(snippets: Sequence[Snippet]) -> None:
    """Say early that nothing can be estimated.

    Raises:
        DataError: there are too few functions for any effect.
    """
    if len(snippets) < LEAST_SNIPPETS:
        raise DataError(
            f"{len(snippets)} functions are too few: five variables are told apart from {LEAST_SNIPPETS} on",
            "Name more files, a folder, or a dataset with --data",
        )


def causal_tables(effects: Sequence[ConceptEffect]) -> tuple[Table, ...]:
    """The effects beside the correlations, and what became of the attempts to refute them."""
    ordered = sorted(effects, key=lambda one: _place(one.concept))
    rows = tuple(
        (
            _category(one.concept),
            one.concept if one.concept in NODE_TYPES else "all of it",
            one.n,
            *(_two(one.pearson[name]) for name in (*CONFOUNDERS, "cross_entropy")),
            one.effect,
        )
        for one in ordered
    )
    tried = [one for one in ordered if one.refutations]
    names = list(tried[0].refutations) if tried else []
    refuted: tuple[tuple[Cell, ...], ...] = tuple(
        (
            one.concept,
            _two(one.effect.value),
            *(
                f"{one.refutations[name].effect:+.2f}{'' if one.refutations[name].holds else ' (refuted)'}"
                for name in names
            ),
        )
        for one in tried
    )
    tables = [Table("effect of confidence on cross-entropy", (*_COLUMNS, "effect"), rows, _NOTE)]
    if refuted:
        tables.append(
            Table("attempts to refute the effects", ("concept", "effect", *names), refuted, _REFUTATIONS)
        )
    return tuple(tables)


_REFUTATIONS = (
    "the effect with the confidences shuffled (placebo: it should vanish), with a random common cause and on "
    "80 % of the functions (it should stay), and with an unobserved common cause that works against it by a "
    "fifth of a standard deviation on both sides (its sign should stay)"
)


def _category(concept: str) -> str:
    return str(NODE_TYPES.get(concept, "global" if concept == ALL_CONCEPTS else concept))


def _place(concept: str) -> tuple[int, str, int]:
    """All first, then each category with its node types under it."""
    kinds = list(NODE_TYPES)
    kind = kinds.index(concept) if concept in NODE_TYPES else -1
    return (concept != ALL_CONCEPTS, _category(concept), kind)


def _two(value: float | None) -> str | None:
    return None if value is None else f"{value:+.2f}"
