"""Records of the confidence probe: concepts, node types and confounders of a function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from counterlens.probes.record import Record
from counterlens.syntax.concepts import Category

NODE_TYPES = {
    "for_statement": Category.ITERATION,
    "while_statement": Category.ITERATION,
    "identifier": Category.NATURAL_LANGUAGE,
    "string": Category.NATURAL_LANGUAGE,
    "]": Category.SCOPE,
    ")": Category.SCOPE,
    "return_statement": Category.SCOPE,
    "if_statement": Category.DECISION,
    "comparison_operator": Category.OPERATORS,
    "boolean_operator": Category.OPERATORS,
    "for_in_clause": Category.FUNCTIONAL,
    "if_clause": Category.FUNCTIONAL,
    "list_comprehension": Category.FUNCTIONAL,
    "lambda": Category.FUNCTIONAL,
}
"""The 14 treatments (Palacio et al. 2023, section VI-C), each with its category in the paper.

In the order of Table II, which shows all except `return_statement` and `list_comprehension`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptFigures:
    """The model's confidence in one concept in a function.

    Attributes:
        nodes: The number of its scored nodes.
        confidence: Their mean confidence, 0 to 1.
        bits_per_byte: Their mean surprisal.
    """

    nodes: int
    confidence: float
    bits_per_byte: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTypeFigures:
    """The model's confidence in the nodes of one type in a function.

    Attributes:
        kind: The grammar's name of the type.
        named: Whether it is a rule of the grammar; otherwise a keyword or punctuation.
        confidences: The mean probability of each scored node's tokens, in textual order.
        tokens: Number of scored tokens of these nodes; a token in two nodes counts twice.
        probability: The mean over these tokens.
    """

    kind: str
    named: bool
    confidences: tuple[float, ...]
    tokens: int
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Confounders:
    """The confounders of a function (Palacio et al. 2023, section IV).

    Attributes:
        cyclomatic_complexity: McCabe's complexity; None if the function does not parse, or if the
            features of its language are unknown.
        ast_levels: Levels of its syntax tree.
        ast_nodes: Nodes of its syntax tree.
        sequence_length: Number of its tokens.
    """

    cyclomatic_complexity: int | None
    ast_levels: int
    ast_nodes: int
    sequence_length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceRecord(Record):
    """The model's confidence in a function and in its concepts.

    Attributes:
        tokens: Number of its scored tokens.
        bytes: Number of bytes that they cover.
        bits: Their surprisal.
        cross_entropy: Nats per token.
        concepts: The occurring concepts, by category.
        node_types: Mean confidence by occurring node type, including terminals.
        confounders: The confounders that the causal analysis controls for.
        types: The nodes of each occurring type.
    """

    tokens: int
    bytes: int
    bits: float
    cross_entropy: float
    concepts: Mapping[str, ConceptFigures]
    node_types: Mapping[str, float]
    confounders: Confounders
    types: tuple[NodeTypeFigures, ...] = ()

    def confidences(self, *, named_only: bool = False) -> dict[str, tuple[float, ...]]:
        """The confidences of its nodes by type; with `named_only`, without keywords and punctuation."""
        by_type: dict[str, tuple[float, ...]] = {}
        for figures in self.types:
            if figures.named or not named_only:
                by_type[figures.kind] = (*by_type.get(figures.kind, ()), *figures.confidences)
        return by_type

    def token_means(self) -> dict[str, float]:
        """The mean probability of the tokens of all nodes of a type, by type."""
        sums: dict[str, tuple[float, int]] = {}
        for figures in self.types:
            total, tokens = sums.get(figures.kind, (0.0, 0))
            sums[figures.kind] = (total + figures.probability * figures.tokens, tokens + figures.tokens)
        return {kind: total / tokens for kind, (total, tokens) in sums.items() if tokens}
