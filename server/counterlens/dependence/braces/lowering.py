"""Lowers the statements of a language with braces to a control-flow graph.

Rules:

- `if`, `while` and `for` are branches; the first and last part of a `for` are separate nodes. The condition
  of a `do` is at its end.
- A loop without a condition, or with a constant true one, is a branch like any other for control dependence;
  data leaves it only by `break`.
- `switch` is one branch with many successors: the statements of a case depend on the `switch`. A case without
  `break` falls through to the next one; a case with an arrow does not.
- A jump with a label ends at the statement with that label.
- A call in `Calls.terminators` as a separate statement ends the function.

Approximations: every condition may be true or false; calls return.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from tree_sitter import Node

from counterlens.dependence.braces.reading import Blocks, BraceReading, Syntax, without_brackets
from counterlens.dependence.braces.statements import (
    BraceStatements,
    case_body,
    flat,
    for_parts,
    statement_after_label,
)
from counterlens.dependence.cfg import ENTRY, EXIT, Arc, ControlFlowGraph, Loose
from counterlens.dependence.effects import Effects, Rules
from counterlens.dependence.layout import FlowLayout, Jump, Loop
from counterlens.syntax.definitions import text_of

LowerStatement = Callable[[Any, Node, Loose], Loose]
"""Lowers a statement at the end of loose arcs, and returns the loose arcs after it."""

_ALWAYS = frozenset({"true", "1"})
_ARROW = "switch_rule"
_CASES = frozenset({_ARROW, "switch_block_statement_group", "case_statement"})
_LOOPS = frozenset({"while_statement", "do_statement", "for_statement", "enhanced_for_statement"})


class BraceLayout(FlowLayout[Node]):
    """The lowering of one function to a control-flow graph.

    Attributes:
        blocks: The variables in scope at the current statement.
        labels: The labels directly before the current loop.
        lowerings: Lowering functions by node type; other statements are one node each.
        raising: Types of expressions that may raise.
    """

    lowerings: ClassVar[Mapping[str, LowerStatement]] = {}
    raising: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, statements: BraceStatements, syntax: Syntax, rules: Rules) -> None:
        super().__init__(statements.header, rules)
        self.blocks = Blocks()
        self.syntax = syntax
        self._number = statements.number
        self.labels: frozenset[str] = frozenset()

    def function(self, node: Node) -> ControlFlowGraph:
        """Lower a whole function."""
        self.graph.effects[ENTRY] = self.parameters(node)
        loose = self.body(flat(node.child_by_field_name("body")), [(ENTRY, Arc.NEXT)])
        self.graph.connect(loose, EXIT)
        return self.graph

    def parameters(self, function: Node) -> Effects:
        """The effects of a function's header."""
        raise NotImplementedError

    def reading(self) -> BraceReading:
        """The reader of the current statement's parts."""
        return BraceReading(self.syntax, self.blocks)

    def read(self, *nodes: Node | None) -> Effects:
        """The effects of evaluating parts of the current statement in sequence."""
        return self.reading().all(*nodes)

    def lower_statement(self, statement: Node, loose: Loose) -> Loose:
        lower = self.lowerings.get(statement.type)
        if lower is not None:
            return lower(self, statement, loose)
        return [(self.node(statement, self.read(statement), loose), Arc.NEXT)]

    def inside(self, body: Node | None, loose: Loose) -> Loose:
        """Lower a body in a separate scope."""
        with self.blocks.block():
            return self.body(flat(body), loose)

    def node(self, statement: Node, effects: Effects | None, loose: Loose, *parts: Node | None) -> int:
        """Add a node at the end of loose arcs; `parts` are the evaluated parts of a compound statement."""
        raises = self.rules.implicit_exceptions and any(
            self.may_raise(part) for part in (parts or (statement,)) if part is not None
        )
        return self.add(self._number[statement.id], effects, loose, raises=raises)

    def may_raise(self, node: Node) -> bool:
        """Whether evaluating a node may raise."""
        stack = [node]
        while stack:
            part = stack.pop()
            if part.type in self.raising:
                return True
            if part.type not in {"lambda_expression", "class_body"}:
                stack += part.named_children
        return False

    def case(self, switch: Node, case: Node, head: int) -> Loose:  # noqa: ARG002 - for languages with patterns
        """The loose arcs from the head of a `switch` to a case."""
        return [(head, Arc.NEXT)]

    def loop(self) -> Loop:
        """The frame of the current loop, with the labels before it."""
        labels, self.labels = self.labels, frozenset()
        return Loop(labels=labels)

    def round(self, frame: Loop, body: Node | None, loose: Loose) -> Loose:
        """Lower the body of a loop; returns the loose arcs at the end of an iteration."""
        self.frames.append(frame)
        ends = self.inside(body, loose)
        self.frames.pop()
        return ends + frame.continues

    def left(self, head: int, frame: Loop, *, endless: bool) -> Loose:
        """The loose arcs that leave a loop."""
        if not endless:
            return [(head, Arc.FALSE), *frame.breaks]
        if frame.breaks:
            return [*frame.breaks, (head, Arc.PHANTOM)]
        self.never_left(head)
        return []


def always(condition: Node | None) -> bool:
    """Whether a loop's condition is missing or constantly true."""
    return condition is None or text_of(without_brackets(condition)) in _ALWAYS


def _block(lower: BraceLayout, statement: Node, loose: Loose) -> Loose:
    return lower.inside(statement, loose)


def _if(lower: BraceLayout, statement: Node, loose: Loose) -> Loose:
    ends: Loose = []
    while True:  # a loop, because a chain of `else if` may exceed Python's recursion limit
        condition = statement.child_by_field_name("condition")
        node = lower.node(statement, lower.read(condition), loose, condition)
        ends += lower.inside(statement.child_by_field_name("consequence"), [(node, Arc.TRUE)])
        loose = [(node, Arc.FALSE)]
        otherwise = flat(statement.child_by_field_name("alternative"))
        if len(otherwise) != 1 or otherwise[0].type != "if_statement":
            return ends + lower.inside(statement.child_by_field_name("alternative"), loose)
        statement = otherwise[0]


def _while(lower: BraceLayout, statement: Node, loose: Loose) -> Loose:
    frame = lower.loop()
    condition = statement.child_by_field_name("condition")
    head = lower.node(statement, lower.read(condition), loose, condition)
    ends = lower.round(frame, statement.child_by_field_name("body"), [(head, Arc.TRUE)])
    lower.graph.connect(ends, head)
    return lower.left(head, frame, endless=always(condition))


def _do(lower: BraceLayout, statement: Node, loose: Loose) -> Loose:
    frame = lower.loop()
    start = lower.unseen(None, loose)
    ends = lower.round(frame, statement.child_by_field_name("body"), [(start, Arc.NEXT)])
    condition = statement.child_by_field_name("condition")
    head = lower.node(statement, lower.read(condition), ends, condition)
    lower.graph.connect([(head, Arc.TRUE)], start)
    if not ends:  # the condition is unreachable
        lower.graph.connect([(head, Arc.PHANTOM)], EXIT)
        return frame.breaks
    return lower.left(head, frame, endless=always(condition))


def _for(lower: BraceLayout, statement: Node, loose: Loose) -> Loose:
    frame = lower.loop()
    first, condition, again = for_parts(statement)
    with lower.blocks.block():
        for part in first:
            loose = [(lower.node(part, lower.read(part), loose), Arc.NEXT)]
        head = lower.node(statement, lower.read(condition), loose, condition)
        ends = lower.round(frame, statement.child_by_field_name("body"), [(head, Arc.TRUE)])
        for part in again:
            ends = [(lower.node(part, lower.read(part), ends), Arc.NEXT)]
    if not again or ends:
        lower.graph.connect(ends, head)
    return lower.left(head, frame, endless=always(condition))


def _switch(lower: BraceLayout, statement: Node, loose: Loose) -> Loose:
    condition = statement.child_by_field_name("condition")
    head = lower.node(statement, lower.read(condition), loose, condition)
    frame = Loop(plain=frozenset({Jump.BREAK}))
    lower.frames.append(frame)
    body = statement.child_by_field_name("body")
    cases = [child for child in body.named_children if child.type in _CASES] if body is not None else []
    through: Loose = []  # the arcs that fall through from the previous case
    with lower.blocks.block():
        for case in cases:
            ends = lower.body(case_body(case), lower.case(statement, case, head) + through)
            through = [] if case.type == _ARROW else ends
            if case.type == _ARROW:
                frame.breaks += ends
    lower.frames.pop()
    past: Loose = [] if any(_is_default(case) for case in cases) else [(head, Arc.NEXT)]
    return through + frame.breaks + past


def _is_default(case: Node) -> bool:
    label = case.named_children[0] if case.type != "case_statement" and case.named_child_count else case
    return any(child.type == "default" for child in label.children)


def _lower_label(lower: BraceLayout, statement: Node, loose: Loose) -> Loose:
    label, inside = text_of(statement.named_children[0]), statement_after_label(statement)
    if inside and (inside[0].type in _LOOPS or inside[0].type == statement.type):
        lower.labels |= {label}
        return lower.body(inside, loose)
    frame = Loop(labels=lower.labels | {label}, plain=frozenset())
    lower.labels = frozenset()
    lower.frames.append(frame)
    ends = lower.body(inside, loose)
    lower.frames.pop()
    return ends + frame.breaks


def _expression(lower: BraceLayout, statement: Node, loose: Loose) -> Loose:
    node = lower.node(statement, lower.read(statement), loose)
    called = text_of(statement.named_children[0]).partition("(")[0].strip()
    if called in lower.syntax.calls.terminators:
        lower.graph.connect([(node, Arc.NEXT)], EXIT)
        return []
    return [(node, Arc.NEXT)]


def _return(lower: BraceLayout, statement: Node, loose: Loose) -> Loose:
    lower.jump(Jump.RETURN, [(lower.node(statement, lower.read(statement), loose), Arc.NEXT)])
    return []


def _break(lower: BraceLayout, statement: Node, loose: Loose) -> Loose:
    lower.jump(Jump.BREAK, [(lower.node(statement, None, loose), Arc.NEXT)], label=_label(statement))
    return []


def _continue(lower: BraceLayout, statement: Node, loose: Loose) -> Loose:
    lower.jump(Jump.CONTINUE, [(lower.node(statement, None, loose), Arc.NEXT)], label=_label(statement))
    return []


def _label(statement: Node) -> str:
    named = [child for child in statement.named_children if child.type == "identifier"]
    return text_of(named[0]) if named else ""


COMMON: dict[str, LowerStatement] = {
    "block": _block,
    "compound_statement": _block,
    "if_statement": _if,
    "while_statement": _while,
    "do_statement": _do,
    "for_statement": _for,
    "labeled_statement": _lower_label,
    "expression_statement": _expression,
    "return_statement": _return,
    "break_statement": _break,
    "continue_statement": _continue,
    "switch_statement": _switch,
    "switch_expression": _switch,
}
