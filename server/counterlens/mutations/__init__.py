"""Counterfactuals: safe mutations of source, each along one programming concept.

from counterlens.mutations import apply_everywhere, counterfactuals
"""

from counterlens.mutations.base import ASSUMPTIONS, Concept, Counterfactual, Cut, Refusal
from counterlens.mutations.edits import Change
from counterlens.mutations.engine import (
    Survey,
    apply_everywhere,
    counterfactuals,
    everywhere,
    refusals,
    survey,
)
from counterlens.mutations.languages import every_mutation, mutated, parse_document
from counterlens.mutations.mutation import AnyMutation, Mutation

__all__ = [
    "ASSUMPTIONS",
    "AnyMutation",
    "Change",
    "Concept",
    "Counterfactual",
    "Cut",
    "Mutation",
    "Refusal",
    "Survey",
    "apply_everywhere",
    "counterfactuals",
    "every_mutation",
    "everywhere",
    "mutated",
    "parse_document",
    "refusals",
    "survey",
]
