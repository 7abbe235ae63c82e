"""Observer of loops: reports how often each loop ran during the call, and over which values.

The report has `loops`: `{line: {"entries", "count", "values"}}`.
"""

from __future__ import annotations

import ast

from .kit import Observed, observe

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    """Whether a literal can replace the value, because the value is immutable."""
    if type(value) is tuple:
        return all(is_plain(part) for part in value)
    if type(value) is float or type(value) is complex:
        return "inf" not in repr(value) and "nan" not in repr(value)
    return type(value) in PLAIN


class Instrument(ast.NodeTransformer):
    """Inserts reports of each entry and each round of every loop."""

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


def run(observed: Observed, report: dict[str, Any]) -> None:
    """Make the call on the program with its loops instrumented."""
    report["loops"] = loops
    tree = ast.fix_missing_locations(Instrument().visit(ast.parse(observed.source)))
    space = observed.namespace(
        **{f"__counterlens_{hook.__name__}": hook for hook in (entered, tested, rounds)}
    )
    observed.load(space, compile(tree, observed.path, "exec", dont_inherit=True))
    loops.clear()
    observed.evaluate(space)


def main() -> None:
    """Observe the call given by the arguments."""
    observe(run)
