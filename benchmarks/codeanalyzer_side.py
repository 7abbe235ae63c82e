"""Runs codeanalyzer-python for `dependence_codeanalyzer.py`, in the environment of that package.

It reads a JSON list of paths from standard input, and prints one JSON document per file: for every function
its line and name, and its edges by the positions of the statements: control dependences with and without the
exceptions that any statement may raise, and data dependences with the access path. It calls the library's
analysis of one function; the library's command would first infer the types of all expressions, which takes
minutes and changes no edge inside a function.
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
    """Without types, any two objects might be aliases; our analysis ignores aliases, too."""

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
    except (KeyError, ValueError):  # paths that only exceptions take are removed
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
