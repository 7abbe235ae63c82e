"""The examined function: its text, and the positions of its statements and names.

Rules:

- The text is the function's own, from its first decorator to its last line, indented as in the file; line
  ends are single newlines.
- A compound statement is its header; a nested function or class is all of its text, because its body is not
  a statement of the function.
- A statement binds the names that it stores to, parameters, imports, exception and capture names; and,
  because objects are mutable, the variables at the root of a stored attribute or subscript and of the
  receiver of a method called for its effect (`x.append(v)` as a statement). This follows from the syntax
  alone: no analysis could leak the answer. `python_parts.py` implements it for Python.

The statements of an examined Java method: their positions, and the variables in them.

Rules, besides those of `examined.py`:

- The three parts of a `for` are separate statements, so its header only has the names of the condition.
- `x++` and `x += v` read `x` and bind it; a declaration without a value binds nothing.
- `this.x` is the variable `x`; a field of any other object is a part of that object.
- A capitalised name before a dot (`Math.max`) that the method does not declare is not a variable; neither are
  the variables declared by a lambda or a nested class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tree_sitter import Node

from counterlens.dependence import MODULE, Dependences, Kind, Statement
from counterlens.dependence.braces.reading import unbracketed
from counterlens.dependence.braces.statements import header_of
from counterlens.dependence.java.expressions import declared_in
from counterlens.errors import SourceError
from counterlens.probes.dependence.parts import NameOccurrence, NameRole, Part, Span, StatementPair
from counterlens.probes.dependence.python_parts import PythonPartReader
from counterlens.syntax.definitions import text_of

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


class Relation(StrEnum):
    """The kinds of dependences: the two that Nguyen et al. 2024 and CoRe ask about."""

    CONTROL = "control"
    DATA = "data"


@dataclass(frozen=True)
class ExaminedFunction:
    """A function to be examined.

    Attributes:
        dependences: The result of its analysis.
        data: Its text, UTF-8.
        parts: Its statements, by their id.
        starts: The offset of each line of the file, in bytes of the text; negative before it.
    """

    dependences: Dependences
    data: bytes
    parts: tuple[Part, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, found: Dependences) -> ExaminedFunction:
        """Read a function.

        Raises:
            SourceError: it has no statements.
        """
        require_statements(found)
        lines = _lines(found.source)
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        first, last = _range(found) or (0, len(lines))
        data = b"".join(lines[first:last]).rstrip(b"\n")
        offsets = tuple(start - starts[first] for start in starts)
        return cls(found, data, tuple(_parts(found, data, offsets)), offsets)

    def span(self, node: ast.expr) -> Span:
        """The bytes of an expression."""
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def node_span(self, node: Node) -> Span:
        """The bytes of a node in a brace language's syntax tree."""
        start, end = node.start_point, node.end_point
        return self.starts[start.row] + start.column, self.starts[end.row] + end.column

    def indentation(self, part: Part) -> str:
        """The indentation of a statement's line."""
        line = self.data[self.data.rfind(b"\n", 0, part.span[0]) + 1 : part.span[0]].decode()
        return line[: len(line) - len(line.lstrip())]

    def line_of(self, part: Part) -> Span:
        """The bytes of a statement, with the line break and indentation before it if it starts its line."""
        start, end = part.span
        line = self.data.rfind(b"\n", 0, start)
        blank = not self.data[max(line, 0) : start].strip()
        return (max(line, 0) if blank else start), end

    @property
    def language(self) -> str:
        """The id of its language."""
        return self.dependences.language

    @property
    def text(self) -> str:
        """Its text."""
        return self.data.decode()


def require_statements(found: Dependences) -> None:
    """Refuse a function without statements.

    Raises:
        SourceError: it has no statements.
    """
    if not found.statements:
        raise SourceError(f"{found.function} has no statements, so it has no dependences")


def _range(found: Dependences) -> tuple[int, int] | None:
    """The first line of a function, from 0, and the one after its last; None for all of the source."""
    if found.function == MODULE:
        return None
    if found.nodes:
        return found.nodes[0].start_point.row, found.nodes[0].end_point.row + 1
    node = found.syntax[0]
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1  # type: ignore[attr-defined]
    return first, node.end_lineno  # type: ignore[attr-defined]


def _parts(found: Dependences, data: bytes, starts: tuple[int, ...]) -> Iterator[Part]:
    if found.nodes:
        return BracePartReader(found.nodes, starts).parts(found.statements)
    reader = PythonPartReader(data, starts)
    return (reader.part(*each) for each in zip(found.statements, found.syntax, strict=True))


def true_edges(subject: ExaminedFunction, relation: Relation) -> dict[StatementPair, tuple[str, ...]]:
    """The edges of the dependence graph, in order, with the variables of data dependences."""
    return edges_of(subject.dependences, relation)


def edges_of(dependences: Dependences, relation: Relation) -> dict[StatementPair, tuple[str, ...]]:
    """The edges of a dependence graph in any language, in order, with the variables of data dependences."""
    found: dict[StatementPair, set[str]] = {}
    for edge in dependences.edges:
        if (edge.kind is Kind.CONTROL) == (relation is Relation.CONTROL):
            found.setdefault((edge.source, edge.target), set()).update({edge.variable} - {""})
    return {pair: tuple(sorted(names)) for pair, names in sorted(found.items())}


def _lines(text: str) -> list[bytes]:
    data = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace")
    return [line + b"\n" for line in data.split(b"\n")]


class BracePartReader:
    """Locates statements and names in the text.

    Args:
        nodes: The node of each statement.
        starts: The offset of each line of the file, in bytes of the text.
    """

    def __init__(self, nodes: Sequence[Node], starts: Sequence[int]) -> None:
        self._nodes, self._starts = nodes, starts
        self._statements = frozenset(node.id for node in nodes)
        self._declared = frozenset(text_of(name) for name in declared_in(nodes[0]))

    def parts(self, statements: Sequence[Statement]) -> Iterator[Part]:
        """All statements."""
        for statement, node in zip(statements, self._nodes, strict=True):
            first = header_of(node).start_point
            start = self._starts[first.row] + first.column
            span = start, start + len(statement.text.encode())
            found = sorted(set(self._occurrences(node)), key=lambda one: (one.span, one.role))
            yield Part(statement, node, span, tuple(found), branch=node.type in _BRANCHES)

    def _span(self, node: Node) -> Span:
        start, end = node.start_point, node.end_point
        return self._starts[start.row] + start.column, self._starts[end.row] + end.column

    def _occurrence(self, node: Node | None, role: NameRole) -> Iterator[NameOccurrence]:
        if node is not None and node.type == "identifier":
            yield NameOccurrence(text_of(node), self._span(node), role)

    def _occurrences(self, statement: Node) -> Iterator[NameOccurrence]:
        if statement.type in _CLASSES:
            yield from self._occurrence(statement.child_by_field_name("name"), NameRole.BOUND)
            return
        changed = {root.id for root in _changed(statement)}
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
        target = unbracketed(node.child_by_field_name("left") or inside[-1])
        bound = [target] if target.type == "identifier" else _fields(target)
        if text_of(node.child_by_field_name("operator")) == "=":
            inside = [child for child in inside if unbracketed(child) != target or not bound]
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


def _changed(statement: Node) -> Iterator[Node]:
    """The names, and fields of `this`, whose objects a statement changes."""
    if statement.type == "expression_statement" and statement.named_children[0].type == "method_invocation":
        receiver = statement.named_children[0].child_by_field_name("object")
        if receiver is not None:
            yield _root(receiver)
    stack = [statement]
    while stack:
        node = stack.pop()
        if node.type in {"assignment_expression", "update_expression"}:
            target = unbracketed(node.child_by_field_name("left") or node.named_children[-1])
            if target.type in _PARTS and _of_this(target) is None:
                yield _root(target)
        stack += node.named_children


def _root(node: Node) -> Node:
    """The variable, or the field of `this`, that an expression is a part of."""
    node = unbracketed(node)
    while node.type in _PARTS and _of_this(node) is None:
        inner = node.child_by_field_name(_PARTS[node.type])
        if inner is None:
            return node
        node = unbracketed(inner)
    return node
