"""docs/protocol.md describes every field of what goes over the wire beside plain LSP."""

from __future__ import annotations

import ast
import re

import pytest

from tests.lsp.texts import PACKAGE

PROTOCOL = (PACKAGE.parents[1] / "docs" / "protocol.md").read_text(encoding="utf-8")
MESSAGES = {
    "code_models.py": ["OfferedModel", "CodeModelListing", "FetchedModel"],
    "confidence_report.py": ["ConfidenceAnswer"],
    "connection.py": ["TestAnswer", "ModelListing"],
    "counterfactuals.py": ["ListedCounterfactual", "RefusedMutation", "CounterfactualListing"],
    "dependences.py": ["DependenceAnswer"],
    "doubts.py": ["DoubtAnswer"],
    "editor_models.py": ["Message", "CompleteParams"],
    "function_view.py": ["ConceptConfidence", "InferenceSummary", "TaskFinding", "FunctionView"],
    "overlay.py": ["OverlaySpan", "Overlay"],
    "probing.py": ["ShownPair", "NotAsked", "ProbeAnswer", "ProbeRefinement"],
    "repository_runs.py": ["AskableTask", "RunPlan", "StartedRun", "RunNews"],
    "runs.py": ["ListedRun", "RunListing", "RunReport"],
    "status.py": ["StepCount", "ServerStatus"],
    "syntax_tree.py": ["TreeRow", "TreeScope", "SyntaxTree"],
    "task_run.py": ["TaskNews"],
    "tasks.py": ["ListedTask", "TaskListing", "EndedTask", "TasksAnswer"],
    "test_items.py": ["FunctionItem", "MutationItem", "TestItems"],
}


def undescribed(fields: list[str]) -> list[str]:
    """Those that the text does not name as code, by themselves or as a field of an object."""
    code = re.findall(r"`([^`]+)`", PROTOCOL)
    named = {name for part in code for name in re.findall(r"\w+", part)}
    return [name for name in fields if name not in named]


@pytest.mark.parametrize("module", MESSAGES)
def test_every_field_of_a_message_is_described(module: str) -> None:
    tree = ast.parse((PACKAGE / "lsp" / module).read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for name in MESSAGES[module]:
        fields = [node.target.id for node in classes[name].body if isinstance(node, ast.AnnAssign)]
        assert fields
        assert undescribed(fields) == []


def test_a_field_that_is_not_described_is_found() -> None:
    assert undescribed(["records", "quux"]) == ["quux"]
