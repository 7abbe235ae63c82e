"""The local variables and parameters of a Java file, and the names that refer to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from tree_sitter import Node

from counterlens.syntax.definitions import text_of

_OPENING = {
    "block",
    "constructor_body",
    "switch_block",
    "switch_rule",
    "for_statement",
    "catch_clause",
    "method_declaration",
    "constructor_declaration",
    "compact_constructor_declaration",
    "static_initializer",
}
_BODIES = {"class_body", "interface_body", "enum_body", "annotation_type_body"}
_NAMED_PARTS = {
    "method_invocation": ("name",),
    "field_access": ("field",),
    "method_declaration": ("name",),
    "constructor_declaration": ("name",),
    "compact_constructor_declaration": ("name",),
    "class_declaration": ("name",),
    "interface_declaration": ("name",),
    "enum_declaration": ("name",),
    "record_declaration": ("name", "parameters"),
    "annotation_type_declaration": ("name",),
    "annotation_type_element_declaration": ("name",),
    "enum_constant": ("name",),
    "annotation": ("name",),
    "marker_annotation": ("name",),
    "element_value_pair": ("key",),
}
"""The fields of a node in which an identifier is not a variable."""
_NO_VARIABLES = {"package_declaration", "import_declaration", "break_statement", "continue_statement"}


class JavaKind(Enum):
    """The kind of a variable's declaration."""

    LOCAL = "local"
    PARAMETER = "parameter"
    LAMBDA = "lambda"
    LOOP = "loop"
    CATCH = "catch"
    RESOURCE = "resource"
    PATTERN = "pattern"


@dataclass(eq=False, slots=True)
class JavaVariable:
    """A local variable or parameter.

    Attributes:
        kind: The kind of its declaration.
        declared: The identifier of its declaration.
        type: The text of its declared type, with its dimensions; empty if it is inferred.
        value: Its initial value; for the variable of a loop over elements, the expression that is iterated.
        depth: Number of classes around its declaration.
        uses: The identifiers that refer to it, in source order, without its declaration.
        in_class: Whether a class inside its scope uses its name, which may be a field, own or inherited.
        in_label: Whether a `case` has its name, which may be an enum constant's.
    """

    name: str
    kind: JavaKind
    declared: Node
    type: str = ""
    value: Node | None = None
    depth: int = 0
    uses: list[Node] = field(default_factory=list)
    in_class: bool = False
    in_label: bool = False

    @property
    def occurrences(self) -> Iterator[Node]:
        """Its declaration and its uses."""
        yield self.declared
        yield from self.uses


class JavaScopes:
    """Resolves the identifiers of a file that are variables.

    A local variable of Java cannot be shadowed by another one except in a class inside its scope. The fields
    of such a class, its own and inherited ones, shadow it; a name there is not resolved.
    """

    def __init__(self, root: Node) -> None:
        self.variables: list[JavaVariable] = []
        self.free: list[Node] = []
        self._of: dict[int, JavaVariable] = {}
        self._may: dict[int, JavaVariable] = {}
        self.in_classes: set[str] = set()  # names of variables that also occur in a class inside their scope
        self._env: dict[str, JavaVariable] = {}
        self._depth = 0
        self._label = False
        self._walk(root)

    def variable(self, node: Node) -> JavaVariable | None:
        """The variable to which an identifier refers; None if it is not certainly a method's variable."""
        return self._of.get(node.id)

    def may_mean(self, node: Node) -> JavaVariable | None:
        """The variable to which an identifier refers, or may refer in a class inside the method."""
        return self._of.get(node.id) or self._may.get(node.id)

    def within(self, start: int, end: int) -> list[JavaVariable]:
        """The variables that are declared in a byte range, in source order."""
        return [variable for variable in self.variables if start <= variable.declared.start_byte < end]

    def free_names(self, start: int, end: int) -> set[str]:
        """The names in a byte range that are not local variables: fields, classes."""
        return {text_of(node) for node in self.free if start <= node.start_byte < end}

    # Walking

    def _walk(self, node: Node) -> None:
        special = _WALKERS.get(node.type)
        if special is not None:
            special(self, node)
        elif node.type in _OPENING:
            self._scoped(node)
        elif node.type in _BODIES:
            self._depth += 1
            self._scoped(node)
            self._depth -= 1
        elif node.type not in _NO_VARIABLES:
            self._children(node)

    def _children(self, node: Node, *skipped: Node | None) -> None:
        names = _NAMED_PARTS.get(node.type, ())
        left_out = {part.id for name in names if (part := node.child_by_field_name(name)) is not None}
        left_out |= {omitted.id for omitted in skipped if omitted is not None}
        for child in node.named_children:
            if child.id not in left_out:
                self._walk(child)

    def _scoped(self, node: Node, *skipped: Node | None) -> None:
        before = dict(self._env)
        self._children(node, *skipped)
        self._env = before

    def _declare(
        self, name: Node, kind: JavaKind, type_text: str = "", value: Node | None = None
    ) -> JavaVariable:
        variable = JavaVariable(text_of(name), kind, name, type_text, value, self._depth)
        self.variables.append(variable)
        self._env[variable.name] = variable
        self._of[name.id] = variable
        return variable

    def _identifier(self, node: Node) -> None:
        variable = self._env.get(text_of(node))
        if variable is None:
            self.free.append(node)
        elif variable.depth != self._depth:
            variable.in_class = True
            self.in_classes.add(variable.name)
            self._may[node.id] = variable
            self.free.append(node)
        else:
            variable.in_label = variable.in_label or self._label
            variable.uses.append(node)
            self._of[node.id] = variable

    def _locals(self, node: Node) -> None:
        type_node = node.child_by_field_name("type")
        for declarator in node.children_by_field_name("declarator"):
            name = declarator.child_by_field_name("name")
            if name is not None:
                value = declarator.child_by_field_name("value")
                type_text = _type_text(type_node, declarator.child_by_field_name("dimensions"))
                self._declare(name, JavaKind.LOCAL, type_text, value)
            self._children(declarator, name)

    def _field(self, node: Node) -> None:
        for declarator in node.children_by_field_name("declarator"):
            self._children(declarator, declarator.child_by_field_name("name"))

    def _parameter(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        in_lambda = self._lambda_around(node)
        if name is not None:
            type_text = _type_text(node.child_by_field_name("type"), node.child_by_field_name("dimensions"))
            self._declare(name, JavaKind.LAMBDA if in_lambda else JavaKind.PARAMETER, type_text)

    def _spread(self, node: Node) -> None:
        declarator = next(
            (child for child in node.named_children if child.type == "variable_declarator"), None
        )
        name = declarator.child_by_field_name("name") if declarator is not None else None
        kinds = [
            child for child in node.named_children if child.type not in {"modifiers", "variable_declarator"}
        ]
        if name is not None and kinds:
            self._declare(name, JavaKind.PARAMETER, f"{_type_text(kinds[0], None)}[]")

    @staticmethod
    def _lambda_around(node: Node) -> bool:
        above = node.parent
        return above is not None and above.parent is not None and above.parent.type == "lambda_expression"

    def _lambda(self, node: Node) -> None:
        before = dict(self._env)
        parameters = node.child_by_field_name("parameters")
        if parameters is not None and parameters.type == "identifier":
            self._declare(parameters, JavaKind.LAMBDA)
        elif parameters is not None and parameters.type == "inferred_parameters":
            for name in parameters.named_children:
                if name.type == "identifier":
                    self._declare(name, JavaKind.LAMBDA)
        elif parameters is not None:
            self._children(parameters)
        self._children(node, parameters)
        self._env = before

    def _each(self, node: Node) -> None:
        before = dict(self._env)
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        body = node.child_by_field_name("body")
        if value is not None:
            self._walk(value)
        if name is not None:
            type_text = _type_text(node.child_by_field_name("type"), node.child_by_field_name("dimensions"))
            self._declare(name, JavaKind.LOOP, type_text, value)
        if body is not None:
            self._walk(body)
        self._env = before

    def _try(self, node: Node) -> None:
        before = dict(self._env)
        resources, body = node.child_by_field_name("resources"), node.child_by_field_name("body")
        for part in (resources, body):
            if part is not None:
                self._walk(part)
        self._env = before
        self._children(node, resources, body)

    def _resource(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            self._children(node)
            return
        self._declare(name, JavaKind.RESOURCE, _type_text(node.child_by_field_name("type"), None), value)
        if value is not None:
            self._walk(value)

    def _caught(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self._declare(name, JavaKind.CATCH)

    def _instanceof(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        self._children(node, name)
        if name is not None:
            self._declare(name, JavaKind.PATTERN)

    def _component(self, node: Node) -> None:
        names = [child for child in node.named_children if child.type == "identifier"]
        for child in node.named_children:
            if child.type == "record_pattern":
                self._walk(child)
        if names:
            self._declare(names[-1], JavaKind.PATTERN)

    def _record_pattern(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "record_pattern_body":
                self._children(child)

    def _labelled(self, node: Node) -> None:
        self._children(node, node.named_children[0])

    def _reference(self, node: Node) -> None:
        first, *others = node.named_children
        self._walk(first)
        for other in others:
            if other.type == "type_arguments":
                self._walk(other)

    def _case(self, node: Node) -> None:
        before, self._label = self._label, True
        self._children(node)
        self._label = before


_WALKERS: dict[str, Callable[[JavaScopes, Node], None]] = {
    "identifier": JavaScopes._identifier,
    "local_variable_declaration": JavaScopes._locals,
    "field_declaration": JavaScopes._field,
    "constant_declaration": JavaScopes._field,
    "formal_parameter": JavaScopes._parameter,
    "spread_parameter": JavaScopes._spread,
    "lambda_expression": JavaScopes._lambda,
    "enhanced_for_statement": JavaScopes._each,
    "try_with_resources_statement": JavaScopes._try,
    "resource": JavaScopes._resource,
    "catch_formal_parameter": JavaScopes._caught,
    "instanceof_expression": JavaScopes._instanceof,
    "record_pattern_component": JavaScopes._component,
    "type_pattern": JavaScopes._component,
    "record_pattern": JavaScopes._record_pattern,
    "labeled_statement": JavaScopes._labelled,
    "method_reference": JavaScopes._reference,
    "switch_label": JavaScopes._case,
}


def _type_text(node: Node | None, dimensions: Node | None) -> str:
    """A type without unnecessary blanks; empty for `var`."""
    if node is None:
        return ""
    text = compact(text_of(node))
    return "" if text == "var" else text + (compact(text_of(dimensions)) if dimensions is not None else "")


def compact(text: str) -> str:
    """A type without blanks except those between words: `List<?extends A>`."""
    return re.sub(r"(?<!\w)\s+|\s+(?!\w)", "", text.strip())
