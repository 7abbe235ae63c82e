"""Runs inside the sandbox, in the user's interpreter: makes one call and reports how the loops ran.

It is a program of its own and imports nothing of Counterlens. Arguments: the program's file, the call, and
the folders to put on `sys.path`. The report is one JSON document on the result descriptor:
`{"loops": {line: {"entries", "count", "values"}}, "error": text or null}`.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from typing import Any

LIMIT = 1000
PLAIN = (bool, int, float, complex, str, bytes, type(None))

loops: dict[int, dict[str, Any]] = {}


def entered(line: int) -> None:
    loops.setdefault(line, {"entries": 0, "count": 0, "values": []})["entries"] += 1


def tested(line: int, value: object) -> object:
    if value:
        loops[line]["count"] += 1
    return value


def rounds(line: int, values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        loop = loops[line]
        loop["count"] += 1
        if len(loop["values"]) < LIMIT:
            loop["values"].append(repr(value) if is_plain(value) else None)
        yield value


def is_plain(value: object) -> bool:
    """Whether a literal stands for the value as well as the value itself: it cannot be changed."""
    if type(value) is tuple:
        return all(is_plain(part) for part in value)
    if type(value) is float or type(value) is complex:
        return "inf" not in repr(value) and "nan" not in repr(value)
    return type(value) in PLAIN


class Instrument(ast.NodeTransformer):
    """Reports each entry and each round of every loop."""

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        self.generic_visit(node)
        node.iter = _call("rounds", node, node.iter)
        return [ast.copy_location(ast.Expr(_call("entered", node)), node), node]

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        self.generic_visit(node)
        node.test = _call("tested", node, node.test)
        return [ast.copy_location(ast.Expr(_call("entered", node)), node), node]


def _call(name: str, node: ast.stmt, *arguments: ast.expr) -> ast.expr:
    function = ast.Name(f"__counterlens_{name}", ast.Load())
    return ast.copy_location(ast.Call(function, [ast.Constant(node.lineno), *arguments], []), node)


def main() -> None:
    program, call, *folders = sys.argv[1:]
    with open(program, encoding="utf-8", newline="") as file:  # noqa: PTH123
        source = file.read()
    result = int(os.environ.pop("COUNTERLENS_RESULT_FD"))
    sys.path[:0] = folders
    error = None
    try:
        tree = ast.fix_missing_locations(Instrument().visit(ast.parse(source)))
        names = {f"__counterlens_{f.__name__}": f for f in (entered, tested, rounds)}
        space: dict[str, Any] = {"__name__": "observed", "__file__": program, **names}
        exec(compile(tree, program, "exec"), space)  # noqa: S102 - this is what the sandbox is for
        loops.clear()
        eval(compile(call, "<call>", "eval"), space)  # noqa: S307
    except BaseException as caught:
        error = traceback.format_exception_only(caught)[-1].strip()[:400]
    os.write(result, json.dumps({"loops": loops, "error": error}).encode())
    os._exit(0)


if __name__ == "__main__":
    main()
