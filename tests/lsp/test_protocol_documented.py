"""docs/protocol.md describes every field of what goes over the wire beside plain LSP."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "server" / "counterlens"
PROTOCOL = (PACKAGE.parents[1] / "docs" / "protocol.md").read_text(encoding="utf-8")
MESSAGES = {
    "confidence.py": ["OverlaySpan", "Overlay", "ConfidenceAnswer"],
    "counterfactuals.py": [
        *("ListedCounterfactual", "RefusedMutation", "CounterfactualListing"),
        *("FunctionItem", "MutationItem", "TestItems"),
    ],
    "dependences.py": ["DependenceAnswer"],
    "doubts.py": ["DoubtAnswer"],
    "editor_models.py": ["Message", "CompleteParams"],
    "models.py": ["TestAnswer", "ModelListing", "OfferedModel", "CodeModelListing", "FetchedModel"],
    "probing.py": ["ShownPair", "NotAsked", "ProbeAnswer", "ProbeFact", "ProbeRefinement"],
    "repository_runs.py": ["AskableTask", "RunPlan", "StartedRun", "RunNews"],
    "runs.py": ["ListedRun", "RunListing", "RunReport"],
    "status.py": ["StepCount", "ServerStatus"],
    "task_run.py": ["TaskNews"],
    "tasks.py": ["ListedTask", "TaskListing", "EndedTask", "TasksAnswer"],
    "views.py": [
        *("TreeRow", "TreeScope", "SyntaxTree"),
        *("ConceptConfidence", "InferenceSummary", "TaskFinding", "FunctionView"),
    ],
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
