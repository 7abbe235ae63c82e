"""One name, one meaning: a public class name stands in one module only."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "server" / "counterlens"


def public_classes() -> dict[str, set[str]]:
    """The modules of each public class name."""
    modules: dict[str, set[str]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].add(str(path.relative_to(PACKAGE)))
    return modules


def test_a_public_class_name_stands_in_one_module_only() -> None:
    classes = public_classes()
    assert len(classes) > 200
    assert {name: sorted(modules) for name, modules in classes.items() if len(modules) > 1} == {}
