"""The statements of an examined Java method, and changes after which the following text can stay unchanged.

Rules for the variables in a statement, besides those of `examined.py`:

- The three parts of a `for` are separate statements, so its header only has the names of the condition.
- `x++` and `x += v` read `x` and bind it; a declaration without a value binds nothing.
- `this.x` is the variable `x`; a field of any other object is a part of that object.
- A capitalised name before a dot (`Math.max`) that the method does not declare is not a variable; neither are
  the variables declared by a lambda or a nested class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from counterlens.dependence import Dependences, Statement
from counterlens.dependence.braces.reading import without_brackets
from counterlens.dependence.braces.statements import for_parts, header_of
from counterlens.java.dependence.expressions import declared_in
from counterlens.probes.dependence.examined import (
    ExaminedFunction,
    ExaminedLanguage,
    Intervention,
    NameOccurrence,
    NameRole,
    Part,
    Span,
    StatementEdits,
)
from counterlens.syntax.definitions import text_of

_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_TIGHT = frozenset({"identifier", "method_invocation", "field_access", "array_access", "true", "false"})
_DECIDING = frozenset({"if_statement", "while_statement", "for_statement", "enhanced_for_statement"})
_BRANCHES = frozenset(
    {
        *("if_statement", "while_statement", "do_statement", "for_statement", "enhanced_for_statement"),
        *("switch_expression", "catch_clause"),
    }
)
_CLASSES = frozenset({"class_declaration", "record_declaration", "interface_declaration", "enum_declaration"})
_NAMED = {"method_invocation": "name", "method_declaration": "name", "field_access": "field"}
"""Nodes with a name that is not a variable."""
_SILENT = frozenset(
    {
        *("modifiers", "annotation", "marker_annotation", "break_statement", "continue_statement"),
        *("scoped_type_identifier", "scoped_identifier", "throws", "line_comment", "block_comment"),
    }
)
_BINDING = frozenset(
    {
        *("formal_parameter", "catch_formal_parameter", "enhanced_for_statement", "instanceof_expression"),
        *("resource", "variable_declarator"),
    }
)
_PARTS = {"array_access": "array", "field_access": "object"}


def negate(subject: ExaminedFunction, part: Part) -> StatementEdits:
    """Negate a condition; make a loop over elements empty."""
    node = part.node
    if not isinstance(node, Node) or node.type not in _DECIDING:
        return
    if node.type == "enhanced_for_statement":
        value = node.child_by_field_name("value")
        if value is not None:
            yield span_of(value, subject.starts), "List.of()"
        return
    test = for_parts(node)[1] if node.type == "for_statement" else node.child_by_field_name("condition")
    if test is not None:
        inner = without_brackets(test)
        yield span_of(inner, subject.starts), negated(inner)


def neutralise(_subject: ExaminedFunction, part: Part) -> StatementEdits:
    """Replace a branch's header by one that decides nothing."""
    if isinstance(part.node, Node) and part.node.type in _DECIDING:
        yield part.span, "synchronized (lock)"


def negated(test: Node) -> str:
    """The source of the negation of a condition; comparisons with NaN aside."""
    text = text_of(test)
    if test.type == "unary_expression" and text_of(test.child_by_field_name("operator")) == "!":
        operand = test.child_by_field_name("operand")
        return text_of(None if operand is None else without_brackets(operand))
    opposite = _OPPOSITE.get(text_of(test.child_by_field_name("operator")))
    if test.type == "binary_expression" and opposite is not None:
        left, right = (text_of(test.child_by_field_name(side)) for side in ("left", "right"))
        return f"{left} {opposite} {right}"
    return f"!{text}" if test.type in _TIGHT else f"!({text})"


INTERVENTIONS = {
    Intervention.NEGATE: negate,
    Intervention.NEUTRALISE: neutralise,
}


class _PartReader:
    """Locates statements and names in the text.

    Args:
        starts: The offset of each line of the file, in bytes of the text.
    """

    def __init__(self, nodes: Sequence[Node], starts: Sequence[int]) -> None:
        self._nodes, self._starts = nodes, starts
        self._statements = frozenset(node.id for node in nodes)
        self._declared = frozenset(text_of(name) for name in declared_in(nodes[0]))

    def part(self, statement: Statement, node: Node) -> Part:
        """One statement."""
        first = header_of(node).start_point
        start = self._starts[first.row] + first.column
        span = start, start + len(statement.text.encode())
        occurrences = sorted(set(self._occurrences(node)), key=lambda name: (name.span, name.role))
        return Part(statement, node, span, tuple(occurrences), branch=node.type in _BRANCHES)

    def _occurrence(self, node: Node | None, role: NameRole) -> Iterator[NameOccurrence]:
        if node is not None and node.type == "identifier":
            yield NameOccurrence(text_of(node), span_of(node, self._starts), role)

    def _occurrences(self, statement: Node) -> Iterator[NameOccurrence]:
        if statement.type in _CLASSES:
            yield from self._occurrence(statement.child_by_field_name("name"), NameRole.BOUND)
            return
        changed = {root.id for root in _changed_names(statement)}
        stack: list[tuple[Node, frozenset[str]]] = [(statement, frozenset())]
        while stack:
            node, hidden = stack.pop()
            if node.type in _SILENT or (node.id in self._statements and node != statement):
                continue
            if node.type == "identifier":
                if text_of(node) not in hidden and not self._is_class(node):
                    role = NameRole.CHANGED if node.id in changed else NameRole.READ
                    yield from self._occurrence(node, role)
                continue
            if node.type in {"lambda_expression", "class_body"}:
                hidden |= {text_of(name) for name in declared_in(node)}
            inside, bound = _split(node)
            for name in bound:
                if text_of(name) not in hidden:
                    yield from self._occurrence(name, NameRole.BOUND)
            if (field := _of_this(node)) is not None:
                role = NameRole.CHANGED if node.id in changed else NameRole.READ
                yield from self._occurrence(field, role)
            stack += [(child, hidden) for child in inside]

    def _is_class(self, node: Node) -> bool:
        """Whether a name before a dot is capitalised like a class, and not declared by the method."""
        above, name = node.parent, text_of(node)
        if above is None or name in self._declared or not name[:1].isupper() or name.isupper():
            return False
        first = above.named_children[0] if above.named_children else None
        return above.type in {"method_invocation", "field_access", "method_reference"} and node == first


def _split(node: Node) -> tuple[list[Node], list[Node]]:
    """The parts of a node that are read or searched further, and the names that it binds."""
    inside = list(node.named_children)
    bound: list[Node] = []
    if node.type in _NAMED:
        name = node.child_by_field_name(_NAMED[node.type])
        inside = [child for child in inside if child != name]
    elif node.type in _BINDING:
        name = node.child_by_field_name("name")
        valued = node.type != "variable_declarator" or node.child_by_field_name("value") is not None
        parameter = node.parent is not None and node.parent.type == "spread_parameter"
        inside = [child for child in inside if child != name]
        bound = [name] if name is not None and (valued or parameter) else []
    elif node.type in {"type_pattern", "record_pattern_component"}:
        bound = [child for child in inside[-1:] if child.type == "identifier"]
        inside = []
    elif node.type in {"assignment_expression", "update_expression"}:
        target = without_brackets(node.child_by_field_name("left") or inside[-1])
        bound = [target] if target.type == "identifier" else _fields(target)
        if text_of(node.child_by_field_name("operator")) == "=":
            inside = [child for child in inside if without_brackets(child) != target or not bound]
    elif node.type in {"method_reference", "labeled_statement"}:
        inside = [child for child in inside if child.type != "identifier" or child == _object(node)]
    elif node.type == "switch_label":
        inside = [child for child in inside if child.type in {"pattern", "guard"}]
    return inside, bound


def _object(node: Node) -> Node | None:
    """The receiver of a method reference, if it has a name."""
    return node.named_children[0] if node.type == "method_reference" else None


def _of_this(node: Node) -> Node | None:
    """The field in `this.x`."""
    value = node.child_by_field_name("object") if node.type == "field_access" else None
    return node.child_by_field_name("field") if value is not None and value.type == "this" else None


def _fields(target: Node) -> list[Node]:
    field = _of_this(target)
    return [] if field is None else [field]


def _changed_names(statement: Node) -> Iterator[Node]:
    """The names, and fields of `this`, whose objects a statement changes."""
    if statement.type == "expression_statement" and statement.named_children[0].type == "method_invocation":
        receiver = statement.named_children[0].child_by_field_name("object")
        if receiver is not None:
            yield _root(receiver)
    stack = [statement]
    while stack:
        node = stack.pop()
        if node.type in {"assignment_expression", "update_expression"}:
            target = without_brackets(node.child_by_field_name("left") or node.named_children[-1])
            if target.type in _PARTS and _of_this(target) is None:
                yield _root(target)
        stack += node.named_children


def _root(node: Node) -> Node:
    """The variable, or the field of `this`, that an expression is a part of."""
    node = without_brackets(node)
    while node.type in _PARTS and _of_this(node) is None:
        inner = node.child_by_field_name(_PARTS[node.type])
        if inner is None:
            return node
        node = without_brackets(inner)
    return node


def span_of(node: Node, starts: Sequence[int]) -> Span:
    """The bytes of a node in the text of a function, by the offsets of the file's lines."""
    start, end = node.start_point, node.end_point
    return starts[start.row] + start.column, starts[end.row] + end.column


def _lines(function: Node) -> tuple[int, int]:
    return function.start_point.row, function.end_point.row + 1


def _parts(dependences: Dependences, _data: bytes, starts: tuple[int, ...]) -> Iterator[Part]:
    reader = _PartReader(dependences.nodes, starts)
    return map(reader.part, dependences.statements, dependences.nodes)


EXAMINED = ExaminedLanguage(_lines, _parts)
