"""codeanalyzer-python's side of `dependence_codeanalyzer.py`: runs in the environment where it is installed.

Reads a JSON list of paths on standard input and prints one JSON document a file: for every function its line
and name, and its edges by the positions of the statements: control with and without the exceptions that any
statement may raise, and data with the access path. The library's own analysis of one function is called; its
command would type every expression first, which takes minutes and changes no edge inside a function.
"""

from __future__ import annotations

import ast
import json
import sys
from dataclasses import replace
from pathlib import Path

from codeanalyzer.dataflow.alias import TypeBasedAliasOracle
from codeanalyzer.dataflow.dominance import control_dependence
from codeanalyzer.dataflow.pdg import build_pdg

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
RAISING = (ast.Raise, ast.Assert)


class NoAliases(TypeBasedAliasOracle):  # type: ignore[misc]
    """Without types, every two objects might be the same one; ours follows no aliases either."""

    def may_alias(self, path_a: str, path_b: str) -> bool:  # noqa: ARG002 - whatever they are
        """Never."""
        return False


def analysed(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, object]:
    """The edges of one function; a position is [line, column], and None is its entry."""
    found = build_pdg(function, set(), NoAliases())
    cfg = found.cfg
    raising = {(node.lineno, node.col_offset) for node in ast.walk(function) if isinstance(node, RAISING)}
    place = {
        node.id: None if node.kind == "entry" else [node.start_line, node.start_column] for node in cfg.nodes
    }
    plain = replace(
        cfg,
        edges=[
            edge
            for edge in cfg.edges
            if edge.kind != "exception" or tuple(place[edge.source] or ()) in raising
        ],
    )
    control = [[place[edge.source], place[edge.target]] for edge in found.edges if edge.type == "CDG"]
    data = [[place[edge.source], place[edge.target], edge.var] for edge in found.edges if edge.type == "DDG"]
    try:
        explicit = [[place[source], place[target]] for source, target in control_dependence(plain)]
    except (KeyError, ValueError):  # a way that only an exception leads along is none any more
        explicit = None
    return {
        "line": function.lineno,
        "name": function.name,
        "control": control,
        "explicit": explicit,
        "data": data,
    }


for path in json.load(sys.stdin):
    tree = ast.parse(Path(path).read_bytes())
    functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    print(json.dumps({"path": path, "functions": [analysed(function) for function in functions]}))
