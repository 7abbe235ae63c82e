"""Lists the differences between the dependence graph and codeanalyzer-python's, with reasons.

    python benchmarks/dependence_codeanalyzer.py --python ENV/bin/python              # every tenth module
    python benchmarks/dependence_codeanalyzer.py --python ENV/bin/python --every 40 --show 5

The dependencies of codeanalyzer-python (1.6 was compared) conflict with ours, so it has an environment of its
own: `python -m venv ENV && ENV/bin/pip install codeanalyzer-python==1.6.*`. The comparison covers the
functions of the standard library, by the lines of their statements: control dependence, theirs without the
exceptions that any statement may raise, like ours; and data dependence by variable, with an access path
counting as its root, without aliases. A difference gets the first reason that applies:

construct   the function has a `try`, `with`, `match`, `yield`, `await` or nested function: theirs gives every
            `try` and `yield` further exits, supports neither `match` nor `except*`, and takes the captured
            variables of a nested function for uses at its definition
call        (data) the variable is an argument or a receiver of a call, which in theirs changes it and kills
            earlier definitions, and in ours only if the method or function is known to do so
store       (data) an attribute or item of the variable is stored to: theirs has one location for each access
            path and one for all items, ours one for each first selector
global      (data) the variable is declared `global` or `nonlocal`
del         (data) theirs does not count the names in the index of a deleted item as used
walrus      (data) theirs does not count `:=` as a definition
index       (data) theirs does not count the names in an index of a receiver as used
iterable    (data) theirs evaluates the iterable of a `for` before every round
itself      (control) theirs has no dependence of a loop on itself
endless     (control) theirs gives `while True:` an exit; in ours, the following code depends on its `break`
terminator  (control) in ours `sys.exit()` and the like do not return

Anything else is `unexplained`, and listed. The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from counterlens.dependence import MODULE, Dependences, Kind
from counterlens.python.dependence.program import Program
from counterlens.python.dependence.rules import PythonRules
from counterlens.text import decode

LIBRARY = Path(ast.__file__).parent
SKIPPED = {"test", "tests", "idle_test", "site-packages", "lib2to3"}
CONSTRUCTS = (
    *(ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.Match, ast.AsyncFor, ast.Yield, ast.YieldFrom),
    *(ast.Await, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef),
)
Edge = tuple[int, ...]


class Function:
    """One function, with the constructs in it that explain differences."""

    def __init__(self, found: Dependences) -> None:
        self.found = found
        self.node = found.nodes[0]
        self.inside = [one for one in ast.walk(self.node) if one is not self.node]
        self.construct = any(isinstance(one, CONSTRUCTS) for one in self.inside)
        self.called = {name for one in self.inside if isinstance(one, ast.Call) for name in _touched(one)}
        self.stored = {
            _root(one)
            for one in self.inside
            if isinstance(one, ast.Attribute | ast.Subscript) and not isinstance(one.ctx, ast.Load)
        }
        self.declared = {
            name for one in self.inside if isinstance(one, ast.Global | ast.Nonlocal) for name in one.names
        }
        self.endless = any(
            isinstance(one, ast.While) and isinstance(one.test, ast.Constant) for one in self.inside
        )
        calls = [ast.unparse(one.func) for one in self.inside if isinstance(one, ast.Call)]
        self.ends = any(call in PythonRules().terminators for call in calls)

    def line(self, place: list[int] | None) -> int | None:
        """The line of the statement at a position; the header's line for the entry."""
        statements = self.found.statements
        if place is None:
            return statements[0].line
        return max((one.line for one in statements if one.line <= place[0] <= one.end_line), default=None)

    def why_data(self, edge: Edge, variable: str) -> str:
        """The reason why only one of the two has a data dependence."""
        if self.construct:
            return "construct"
        for reason, names in (("call", self.called), ("store", self.stored), ("global", self.declared)):
            if variable in names:
                return reason
        used = [one for one in self.inside if getattr(one, "lineno", 0) == edge[1]]
        if any(isinstance(one, ast.Delete) for one in used):
            return "del"
        iterated = [name for one in used if isinstance(one, ast.For) for name in ast.walk(one.iter)]
        if any(isinstance(name, ast.Name) and name.id == variable for name in iterated):
            return "iterable"
        if any(isinstance(one, ast.NamedExpr) and one.target.id == variable for one in self.inside):
            return "walrus"
        indices = [one.slice for one in self.inside if isinstance(one, ast.Subscript)]
        named = {name.id for index in indices for name in ast.walk(index) if isinstance(name, ast.Name)}
        return "index" if variable in named else "unexplained"

    def why_control(self, edge: Edge) -> str:
        """The reason why only one of the two has a control dependence."""
        if self.construct:
            return "construct"
        if edge[0] == edge[1]:
            return "itself"
        return "endless" if self.endless else "terminator" if self.ends else "unexplained"


def _touched(call: ast.Call) -> Iterator[str]:
    for one in (call.func, *call.args, *(keyword.value for keyword in call.keywords)):
        yield _root(one)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def theirs(python: str, paths: list[Path]) -> Iterator[dict[str, Any]]:
    """The results of codeanalyzer-python, a document for each file."""
    script = Path(__file__).with_name("codeanalyzer_side.py")
    done = subprocess.run(
        [python, str(script)],
        input=json.dumps([str(path) for path in paths]),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{python} failed: {done.stderr.strip().splitlines()[-1]}")
    yield from map(json.loads, done.stdout.splitlines())


def compare(function: Function, other: dict[str, Any]) -> Iterator[tuple[str, str, str, Edge | str]]:
    """The edges of both, and of only one: (kind, side, reason, edge)."""
    found = function.found
    control = {(function.line(a), function.line(b)) for a, b in other["explicit"] or () if a and b}
    for edge in sorted(found.control & control):
        yield "control", "both", "construct" if function.construct else "plain", edge
    for side, edges in (("ours", found.control - control), ("theirs", control - found.control)):
        for edge in sorted(edges):
            yield "control", side, function.why_control(edge), edge
    parameters = {one.arg for one in ast.walk(function.node.args) if isinstance(one, ast.arg)}
    bound = parameters | {edge.variable for edge in found.edges}
    line = [one.line for one in found.statements]
    data = {(line[e.source], line[e.target], e.variable) for e in found.edges if e.kind is not Kind.CONTROL}
    reached = {
        (function.line(a), function.line(b), name)
        for a, b, path in other["data"]
        for name in [re.split(r"[.\[]", path)[0]]
        if b is not None and name in bound and (a is not None or name in parameters)
    }
    for edge in sorted(data & reached):
        plain = function.why_data(edge, edge[2]) in {"del", "iterable", "walrus", "index", "unexplained"}
        yield "data", "both", "plain" if plain else "other", edge
    for side, edges in (("ours", data - reached), ("theirs", reached - data)):
        for edge in sorted(edges):
            yield "data", side, function.why_data(edge, edge[2]), edge


def main() -> int:
    """Compare and print; returns 1 if a difference is unexplained."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", required=True, help="interpreter that has codeanalyzer-python")
    parser.add_argument("--every", type=int, default=10, help="compare every N-th module")
    parser.add_argument("--show", type=int, default=0, help="number of examples to print per reason")
    given = parser.parse_args()
    paths = [path for path in sorted(LIBRARY.rglob("*.py")) if not SKIPPED & set(path.parts)]
    chosen = paths[:: given.every]
    counts, functions = Counter[str](), 0
    for document in theirs(given.python, chosen):
        path = Path(document["path"])
        mine = {
            (one.statements[0].line, one.function.rpartition(".")[2]): Function(one)
            for one in Program(decode(path.read_bytes()).text).all()
            if one.function != MODULE
        }
        for other in document["functions"]:
            functions += 1
            for kind, side, reason, edge in compare(mine[other["line"], other["name"]], other):
                name = f"{kind} {side} {reason}"
                counts[name] += 1
                if side != "both" and (counts[name] <= given.show or reason == "unexplained"):
                    print(f"{name:30} {path.name}:{other['name']} {edge}")
    print(f"{functions} functions of {len(chosen)} modules")
    for name, count in sorted(counts.items()):
        print(f"{count:6} {name}")
    print(
        json.dumps(
            {
                "benchmark": "dependence_codeanalyzer",
                "functions": functions,
                "counts": dict(sorted(counts.items())),
            }
        )
    )
    return int(any("unexplained" in name for name in counts))


if __name__ == "__main__":
    sys.exit(main())
