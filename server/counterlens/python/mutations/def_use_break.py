"""`def-use-break`: renames the second def-use chain of a variable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import OBJECT_LIFETIME, Concept
from counterlens.mutations.edits import replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.mutations.parsed import FreshNames, FunctionSpan
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.renaming import why_kept
from counterlens.python.mutations.variables import Occurrence, Role, Scope, ScopeKind, Variable

_ALLOWED = {Role.USE, Role.BIND, Role.AUGMENT, Role.PARAMETER, Role.ANNOTATE}


class DefUseBreak(PythonMutation):
    """Rename a variable from its second definition on, to a random name of five letters.

    The second definition is an assignment in the same block as all other occurrences, so that no value of the
    first one can reach a later use: `x = read()`, `x = clean(x)`, `use(x)` becomes `x = read()`,
    `qwert = clean(x)`, `use(qwert)`. A parameter counts as the first definition.
    """

    id = "def-use-break"
    concept = Concept.DATA_FLOW
    source = "Hooda et al. 2024, section 3.3"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            def f(text):
                words = text.split()
                words = sorted(words)
                return words[0]
            """,
            after="""
            def f(text):
                words = text.split()
                obatz = sorted(words)
                return obatz[0]
            """,
        ),
        Example(
            before="""
            def f(xs):
                for x in xs:
                    y = x
                    g(y)
                    y = h(y)
                    if y:
                        y += 1
                        g(y)
            """,
            after="""
            def f(xs):
                for x in xs:
                    y = x
                    g(y)
                    rdiga = h(y)
                    if rdiga:
                        rdiga += 1
                        g(rdiga)
            """,
        ),
        Example(
            before="def f(a):\n    if a:\n        x = 1\n    x = 2\n    return x\n",
            after="def f(a):\n    if a:\n        x = 1\n    qpfco = 2\n    return qpfco\n",
        ),
        Example(
            before="def f(a):\n    x = 1\n    if a:\n        x = 2\n    return x\n", refused="not always"
        ),
        Example(
            before="def f(a):\n    x = 1\n    def g(): return x\n    x = 2\n    return g, x\n",
            refused="closure",
        ),
        Example(before="def f(a):\n    x = a\n    g(x)\n    x = None\n    return x\n", refused="releases"),
    )

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        names = FreshNames(context.module, context.seed)
        module = context.module
        owners: list[tuple[FunctionSpan, Scope, cst.BaseSuite | cst.Module]] = [
            (function, module.scopes.of_node[function.node], function.node.body)
            for function in module.functions
        ]
        if self.whole_program:
            owners.insert(0, (module.program, module.scopes.module, module.tree))
        for function, scope, body in owners:
            for variable in scope.variables.values():
                site = self._site(module, function, body, variable, names)
                if site is not None:
                    yield site

    def _site(
        self,
        module: Module,
        function: FunctionSpan,
        body: cst.BaseSuite | cst.Module,
        variable: Variable,
        names: FreshNames,
    ) -> Site | SiteRefused | None:
        occurrences = sorted(variable.occurrences, key=lambda o: module.start(o.node))
        definitions = [o for o in occurrences if o.role in {Role.BIND, Role.PARAMETER}]
        if len(definitions) < 2 or not variable.roles <= _ALLOWED:
            return None
        at = module.start(definitions[1].node)
        reason = self._unsafe(module, variable)
        if reason is not None:
            return SiteRefused(at, reason)
        candidates = (d for d in definitions[1:] if d.role is Role.BIND)
        for definition in candidates:
            later = self._chain(module, body, occurrences, definition)
            if later is not None:
                if _releases(module, definition):
                    return SiteRefused(
                        module.start(definition.node), "the second definition releases a value"
                    )
                name = names.draw(self.id, function.qualname, variable.name)
                line = module.line(module.start(definition.node))
                return Site(
                    span=(module.start(definition.node), module.end(later[-1].node)),
                    description=f"renamed `{variable.name}` to `{name}` from line {line} on",
                    edits=tuple(replace(*module.span(o.node), name) for o in (definition, *later)),
                    assumptions=(OBJECT_LIFETIME,),
                )
        return SiteRefused(
            at, f"a second definition of `{variable.name}` does not always come before its uses"
        )

    @staticmethod
    def _unsafe(module: Module, variable: Variable) -> str | None:
        if any(occurrence.deferred(variable.scope) for occurrence in variable.occurrences):
            return f"a closure may see `{variable.name}`"
        if variable.scope.kind is ScopeKind.MODULE and (reason := why_kept(module, variable)):
            return reason
        if any(occurrence in module.scopes.shown for occurrence in variable.occurrences):
            return f"an f-string shows the name of `{variable.name}`"
        return None

    @staticmethod
    def _chain(
        module: Module,
        body: cst.BaseSuite | cst.Module,
        occurrences: list[Occurrence],
        definition: Occurrence,
    ) -> list[Occurrence] | None:
        """The occurrences after a definition; None unless it runs before each of them in every execution."""
        placed = _assignment(module, definition)
        if placed is None:
            return None
        block, statement = placed
        start, end = module.start(statement), module.end(statement)
        before = [o for o in occurrences if module.end(o.node) <= start]
        inside = [o for o in occurrences if start <= module.start(o.node) < end and o is not definition]
        later = [o for o in occurrences if module.start(o.node) >= end]
        if any(o.role is not Role.USE for o in inside) or not any(o.role is Role.USE for o in later):
            return None
        if block is body:
            return later
        # In an inner block: no occurrence is outside, and each run of the block begins with a definition.
        first, last = module.span(block)
        if any(not first <= module.start(o.node) < last for o in occurrences):
            return None
        opening = _assignment(module, before[0]) if before else None
        if opening is None or opening[0] is not block:
            return None
        span = module.span(opening[1])
        if any(span[0] <= module.start(o.node) < span[1] for o in before[1:]):
            return None  # it uses its own old value, possibly from an earlier run of the block
        return later


def _assignment(
    module: Module, occurrence: Occurrence
) -> tuple[cst.IndentedBlock | cst.Module, cst.CSTNode] | None:
    """The block and the statement of a definition by plain assignment on its own line, or None."""
    if occurrence.role is not Role.BIND:
        return None
    node: cst.CSTNode = occurrence.node
    above = module.parent(node)
    while isinstance(above, cst.Element | cst.Tuple | cst.List | cst.StarredElement | cst.AssignTarget):
        node, above = above, module.parent(above)
    if isinstance(above, cst.AnnAssign):
        if above.target is not node:
            return None
    elif not isinstance(above, cst.Assign) or not isinstance(node, cst.AssignTarget):
        return None
    line = module.parent(above)
    block = module.parent(line)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    return (block, line) if isinstance(block, cst.IndentedBlock | cst.Module) else None


def _releases(module: Module, definition: Occurrence) -> bool:
    """Whether a definition is `x = None`, which releases the object that x held."""
    placed = _assignment(module, definition)
    assert placed is not None
    assign = cst.ensure_type(placed[1], cst.SimpleStatementLine).body[0]
    value = getattr(assign, "value", None)
    return isinstance(value, cst.Name) and value.value == "None"
