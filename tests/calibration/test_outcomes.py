"""Judged completions: what counts as the smallest fix, and what a model writes beside the tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from counterlens.calibration.outcomes import kept_in, observe
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.probe import Target
from counterlens.probes.subjects import targets_in
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("statements", "fix", "indices", "removed", "added"),
    [
        (["a", "b", "c"], ["a", "b", "c"], {0, 1, 2}, 0, 0),
        (["a", "b", "c"], ["a", "c"], {0, 2}, 1, 0),
        (["a", "c"], ["a", "b", "c"], {0, 1}, 0, 1),
        (["a", "x", "c", "d"], ["a", "y", "c", "e"], {0, 2}, 2, 2),
        (["a", "a", "b"], ["b", "a"], {2}, 2, 1),
        ([], ["a"], set(), 0, 1),
        (["a"], [], set(), 1, 0),
    ],
)
def test_a_fix_leaves_the_longest_common_subsequence(
    statements: list[str], fix: list[str], indices: set[int], removed: int, added: int
) -> None:
    kept = kept_in(statements, fix)
    assert (kept.indices, kept.removed, kept.added) == (indices, removed, added)


def targets(*names: str) -> list[Target]:
    return [target for name in names for target in targets_in(Document.read(EXAMPLES / f"{name}.py"), name)]


def test_completions_are_judged_and_their_statements_compared(embedded: LlamaModel) -> None:
    known = targets("parity")
    untested = replace(known[0], document=Document("def parity(n):\n    return n\n"))
    outcomes = observe(embedded, [*known, untested], best_sandbox(), samples=2, max_tokens=60)
    assert {each.function for each in outcomes.completions} <= {target.id for target in known}
    assert sum(outcomes.left_out.values()) + len(outcomes.completions) == 2 + 1
    assert outcomes.completions
    for completion in outcomes.completions:
        assert (completion.logprobs <= 0).all()
        assert completion.statements
        assert (completion.fixed_by == "itself") is completion.passed
        if completion.passed:
            assert all(part.right for part in completion.statements)
        else:
            assert not all(part.right for part in completion.statements) or completion.fixed_by == "sample"
        assert sum(len(part.logprobs) for part in completion.statements) <= 2 * len(completion.logprobs)
