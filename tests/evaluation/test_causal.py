"""AsC-Causal on real functions: from scores to tables in the layout of the paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from counterlens.cli.causal import causal
from counterlens.errors import DataError
from counterlens.evaluation.causal import ALL_CONCEPTS, causal_tables, check_enough, snippets_of
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.causal import ConceptEffect, Refutation
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.concepts import ConfidenceTask
from counterlens.probes.task import Request, Target
from counterlens.syntax.document import Document

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_real_functions_become_snippets(model: LlamaModel) -> None:
    targets = [
        Target(Document.read(EXAMPLES / f"{name}.py"), name, id=f"{name}.py::{name}")
        for name in ("collatz_steps", "is_even")
    ]
    data = ConfidenceTask().run(Request(model, targets, lambda: pytest.fail("nothing is run"))).data
    first, second = snippets_of(data["functions"])
    assert (first.cluster, second.cluster) == ("collatz_steps.py", "is_even.py")
    assert first.cross_entropy > 0
    assert first.concepts["while_statement"] > 0
    assert "while_statement" not in second.concepts
    for one in (first, second):
        assert 0 < one.concepts[ALL_CONCEPTS] < 1
        complexity, levels, nodes, tokens = one.confounders
        assert 1 <= complexity < levels < nodes
        assert tokens > 10
    with pytest.raises(DataError, match="2 functions are too few"):
        check_enough([first, second])


def test_the_tables_have_the_papers_layout() -> None:
    pearson = {
        "cyclomatic_complexity": 0.1,
        "ast_levels": 0.2,
        "ast_nodes": 0.3,
        "sequence_length": None,
        "cross_entropy": -0.5,
    }
    refutations = {"placebo": Refutation(0.01, True), "subset": Refutation(0.9, False)}
    effects = [
        ConceptEffect("lambda", 4, Estimate(None, None, None, 4), pearson, {}),
        ConceptEffect(ALL_CONCEPTS, 40, Estimate(-1.5, -2.0, -1.0, 40), pearson, refutations),
        ConceptEffect("functional programming", 40, Estimate(-0.5, -1.0, 0.0, 40), pearson, refutations),
    ]
    table, refuted = causal_tables(effects)
    assert [row[:3] for row in table.rows] == [
        ("global", "all of it", 40),
        ("functional programming", "all of it", 40),
        ("functional programming", "lambda", 4),
    ]
    assert table.rows[0][:8] == ("global", "all of it", 40, "+0.10", "+0.20", "+0.30", None, "-0.50")
    assert table.rows[-1][-1] == Estimate(None, None, None, 4)
    assert refuted.rows[0] == (ALL_CONCEPTS, "-1.50", "+0.01", "+0.90 (refuted)")


def test_one_source_is_asked_for() -> None:
    assert "give one of PATH, --data or --run" in CliRunner().invoke(causal, []).output
