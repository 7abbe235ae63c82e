"""AsC-Eval over a corpus: what is pooled, what counts once, and the authors' own figures."""

from __future__ import annotations

import numpy as np
import pytest

from counterlens.metrics.asc_eval import (
    GLOBAL,
    TypeMedian,
    bootstrapped_median,
    category_means,
    type_medians,
)
from counterlens.syntax.concepts.sets import AUTHORS, ConceptSet, concept_set

# The bootstrapped medians of the replication package (WM-SEMERU/CodeSyntaxConcept, the notebook of the
# analysis by dataset) for the worst and the best model, and the lines of Table I that they became.
NEO_125M = {
    ")": 0.528265, ":": 0.664512, "]": 0.519970, "assert_statement": 0.585264, "binary_operator": 0.472086,
    "boolean_operator": 0.508231, "comment": 0.182192, "comparison_operator": 0.520790,
    "dictionary": 0.523786, "elif": 0.562458, "else": 0.266732, "except": 0.700260, "finally": 0.075211,
    "float": 0.452664, "for_in_clause": 0.635896, "for_statement": 0.731294, "identifier": 0.379062,
    "if_clause": 0.447407, "if_statement": 0.720507, "integer": 0.205286, "lambda": 0.323491,
    "list": 0.476209, "list_comprehension": 0.539435, "raise": 0.180374, "return_statement": 0.451201,
    "set": 0.465487, "string": 0.403556, "try_statement": 0.758612, "tuple": 0.534473,
    "unary_operator": 0.422717, "while_statement": 0.747933, "}": 0.407857,
}  # fmt: skip
CODEGEN_2B = {
    ")": 0.974759, ":": 0.975108, "]": 0.982958, "assert_statement": 0.845472, "binary_operator": 0.824158,
    "boolean_operator": 0.759321, "comment": 0.496378, "comparison_operator": 0.825802,
    "dictionary": 0.776677, "elif": 0.798241, "else": 0.949547, "except": 0.996510, "finally": 0.978577,
    "float": 0.787039, "for_in_clause": 0.950623, "for_statement": 0.794958, "identifier": 0.896273,
    "if_clause": 0.798261, "if_statement": 0.786330, "integer": 0.873029, "lambda": 0.872283,
    "list": 0.803390, "list_comprehension": 0.789970, "raise": 0.827327, "return_statement": 0.819809,
    "set": 0.735995, "string": 0.783332, "try_statement": 0.795568, "tuple": 0.835748,
    "unary_operator": 0.852524, "while_statement": 0.822207, "}": 0.932041,
}  # fmt: skip
TABLE_ONE = [
    (NEO_125M, [0.48, 0.50, 0.52, 0.43, 0.49, 0.74, 0.32, 0.48, 0.51, 0.59, 0.33]),
    (CODEGEN_2B, [0.84, 0.79, 0.84, 0.90, 0.85, 0.81, 0.73, 0.82, 0.94, 0.85, 0.83]),
]


@pytest.mark.parametrize(("published", "line"), TABLE_ONE)
def test_the_authors_medians_become_their_line_of_table_one(
    published: dict[str, float], line: list[float]
) -> None:
    concepts = concept_set(AUTHORS)
    assert concepts.kinds is not None
    assert set(published) == set(concepts.kinds)
    types = [
        TypeMedian(kind, category, published[kind], 0.0, 1, 1) for kind, category in concepts.kinds.items()
    ]
    means = category_means(types, concepts)
    order = [GLOBAL, "data structures", "decision", "exceptions", "functional programming", "iteration"]
    order += ["natural language", "operators", "scope", "testing", "types"]
    assert [one.category for one in means] == order
    assert [round(one.value, 2) for one in means] == line
    assert [one.types for one in means] == [32, 4, 3, 4, 4, 2, 3, 4, 5, 1, 2]


def test_the_standard_deviation_over_types_is_the_authors() -> None:
    concepts = concept_set(AUTHORS)
    types = [
        TypeMedian(kind, name, CODEGEN_2B[kind], 0.0, 1, 1) for kind, name in (concepts.kinds or {}).items()
    ]
    means = {one.category: one for one in category_means(types, concepts)}
    for category, spread in ((GLOBAL, 0.098313), ("scope", 0.068462), ("types", 0.060804)):
        error = means[category].standard_error
        assert error is not None
        assert error * means[category].types ** 0.5 == pytest.approx(spread, abs=1e-6)
    assert means["testing"].standard_error is None


def test_nodes_are_pooled_and_a_type_counts_once_however_many_nodes_it_has() -> None:
    concepts = ConceptSet("two", {"a": "letters", "b": "letters", "1": "digits"})
    snippets = [{"a": (0.1, 0.2, 0.3)}, {"a": (0.4, 0.5), "b": (0.9,), "?": (0.0,)}]
    types = type_medians(snippets, concepts)
    assert [(one.kind, one.nodes, one.snippets) for one in types] == [("a", 5, 2), ("b", 1, 1)]
    assert types[0].value == pytest.approx(0.3)
    assert (types[1].value, types[1].standard_error) == pytest.approx((0.9, 0))
    whole, letters = category_means(types, concepts)
    assert (whole.types, whole.of, letters.types, letters.of) == (2, 3, 2, 2)
    assert whole.value == letters.value == pytest.approx((types[0].value + 0.9) / 2)
    assert letters.bootstrap_error == pytest.approx(types[0].standard_error / 2)
    assert category_means([], concepts) == []


def test_the_bootstrapped_median_is_near_the_median_with_the_error_that_theory_gives() -> None:
    values = np.random.default_rng(2).normal(size=400)
    value, error = bootstrapped_median(values.tolist(), seed=1)
    assert value == pytest.approx(float(np.median(values)), abs=0.03)
    assert error == pytest.approx(1.2533 / 20, rel=0.35)
    assert bootstrapped_median(values.tolist(), seed=1) == (value, error)
