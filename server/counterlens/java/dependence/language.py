"""The dependence analysis of Java: its statements, lowered to a control-flow graph.

Rules (in common with C: `braces/lowering.py`; for `try`: `protected.py`):

- A `for` over elements evaluates the iterable, takes the next element or leaves, and binds the variable.
- `try` binds its resources at its header. `throw` goes to the clause that catches its exception's class by
  name; `Throwable` catches everything, `Exception` everything whose name does not end in `Error`.
- `assert` branches to the next statement and to the handler of an `AssertionError`.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from tree_sitter import Node

from counterlens.dependence.braces.lowering import COMMON, BraceLayout, LowerStatement
from counterlens.dependence.braces.program import BraceLanguage
from counterlens.dependence.braces.reading import BraceReading
from counterlens.dependence.braces.statements import flat
from counterlens.dependence.cfg import Arc, Loose
from counterlens.dependence.effects import Effects
from counterlens.dependence.layout import Finally, Jump
from counterlens.dependence.protected import Clause, at_last, lower_protected
from counterlens.java.dependence.expressions import SYNTAX, JavaReading
from counterlens.java.syntax import escape_that_is_syntax, java_definitions
from counterlens.syntax.definitions import text_of

_PARAMETER = "catch_formal_parameter"


class JavaLayout(BraceLayout):
    """The lowering of one method to a control-flow graph."""

    raising: ClassVar[frozenset[str]] = frozenset(
        {
            *("method_invocation", "object_creation_expression", "array_access", "field_access"),
            *("cast_expression", "array_creation_expression", "throw_statement", "assert_statement"),
            *("enhanced_for_statement", "explicit_constructor_invocation", "catch_clause"),
        }
    )

    def reading(self) -> BraceReading:
        return JavaReading(self.syntax, self.blocks)

    def parameters(self, function: Node) -> Effects:
        effects = Effects()
        listed = function.child_by_field_name("parameters")
        for parameter in listed.named_children if listed is not None else ():
            name = parameter.child_by_field_name("name")
            for child in parameter.named_children:
                if child.type == "variable_declarator":  # in `int... numbers`
                    name = child.child_by_field_name("name")
            if name is not None:
                effects.strong.add(self.blocks.declare(name))
        return effects

    def caught(self, exception: str | None, catches: frozenset[str]) -> bool:
        if "*" in catches or exception in catches:
            return True
        return "Exception" in catches and exception is not None and not exception.endswith("Error")

    def case(self, switch: Node, case: Node, head: int) -> Loose:
        label = case.named_children[0]
        if not any(part.type in {"pattern", "guard"} for part in label.named_children):
            return [(head, Arc.NEXT)]
        matched = self.node(switch, self.read(*label.named_children), [(head, Arc.NEXT)], label)
        return [(matched, Arc.NEXT)]


def _each(lower: JavaLayout, statement: Node, loose: Loose) -> Loose:
    frame = lower.loop()
    value, name = statement.child_by_field_name("value"), statement.child_by_field_name("name")
    iterable = lower.node(statement, lower.read(value), loose)
    again = Effects()
    gone_through = lower.reading().place(value) if value is not None else None
    if gone_through is not None:
        again.parts.add(gone_through)
    head = lower.node(statement, again, [(iterable, Arc.NEXT)])
    with lower.blocks.block():
        bound = Effects(strong={lower.blocks.declare(name)}) if name is not None else None
        entered = lower.node(statement, bound, [(head, Arc.TRUE)])
        ends = lower.round(frame, statement.child_by_field_name("body"), [(entered, Arc.NEXT)])
    lower.graph.connect(ends, head)
    return lower.left(head, frame, endless=False)


def _throw(lower: JavaLayout, statement: Node, loose: Loose) -> Loose:
    node = lower.node(statement, lower.read(statement), loose)
    made = statement.named_children[0]
    name = made.child_by_field_name("type") if made.type == "object_creation_expression" else None
    exception = text_of(name).rpartition(".")[2] if name is not None else None
    lower.jump(Jump.RAISE, [(node, Arc.NEXT)], exception)
    return []


def _assert(lower: JavaLayout, statement: Node, loose: Loose) -> Loose:
    node = lower.node(statement, lower.read(statement), loose)
    lower.jump(Jump.RAISE, [(node, Arc.FALSE)], "AssertionError")
    return [(node, Arc.TRUE)]


def _lower_synchronized(lower: JavaLayout, statement: Node, loose: Loose) -> Loose:
    on = next((child for child in statement.named_children if child.type == "parenthesized_expression"), None)
    node = lower.node(statement, lower.read(on), loose, on)
    return lower.inside(statement.child_by_field_name("body"), [(node, Arc.NEXT)])


def _local_class(lower: JavaLayout, statement: Node, loose: Loose) -> Loose:
    name = statement.child_by_field_name("name")
    effects = lower.read(statement)
    if name is not None:
        effects.strong.add(lower.blocks.declare(name))
    return [(lower.node(statement, effects, loose), Arc.NEXT)]


def _try(lower: JavaLayout, statement: Node, loose: Loose) -> Loose:
    resources = statement.child_by_field_name("resources")
    clauses = [child for child in statement.named_children if child.type == "catch_clause"]
    last = next((child for child in statement.named_children if child.type == "finally_clause"), None)
    frame = Finally()
    with lower.blocks.block():
        start = lower.node(statement, lower.read(resources), loose, resources)
        frame.risky.append((start, Arc.RAISED))
        if last is not None:
            lower.frames.append(frame)
        body = [node for node in (statement.child_by_field_name("body"),) if node is not None]
        loose = [(start, Arc.NEXT)]
        if clauses:
            handlers = [Clause(_catches(each), partial(_catch, lower, each)) for each in clauses]
            loose = lower_protected(lower, body, handlers, (), loose)
        else:
            loose = lower.body(body, loose)
    if last is not None:
        lower.frames.pop()
        with lower.blocks.block():
            loose = at_last(lower, flat(last), loose, frame)
    return loose


def _catch(lower: JavaLayout, clause: Node, chain: Loose) -> tuple[Loose, Loose]:
    """Lower a clause; returns the loose arcs after it, and those if it did not match."""
    name = next(
        (child.child_by_field_name("name") for child in clause.named_children if child.type == _PARAMETER),
        None,
    )
    test = lower.node(clause, None, chain)
    matched: Loose = [(test, Arc.NEXT if "*" in _catches(clause) else Arc.TRUE)]
    chain = [] if "*" in _catches(clause) else [(test, Arc.FALSE)]
    with lower.blocks.block():
        bound = Effects(strong={lower.blocks.declare(name)}) if name is not None else None
        entered = lower.node(clause, bound, matched)
        return lower.inside(clause.child_by_field_name("body"), [(entered, Arc.NEXT)]), chain


def _catches(clause: Node) -> frozenset[str]:
    """The classes that a clause catches, by the last part of their names."""
    parameter = next((child for child in clause.named_children if child.type == _PARAMETER), None)
    kinds = [child for child in parameter.named_children if child.type == "catch_type"] if parameter else []
    names = {text_of(kind).rpartition(".")[2] for each in kinds for kind in each.named_children}
    return frozenset(names | {"*"}) if "Throwable" in names else frozenset(names)


_LOWERINGS: dict[str, LowerStatement] = {
    **COMMON,
    "enhanced_for_statement": _each,
    "throw_statement": _throw,
    "assert_statement": _assert,
    "synchronized_statement": _lower_synchronized,
    "try_statement": _try,
    "try_with_resources_statement": _try,
    **dict.fromkeys(
        ("class_declaration", "record_declaration", "interface_declaration", "enum_declaration"), _local_class
    ),
}
JavaLayout.lowerings = _LOWERINGS


JAVA = BraceLanguage("java", java_definitions, JavaLayout, SYNTAX, unreadable=escape_that_is_syntax).analysed
