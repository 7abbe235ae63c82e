"""`independent-swap` and `remove-definition`; when two pieces of code are independent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import NEITHER_RAISES, PURE_OPERATORS, Concept, Independence
from counterlens.mutations.edits import exchange, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.effect_rules import EffectAnalysis, Heap, SideEffects
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.variables import Role, Variable


@dataclass(eq=False)
class IndependentSwap(PythonMutation):
    """Swap two adjacent, independent statements of a function.

    Two statements are independent if neither binds a variable that the other one uses, neither may jump away,
    at most one calls unknown code, and neither can use an object that the other changes. A compound statement
    (a whole loop) counts as one. Comments move with their statement.
    """

    id = "independent-swap"
    concept = Concept.CONTROL_FLOW
    source = "Hooda et al. 2024, section 3.3"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            def f(n):
                low = 0  # from
                # the end
                high = n
                return g(low, high)
            """,
            after="""
            def f(n):
                # the end
                high = n
                low = 0  # from
                return g(low, high)
            """,
            refused="both touch `high`",
        ),
        Example(before="def f(n):\n    a = n\n    b = a\n", refused="both touch `a`"),
        Example(before="def f():\n    g()\n    h()\n", refused="both call unknown code"),
        Example(before="def f(a, b):\n    a[0] = 1\n    x = b[0]\n", refused="changes an object"),
        Example(
            before="""
            def f(a):
                try:
                    x = 1
                    y = a[0]
                except IndexError:
                    return x
            """,
            refused="may raise",
        ),
    )

    reach: int = 1
    """Maximum distance of the two, in statements; all between must be independent of both."""

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        effects = context.effects
        blocks: Sequence[cst.Module | cst.IndentedBlock] = [*module.nodes(cst.IndentedBlock)]
        if self.whole_program:
            blocks = [module.tree, *blocks]
        for block in blocks:
            inside = self.whole_program or module.function_at(module.start(block)) is not None
            if isinstance(module.parent(block), cst.ClassDef) or not inside:
                continue
            body = [statement for statement in block.body if not _is_plain(statement)]
            caught = is_caught(module, block)
            for index in range(len(body)):
                for other in range(index + 1, min(index + 1 + self.reach, len(body))):
                    site = self._pair(module, effects, body[index : other + 1], caught)
                    if site is not None:
                        yield site

    def _pair(
        self, module: Module, effects: EffectAnalysis, run: Sequence[cst.CSTNode], caught: bool
    ) -> Site | SiteRefused | None:
        first, last = run[0], run[-1]
        first_span, two = region(module, first), region(module, last)
        if module.text(first_span) == module.text(two):
            return None
        checks = [(first, last), *((first, mid) for mid in run[1:-1]), *((mid, last) for mid in run[1:-1])]
        assumed: set[str] = set()
        for a, b in checks:
            verdict: Independence = independent(effects.of(a), effects.of(b), caught=caught)
            if verdict.reason is not None:
                return SiteRefused(module.start(first), f"the statement and the next: {verdict.reason}")
            assumed.update(verdict.assumptions)
        lines = module.line(module.start(first)), module.line(module.start(last))
        return Site(
            span=(first_span[0], two[1]),
            description=f"swapped the independent statements of lines {lines[0]} and {lines[1]}",
            edits=exchange(first_span, two),
            assumptions=tuple(sorted(assumed)),
            whole=True,
        )


def is_caught(module: Module, node: cst.CSTNode) -> bool:
    """Whether the function around a node may continue after an exception in it."""
    for above in module.ancestors(node):
        if isinstance(above, cst.Try | cst.TryStar | cst.With):
            return True
        if isinstance(above, cst.FunctionDef | cst.Lambda | cst.ClassDef):
            return False
    return False


def region(module: Module, statement: cst.CSTNode) -> tuple[int, int]:
    """The byte range of a statement with the comments directly above and after it, without indentation.

    The newline at its end is excluded.
    """
    decorators = getattr(statement, "decorators", ())
    start = module.start(decorators[0] if decorators else statement)
    for line in reversed(getattr(statement, "leading_lines", ())):
        if line.comment is None or module.indentation(line.comment) != module.indentation(statement):
            break
        start = module.start(line.comment)
    return start, module.without_newline(module.statement_end(statement))


def _is_plain(statement: cst.CSTNode) -> bool:
    """Whether a statement is a docstring, a `pass` or an ellipsis, so that moving it is pointless."""
    return isinstance(statement, cst.SimpleStatementLine) and all(
        isinstance(small, cst.Pass)
        or (isinstance(small, cst.Expr) and isinstance(small.value, cst.BaseString | cst.Ellipsis))
        for small in statement.body
    )


class RemoveDefinition(PythonMutation):
    """Remove the assignment of a function's variable that is used later, which breaks the program."""

    id = "remove-definition"
    concept = Concept.DATA_FLOW
    preserving = False
    source = "Nguyen et al. 2024, Table 1"
    types = (cst.Assign,)
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="def f():\n    x = 10  # ten\n    return x + 1\n",
            after="def f():\n    return x + 1\n",
        ),
        Example(
            before="def f(a):\n    if a:\n        x = 10\n    return x\n",
            after="def f(a):\n    if a:\n        pass\n    return x\n",
        ),
        Example(before="def f():\n    x = 1\n", refused="never used"),
        Example(before="def f():\n    x = 1; return x\n", refused="shares its line"),
    )

    def site(self, context: PythonContext, node: cst.Assign) -> Site | SiteRefused | None:
        module = context.module
        target = node.targets[0].target
        variable = module.scopes.variable(target)
        if len(node.targets) != 1 or variable is None or not variable.scope.is_function:
            return None
        start, end = module.span(node)
        if Role.DECLARE in variable.roles:
            return SiteRefused(start, f"a `nonlocal` needs a definition of `{variable.name}`")
        uses = [module.start(o.node) for o in variable.occurrences if o.role is Role.USE]
        if all(start <= use < end for use in uses):
            return SiteRefused(start, f"`{variable.name}` is never used")
        line = module.parent(node)
        block = module.parent(line)
        alone = isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1
        if not alone or not isinstance(block, cst.IndentedBlock):
            return SiteRefused(start, "the assignment shares its line with other code")
        if block.body[0] is line and all(map(_is_assignment, block.body)):
            edit = replace(start, end, "pass")
        else:
            edit = replace(module.line_start(start), module.statement_end(line), "")
        return Site((start, end), f"removed the definition of `{variable.name}`", (edit,))


def _is_assignment(statement: cst.BaseStatement) -> bool:
    """Whether a line is an assignment; a block with only assignments keeps a `pass` in their place."""
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], cst.Assign)


def independent(first: SideEffects, second: SideEffects, *, caught: bool) -> Independence:
    """Decide whether two adjacent pieces of code can be swapped.

    Args:
        caught: Whether the function continues after an exception in them (`try`, `with`).
    """
    reason = _conflict(first, second, caught)
    if reason is not None:
        return Independence(reason)
    assumptions = []
    if first.raises or second.raises:
        if caught:
            return Independence(
                "one of them may raise, and a handler of the exception could observe the order"
            )
        if (first.raises and _seen_after(second)) or (second.raises and _seen_after(first)):
            assumptions.append(NEITHER_RAISES)
    if first.operators or second.operators:
        assumptions.append(PURE_OPERATORS)
    return Independence(None, tuple(assumptions))


def _conflict(first: SideEffects, second: SideEffects, caught: bool) -> str | None:
    if first.yields or second.yields or first.jumps or second.jumps:
        return "one of them may jump or yield control"
    for effects, other in ((first, second), (second, first)):
        # Code that runs before a `return` or not at all may change nothing visible: local variables at most.
        if effects.exits and (caught or other.exits or other.raises or _seen_after(other)):
            return "one of them may leave the function, so the effect of the other could be observed"
    shared = (first.writes & (second.reads | second.writes)) | (second.writes & first.reads)
    if shared:
        return f"both touch `{min(variable.name for variable in shared)}`"
    if first.opaque and second.opaque:
        return "both call unknown code"
    for effects, other in ((first, second), (second, first)):
        if effects.opaque and (other.heap is not Heap.NONE or any(map(_visible, other.reads | other.writes))):
            return "one calls unknown code, which could affect objects that the other uses"
        if effects.heap is Heap.WRITE and other.heap is not Heap.NONE:
            return "one changes an object that the other may use"
    return None


def _visible(variable: Variable) -> bool:
    return variable.shared


def _seen_after(effects: SideEffects) -> bool:
    """Whether code may raise, or change anything that is visible outside the function."""
    return (
        effects.raises or effects.opaque or effects.heap is Heap.WRITE or any(map(_visible, effects.writes))
    )
