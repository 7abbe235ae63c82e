"""`remove-conditional`: removes an `if` and keeps its body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import Concept
from counterlens.mutations.edits import Edit, replace
from counterlens.mutations.layout import dedenting
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.conditions import quote
from counterlens.python.mutations.layout import block_indent
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.mutation import PythonContext, PythonMutation


class RemoveConditional(PythonMutation):
    """Remove an `if` without `else`, so that its body always runs, which breaks the program."""

    id = "remove-conditional"
    concept = Concept.CONTROL_FLOW
    preserving = False
    source = "Nguyen et al. 2024, Table 1"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before='''
            def f(a):
                # here
                if a:  # there
                    g()
                    for x in a:
                        h("""
                        text""")
                return a
            ''',
            after='''
            def f(a):
                # here
                g()
                for x in a:
                    h("""
                        text""")
                return a
            ''',
        ),
        Example(before="if a: f()\n", after="f()\n"),
        Example(before="if a:\n    f()\nelse:\n    g()\n", refused="another branch"),
        Example(before="if a:\n    f()\nelif b:\n    g()\n", refused="another branch"),
        Example(before="if x := a():\n    f(x)\n", refused="binds a name"),
    )

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        for node in module.nodes(cst.If):
            start, end = module.span(node)
            if node.orelse is not None or isinstance(module.parent(node), cst.If):
                yield SiteRefused(start, "there is another branch")
            elif context.effects.of(node.test).writes:
                yield SiteRefused(start, "the condition binds a name that the body may need")
            else:
                description = f"removed the condition `{quote(module, node.test)}`; the guarded code stays"
                yield Site((start, end), description, tuple(_unguard(module, node)))


def _unguard(module: Module, node: cst.If) -> list[Edit]:
    start = module.start(node)
    body = node.body
    if not isinstance(body, cst.IndentedBlock):
        return [replace(start, module.start(cst.ensure_type(body, cst.SimpleStatementSuite).body[0]), "")]
    first = module.end(body.header)
    indented = len(module.data[first:]) - len(module.data[first:].lstrip(b" \t\f"))
    base = module.indentation(node)
    end = module.suite(body)[1]
    lines = dedenting(module, first, end, base, block_indent(module, body))
    return [replace(start, first + indented, ""), *(edit for edit in lines if edit.start >= first + indented)]
