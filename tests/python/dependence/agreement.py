"""Checks whether the observations of a run agree with the dependence graph.

Data: every observed definition-use pair of a name is an edge, whether exceptions are branches or not.

Control, for calls that returned without an exception:

- a statement that ran and is control dependent on others, ran after one of them;
- a statement that did not run is control dependent, directly or not, on one that ran;
- after an `if`, `for` or `while` took a branch, the statements that depend on that branch ran (again); except
  for those in a `finally` body, which also depend on how control entered it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from counterlens.dependence import MODULE, Dependences, Kind, Rules
from counterlens.python.dependence.program import Program
from tests.python.dependence.tracing import Activation, Block, Tracer, inner_statements, line_of

SILENT = (ast.Global, ast.Nonlocal, ast.Pass, ast.Continue, ast.Break, ast.Try)  # may have no instruction


def disagreements(source: str, traced: Tracer) -> list[str]:
    """The observations that contradict the graph."""
    graphs, others = (
        {(found.function, header(found)): found for found in Program(source, rules).all()}
        for rules in (Rules(), Rules(implicit_exceptions=True))
    )
    return [
        *missing_pairs(graphs, traced),
        *(f"with implicit exceptions {one}" for one in missing_pairs(others, traced)),
        *wrong_orders(graphs, traced),
    ]


Graphs = dict[tuple[str, int], Dependences]


def header(found: Dependences) -> int:
    """The line of a function's `def`, 1-based; 0 for the module."""
    return 0 if found.function == MODULE else found.statements[0].line


def missing_pairs(graphs: Graphs, traced: Tracer) -> Iterator[str]:
    """The observed definition-use pairs that are not edges."""
    names: dict[tuple[str, int], set[tuple[int, int, str]]] = {}
    for function, made, used, variable in sorted(traced.pairs):
        if function not in names:
            found = graphs[function]
            line = {one.id: one.line for one in found.statements}
            names[function] = {
                (line[e.source], line[e.target], e.variable) for e in found.edges if e.kind is Kind.NAME
            }
        if (made, used, variable) not in names[function]:
            yield f"{function[0]}: {variable} of line {made} was used in line {used}"


def wrong_orders(graphs: Graphs, traced: Tracer) -> Iterator[str]:
    """Compare the observed branches with control dependence."""
    if traced.left <= 0:
        return
    for block, activation in traced.activations:
        if block.target is block and activation.ended and not activation.raised and activation.order:
            found = graphs[block.key]
            for problem in (
                *_ran_undecided(found, activation),
                *_left_out(found, block, activation),
                *_went(found, activation),
            ):
                yield f"{block.qualname}: {problem}"


def _ran_undecided(found: Dependences, activation: Activation) -> Iterator[str]:
    deciders: dict[int, set[int]] = {}
    for source, target in found.control:
        deciders.setdefault(target, set()).add(source)
    free = {one.line for one in found.statements if one.id in found.unconditional}
    ran: set[int] = set()
    for node in activation.order:
        line = line_of(node) or 0
        if line not in ran | free and line in deciders and not deciders[line] & (ran | {line}):
            yield f"line {line} ran before {sorted(deciders[line])}"
        ran.add(line)


def _left_out(found: Dependences, block: Block, activation: Activation) -> Iterator[str]:
    ran = {line_of(node) for node in activation.order}
    reasons = found.transitive_control()
    reachable = {line_of(node) for node in _reachable(found, block)}
    if not reachable - ran - {None}:
        return
    ran |= _entered(block, activation)
    for line in sorted(reachable - ran - {None}):  # type: ignore[type-var]
        if not any(source in ran for source, target in reasons if target == line):
            yield f"line {line} did not run, and nothing that ran decides about it"


def _entered(block: Block, activation: Activation) -> set[int]:
    """The lines of `try` and loops around executed statements; they may have no instruction themselves."""
    return {
        node.lineno
        for node in ast.walk(block.node or ast.Module([], []))
        if isinstance(node, ast.Try | ast.While) and any(_holds(node, ran) for ran in activation.order)
    }


def _reachable(found: Dependences, block: Block) -> Iterator[ast.AST]:
    """The reachable statements with instructions of their own."""
    numbers = {found.graph.statement[n] for n, can in enumerate(found.graph.reachable()) if can}
    lines = {one.line for one in found.statements if one.id in numbers}
    stack = list(inner_statements(block.node))
    while stack:
        node = stack.pop()
        constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        bare = isinstance(node, ast.AnnAssign) and node.value is None
        if line_of(node) in lines and not isinstance(node, SILENT) and not constant and not bare:
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            stack += inner_statements(node)


def _went(found: Dependences, activation: Activation) -> Iterator[str]:
    line = {one.id: one.line for one in found.statements}
    after: dict[tuple[int, str], set[int]] = {}
    for edge in found.edges:
        if edge.kind is Kind.CONTROL and edge.outcome:
            after.setdefault((line[edge.source], edge.outcome), set()).add(line[edge.target])
    last = {line_of(node): at for at, node in enumerate(activation.order)}
    shared = {one.line for one in found.statements}
    several = {at for at in shared if sum(one.line == at for one in found.statements) > 1}
    several |= {line[number] for number in found.graph.copied}
    for at, (node, then) in enumerate(zip(activation.order, activation.order[1:], strict=False)):
        if not isinstance(node, ast.If | ast.While | ast.For) or node.lineno in several:
            continue
        inside = any(then is inner or _holds(inner, then) for inner in node.body)
        for target in after.get((node.lineno, "true" if inside else "false"), ()):
            if last.get(target, -1) <= at and target not in _silent_lines(found):
                yield f"line {node.lineno} went {inside} and line {target} did not run"


def _holds(node: ast.AST, wanted: ast.AST) -> bool:
    return any(inner is wanted or _holds(inner, wanted) for inner in inner_statements(node))


def _silent_lines(found: Dependences) -> set[int]:
    """The lines whose statements may have no instruction of their own."""
    silent = ("pass", "continue", "break", "global ", "nonlocal ", "try:", '"', "'")
    return {one.line for one in found.statements if one.text.startswith(silent) or one.text.endswith("...")}
