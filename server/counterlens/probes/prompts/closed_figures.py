"""The table of closed questions: what a model's probabilities say, beside what needs no model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from counterlens.metrics.bootstrap import mean
from counterlens.metrics.closed import (
    Closed,
    area,
    area_inside,
    less_prior,
    reciprocal_rank,
    share_above_chance,
    share_first,
)
from counterlens.metrics.table import Cell, Table
from counterlens.probes.prompts.closed import YES_NO

BY_MODEL = "the model"
_TINY = 1e-15
_COLUMNS = (
    "asked",
    "by",
    "n",
    "first is right",
    "beyond chance",
    "prior taken out",
    "AUROC",
    "inside functions",
    "reciprocal rank",
    "of a random order",
)
_NOTE = (
    "first: the answer with the highest probability; beyond chance: less the share of a random answer; prior "
    "taken out: less the mean log-probability of the same answer to questions about other functions; AUROC: "
    "of a question whose answer is yes and one whose answer is no, how often yes is likelier for the first, "
    "0.5 for a coin; reciprocal rank: of the right answer among the candidates"
)


def yes_no(function: str, yes: float, *, truth: bool) -> Closed:
    """A question whose answer is yes or no, by the log-odds of yes, or something else that ranks it."""
    both = np.logaddexp(yes, 0.0)
    return Closed(function, YES_NO, (yes - both, -both), frozenset({0 if truth else 1}))


def log_odds(probability: float) -> float:
    """The logarithm of the odds of a probability, finite also where it is rounded to 0 or 1."""
    within = min(max(probability, _TINY), 1 - _TINY)
    return math.log(within / (1 - within))


def by_way(asked: Iterable[tuple[str, Mapping[str, Closed]]]) -> dict[tuple[str, str], list[Closed]]:
    """Questions by what was asked, and by what ranks their candidates.

    Args:
        asked: For each question, what was asked, and its candidates by each thing that ranks them.
    """
    questions: dict[tuple[str, str], list[Closed]] = {}
    for title, ranked in asked:
        for way, question in ranked.items():
            questions.setdefault((title, way), []).append(question)
    return questions


def closed_table(asked: Mapping[tuple[str, str], Sequence[Closed]], *, seed: int) -> Table:
    """The figures of closed questions; without rows if the model gave no probabilities.

    Args:
        asked: The questions, by what was asked and by what ranks the candidates: the model, or something that
            needs none, such as the length of a line.
        seed: Random seed of intervals.
    """
    rows = tuple(
        (*names, *_figures(questions, names[1] == BY_MODEL, seed))
        for names, questions in asked.items()
        if questions
    )
    return Table("by probabilities", _COLUMNS, rows, _NOTE)


def _figures(questions: Sequence[Closed], has_prior: bool, seed: int) -> tuple[Cell, ...]:
    binary = all(question.candidates == YES_NO for question in questions)
    ranked = (area(questions, seed=seed), area_inside(questions, seed=seed)) if binary else (None, None)
    order = (
        (None, None)
        if binary
        else (reciprocal_rank(questions), mean(question.chance_rank for question in questions))
    )
    return (
        len(questions),
        share_first(questions) if has_prior or not binary else None,  # other scores have no threshold
        share_above_chance(questions) if has_prior or not binary else None,
        share_first(less_prior(questions)) if has_prior else None,
        *ranked,
        *order,
    )
