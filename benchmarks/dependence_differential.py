"""Lists the differences between definition-use pairs of names and beniget's def-use chains, with reasons.

    python benchmarks/dependence_differential.py              # every third module of the standard library
    python benchmarks/dependence_differential.py --every 40 --show 3

Each function's pairs are compared by statement. A difference gets the first reason that applies:

only ours, because beniget
    class       does not let a class depend on the bindings of its body
    augmented   does not count the target of `x += 1` as a use of `x`, nor the definitions that reach it
    handler     does not take an exception's name for a definition, and lets no exception leave a `try` midway
    global      counts a `global` name only as the module's
    match       does not take the captures of a pattern for definitions of the function
    loop        does not carry every definition around a loop
    captured    does not let a function or lambda see later bindings
    lookup      does not count what `super()`, `locals()`, `eval` and frames look up by name
only beniget's, because it
    jump        continues after `return`, `raise`, `break`, `continue`, `assert` and endless loops in a branch
    try         assumes that a `try` may not bind the name, although all paths through it do
    match       does not let the captures of a pattern kill earlier definitions
    branch      lets a definition in a loop or `try` in one branch of an `if` reach the other branch
    else        lets definitions before a loop reach its `else` or later code, although the loop rebinds first

Anything else is `unexplained`, and listed. The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import beniget
import gast

from counterlens.dependence import MODULE, Kind
from counterlens.python.dependence.program import Program
from counterlens.text import decode

LIBRARY = Path(ast.__file__).parent
SKIPPED = {"test", "tests", "idle_test", "site-packages", "lib2to3"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOKUPS = frozenset(
    {"super", "locals", "vars", "dir", "eval", "exec", "globals", "_getframe", "f_back", "f_locals"}
)
JUMPS = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Assert)
TRIES = (ast.Try, ast.TryStar, ast.With, ast.AsyncWith)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
Pair = tuple[int, int, str]
Key = tuple[int, str]


class Places:
    """The statements of one function, by position."""

    def __init__(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.function = function
        self.around: dict[int, list[ast.AST]] = {}
        self._all: list[tuple[tuple[int, int], tuple[int, int], int]] = []
        self._add(function, [])

    def line(self, line: int, column: int) -> int | None:
        """The line of the innermost statement at a position."""
        found = [one for one in self._all if one[0] <= (line, column) < one[1]]
        return found[-1][2] if found else None

    def _add(self, outer: ast.AST, around: list[ast.AST]) -> None:
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            for node in getattr(outer, part, ()):
                place = node.pattern if isinstance(node, ast.match_case) else node
                end = node.body[-1] if isinstance(node, ast.match_case) else node
                lines = [place.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))]
                start = (min(lines), 0 if place is not node or len(lines) > 1 else place.col_offset)
                self._all.append((start, (end.end_lineno, end.end_col_offset), place.lineno))
                self.around.setdefault(place.lineno, [*around, node])
                if not isinstance(node, FUNCTIONS):
                    self._add(node, [*around, node])


def ours(source: str) -> dict[Key, set[Pair]]:
    """Our pairs of names, by function."""
    found = {}
    for one in Program(source).all():
        if one.function != MODULE:
            line = {statement.id: statement.line for statement in one.statements}
            edges = [edge for edge in one.edges if edge.kind is Kind.NAME]
            key = (one.statements[0].line, one.function.rpartition(".")[2])
            found[key] = {(line[edge.source], line[edge.target], edge.variable) for edge in edges}
    return found


def theirs(source: str, places: dict[Key, Places]) -> Iterator[tuple[Key, set[Pair]]]:
    """Beniget's pairs, by function; its messages about unbound names are dropped."""
    chains = beniget.DefUseChains()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        chains.visit(gast.parse(source))
    for function, definitions in chains.locals.items():
        if not isinstance(function, gast.FunctionDef | gast.AsyncFunctionDef):
            continue
        key = (function.lineno, function.name)
        pairs = set()
        for definition in definitions:
            if not hasattr(definition.node, "lineno"):
                continue
            made = places[key].line(definition.node.lineno, definition.node.col_offset) or function.lineno
            for user in definition.users():
                if hasattr(user.node, "lineno"):
                    used = places[key].line(user.node.lineno, user.node.col_offset)
                    if used is not None:
                        pairs.add((made, used, definition.name()))
        yield key, pairs


def why_ours(pair: Pair, places: Places) -> str:
    """The reason why beniget lacks a pair."""
    made, used, name = pair
    around = [*places.around.get(made, ()), *places.around.get(used, ())]
    last = places.around.get(used, [places.function])[-1]
    if isinstance(last, ast.ClassDef) and last in places.around.get(made, ()):
        return "class"
    inside = [node for node in ast.walk(places.function) if isinstance(node, ast.AugAssign)]
    if any(isinstance(node.target, ast.Name) and node.target.id == name for node in inside):
        return "augmented"
    declared = [node for node in ast.walk(places.function) if isinstance(node, ast.Global | ast.Nonlocal)]
    if any(name in node.names for node in declared):
        return "global"
    if any(isinstance(node, ast.Match | ast.match_case) for node in around):
        return "match"
    if any(isinstance(node, (*TRIES, ast.ExceptHandler)) for node in around):
        return "handler"
    if any(isinstance(node, (*FUNCTIONS, ast.Lambda, ast.GeneratorExp)) for node in ast.walk(last)):
        return "captured"
    if any(isinstance(node, LOOPS) for node in around):
        return "loop"
    if LOOKUPS & {getattr(node, "id", getattr(node, "attr", None)) for node in ast.walk(last)}:
        return "lookup"
    return "unexplained"


def why_theirs(pair: Pair, places: Places) -> str:
    """The reason why our analysis lacks a pair."""
    made, used, name = pair
    branches = [node for node in ast.walk(places.function) if isinstance(node, (ast.If, *TRIES, *LOOPS))]
    between = [node for node in branches if node.end_lineno and made <= node.end_lineno]
    between = [node for node in between if node.lineno <= max(used, made)]
    if any(isinstance(inner, JUMPS) for node in between for inner in ast.walk(node)):
        return "jump"
    if any(isinstance(node, ast.Match) for node in places.around.get(used, ())):
        return "match"
    if _apart(made, used, places):
        return "branch"
    binding = [node for node in between if name in _bound(node)]
    if any(isinstance(node, TRIES) for node in binding):
        return "try"
    return "else" if any(isinstance(node, LOOPS) for node in binding) else "unexplained"


def _bound(node: ast.AST) -> set[str]:
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    return {inner.id for inner in names if isinstance(inner.ctx, ast.Store)}


def _apart(made: int, used: int, places: Places) -> bool:
    """Whether two lines are in different branches of one `if`, outside of any loop."""
    around = places.around.get(made, [])
    for node in around:
        if isinstance(node, LOOPS) and node in places.around.get(used, ()):
            return False
        if isinstance(node, ast.If) and node.orelse:
            other = node.orelse[0].lineno
            if made < other <= used <= (node.end_lineno or 0):
                return True
    return False


def main() -> int:
    """Compare and print; returns 1 if a difference is unexplained."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=3, help="compare every N-th module")
    parser.add_argument("--show", type=int, default=0, help="number of examples to print per reason")
    given = parser.parse_args()
    paths = [path for path in sorted(LIBRARY.rglob("*.py")) if not SKIPPED & set(path.parts)]
    chosen = paths[:: given.every]
    both, counts, shown = 0, Counter[str](), Counter[str]()
    for path in chosen:
        source = decode(path.read_bytes()).text
        nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, FUNCTIONS)]
        places = {(node.lineno, node.name): Places(node) for node in nodes}
        mine = ours(source)
        for key, pairs in theirs(source, places):
            both += len(mine[key] & pairs)
            differences = [("ours", why_ours(pair, places[key]), pair) for pair in mine[key] - pairs]
            differences += [("beniget", why_theirs(pair, places[key]), pair) for pair in pairs - mine[key]]
            for side, reason, pair in sorted(differences):
                name = f"{side}: {reason}"
                counts[name] += 1
                shown[name] += 1
                if shown[name] <= given.show or reason == "unexplained":
                    print(f"{name:22} {path.name}:{key[1]} {pair}")
    print(f"{both} pairs in both")
    for name, count in sorted(counts.items()):
        print(f"{count:6} only {name}")
    document = {"benchmark": "dependence_differential", "modules": len(chosen), "both": both}
    print(json.dumps({**document, "differences": dict(sorted(counts.items()))}))
    return int(any("unexplained" in name for name in counts))


if __name__ == "__main__":
    sys.exit(main())
