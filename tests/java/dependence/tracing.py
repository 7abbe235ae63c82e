"""The observed definition-use pairs of local variables while a Java program runs.

Every variable gets a shadow: an array of one element with the number of the statement that defined it last.
It is declared beside the variable, so it has the variable's scope, and each call has its own. Reads note the
shadow and their own statement. A call that the analysis takes for a change of a variable's object
(`list.add(v)`) is a definition here, too. Fields, pattern variables, and the variables of nested lambdas and
classes are not observed; their reads of outer variables are.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from counterlens.dependence import MODULE, Dependences, Kind, analyse
from counterlens.dependence.effects import variable_name
from counterlens.java.dependence.expressions import declared_in
from counterlens.java.judging.bench import BENCHES, CompilerStoppedError
from counterlens.judging.base import Setting
from counterlens.sandbox.java.machine import AnswerParts
from counterlens.sandbox.serving import ServiceEndedError, ServiceLateError
from counterlens.syntax.definitions import text_of

Pair = tuple[str, int, int, str]
"""A method, the defining and the reading statement, and the variable."""

_PRIMITIVES = ("int", "long", "double", "float", "boolean", "char", "byte", "short")
_TYPES = [("", each) for each in _PRIMITIVES] + [("<T> ", "T")]
_OVERLOADS = "".join(
    f"static {variable}{kind} u({kind} x, int d, int f, int v, int s) {{ n(d, f, v, s); return x; }}\n"
    f"static {variable}{kind} v({kind} x, int s) {{ return x; }}\n"
    f"static {variable}{kind} v({kind} x, int n, int s) {{ return x; }}\n"
    for variable, kind in _TYPES
)
_TRACE = (
    """
class Seen {
static final java.util.HashSet<Long> pairs = new java.util.HashSet<>();
static synchronized int n(int d, int f, int v, int s) {
    pairs.add((((f * 4096L + v) * 4096L) + d) * 4096L + s); return 0; }
"""
    + _OVERLOADS
    + """}
class Main { public static void main(String[] arguments) throws Exception {
    try { Tests.main(arguments); } finally { for (long one : Seen.pairs) System.out.println("@" + one); } } }
"""
)
_UNREAD = {
    "method_invocation": ("name",),
    "field_access": ("field",),
    "variable_declarator": ("name", "dimensions"),
    "enhanced_for_statement": ("name", "type"),
    "instanceof_expression": ("name", "right"),
    "resource": ("name", "type"),
    "cast_expression": ("type",),
}
"""The fields of nodes that contain no reads."""
_SILENT = frozenset(
    {
        *("break_statement", "continue_statement", "switch_label", "formal_parameters", "type_pattern"),
        *("class_declaration", "record_declaration", "interface_declaration", "enum_declaration"),
        *("catch_formal_parameter", "annotation", "marker_annotation", "modifiers", "inferred_parameters"),
        *("constructor_declaration", "record_pattern"),
    }
)


class UnwatchedError(Exception):
    """The program could not be observed; the message says why."""


@dataclass
class _Method:
    """A method that is rewritten with its shadows."""

    number: int
    found: Dependences
    names: dict[str, int]
    ids: dict[int, int] = field(default_factory=dict)
    renewed: dict[int, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ids = {node.id: number for number, node in enumerate(self.found.nodes)}
        graph = self.found.graph
        for number, effects in zip(graph.statement, graph.effects, strict=True):
            names = {variable_name(each) for each in effects.killed - effects.strong - effects.weak}
            self.renewed.setdefault(number, set()).update(names)


class _Writer:
    """Rewrites a program with shadows."""

    def __init__(self, data: bytes, methods: Mapping[int, _Method]) -> None:
        self._data, self._methods = data, methods
        self._method: _Method | None = None
        self._scopes: list[set[str]] = []
        self._hidden: frozenset[str] = frozenset()
        self._inside = 0  # lambdas and classes around

    def write(self, node: Node, at: int = -1) -> str:
        """A node.

        Args:
            node: The node.
            at: The number of the statement around it.
        """
        if node.id in self._methods and self._method is None:
            return self._whole(node, self._methods[node.id])
        if self._method is not None:
            at = self._method.ids.get(node.id, at) if not self._inside else at
            special = getattr(self, f"_{node.type}", None)
            if node.type in _SILENT:
                return text_of(node)
            if special is not None:
                return str(special(node, at))
        return self._plain(node, at)

    def _plain(self, node: Node, at: int) -> str:
        unread = _UNREAD.get(node.type, ())
        kept = {child.id for name in unread for child in node.children_by_field_name(name)}
        return self._joined(
            node, {child.id: text_of(child) for child in node.children if child.id in kept}, at
        )

    def _joined(self, node: Node, given: Mapping[int, str], at: int) -> str:
        """A node with some of its children replaced."""
        parts, end = [], node.start_byte
        for child in node.children:
            parts.append(self._data[end : child.start_byte].decode())
            parts.append(given[child.id] if child.id in given else self.write(child, at))
            end = child.end_byte
        if not node.children:
            return text_of(node)
        return "".join(parts) + self._data[end : node.end_byte].decode()

    def _whole(self, node: Node, method: _Method) -> str:
        body, listed = node.child_by_field_name("body"), node.child_by_field_name("parameters")
        if body is None or listed is None:
            return text_of(node)
        names = []
        for parameter in listed.named_children:
            inner = [child for child in parameter.named_children if child.type == "variable_declarator"]
            named = (inner[0] if inner else parameter).child_by_field_name("name")
            names += [text_of(named)] if named is not None else []
        self._method = method
        written = self._body(body, names, 0, -1)
        self._method = None
        return self._data[node.start_byte : body.start_byte].decode() + written

    def _body(self, block: Node, names: list[str], defined: int, at: int) -> str:
        """A block, or a statement, in which some variables are defined from the start."""
        self._scopes.append(set(names) - self._hidden)
        inside = self.write(block, at)
        self._scopes.pop()
        return (
            "{" + "".join(_shadow(name, defined) for name in names if name not in self._hidden) + inside + "}"
        )

    def _watched(self, name: str) -> bool:
        return name not in self._hidden and any(name in scope for scope in self._scopes)

    def _variable(self, name: str) -> int:
        assert self._method is not None
        return self._method.names.setdefault(name, len(self._method.names))

    def _note(self, name: str, at: int) -> str:
        assert self._method is not None
        return f"{name}$d[0], {self._method.number}, {self._variable(name)}, {at}"

    # nodes

    def _identifier(self, node: Node, at: int) -> str:
        name = text_of(node)
        return f"Seen.u({name}, {self._note(name, at)})" if self._watched(name) else name

    def _block(self, node: Node, at: int) -> str:
        self._scopes.append(set())
        written = self._plain(node, at)
        self._scopes.pop()
        return written

    def _switch_block(self, node: Node, at: int) -> str:
        return self._block(node, at)

    def _local_variable_declaration(self, node: Node, at: int) -> str:
        written = self._plain(node, at)
        for one in node.children_by_field_name("declarator"):
            name = text_of(one.child_by_field_name("name"))
            if name not in self._hidden and not self._inside:
                valued = one.child_by_field_name("value") is not None
                written += _shadow(name, at if valued else 4094)
                self._scopes[-1].add(name)
        return written

    def _assignment_expression(self, node: Node, at: int) -> str:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        assert left is not None
        assert right is not None
        name = text_of(left)
        if left.type != "identifier" or not self._watched(name) or self._inside:
            return self._plain(node, at)
        operator = text_of(node.child_by_field_name("operator"))
        note = "" if operator == "=" else f"Seen.n({self._note(name, at)}), "
        return f"Seen.v({name} {operator} {self.write(right, at)}, {note}{name}$d[0] = {at})"

    def _update_expression(self, node: Node, at: int) -> str:
        operand = node.named_children[-1]
        name = text_of(operand)
        if operand.type != "identifier" or not self._watched(name) or self._inside:
            return self._plain(node, at)
        return f"Seen.v({text_of(node)}, Seen.n({self._note(name, at)}), {name}$d[0] = {at})"

    def _renewed(self, at: int) -> list[str]:
        if self._method is None or self._inside:
            return []
        return [name for name in sorted(self._method.renewed.get(at, ())) if self._watched(name)]

    def _expression_statement(self, node: Node, at: int) -> str:
        names = self._renewed(at) if self._method and node.id in self._method.ids else []
        written = self._plain(node, at)
        return "{" + written + "".join(f" {name}$d[0] = {at};" for name in names) + "}" if names else written

    def _method_invocation(self, node: Node, at: int) -> str:
        written, receiver = self._plain(node, at), node.child_by_field_name("object")
        kind = self._method.found.nodes[at].type if self._method is not None else ""
        # Changes are noted after an expression statement, and no statement follows a `return`.
        noted = kind in {"expression_statement", "return_statement"}
        if receiver is None or receiver.type != "identifier" or noted:
            return written
        name = text_of(receiver)
        return f"Seen.v({written}, {name}$d[0] = {at})" if name in self._renewed(at) else written

    def _labeled_statement(self, node: Node, at: int) -> str:
        label, inner = node.named_children[0], node.named_children[-1]
        if inner.type == "for_statement" and self._method is not None:
            at = self._method.ids.get(inner.id, at)
            return self._for_statement(inner, at, f"{text_of(label)}: ")
        return f"{text_of(label)}: {self.write(inner, at)}"

    def _for_statement(self, node: Node, at: int, label: str = "") -> str:
        assert self._method is not None
        first = [child for child in node.children_by_field_name("init") if child.is_named]
        declared = [child for child in first if child.type == "local_variable_declaration"]
        if not declared or self._inside:
            return label + self._plain(node, at)
        number = self._method.ids.get(declared[0].id, at)
        names = [
            text_of(one.child_by_field_name("name"))
            for one in declared[0].children_by_field_name("declarator")
        ]
        self._scopes.append(set(names))
        head = self._plain(declared[0], number)
        written = self._joined(node, {declared[0].id: head}, at)
        self._scopes.pop()
        return "{" + "".join(_shadow(name, number) for name in names) + label + written + "}"

    def _enhanced_for_statement(self, node: Node, at: int) -> str:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None or self._inside:
            return self._plain(node, at)
        given = {body.id: self._body(body, [text_of(name)], at, at), name.id: text_of(name)}
        return self._joined(node, given, at)

    def _catch_clause(self, node: Node, at: int) -> str:
        parameter = next(child for child in node.named_children if child.type == "catch_formal_parameter")
        name, body = parameter.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None or self._inside:
            return self._plain(node, at)
        return self._joined(node, {body.id: self._body(body, [text_of(name)], at, at)}, at)

    def _lambda_expression(self, node: Node, at: int) -> str:
        before, self._hidden = self._hidden, self._hidden | {text_of(name) for name in declared_in(node)}
        self._inside += 1
        body = node.child_by_field_name("body")
        given = {child.id: text_of(child) for child in node.children if child != body}
        written = self._joined(node, given, at)
        self._inside -= 1
        self._hidden = before
        return written

    def _class_body(self, node: Node, at: int) -> str:  # noqa: ARG002 - what is in it is another's
        return text_of(node)

    def _method_reference(self, node: Node, at: int) -> str:
        first = node.children[0]
        return self.write(first, at) + self._data[first.end_byte : node.end_byte].decode()


def _shadow(name: str, defined: int) -> str:
    return f" int[] {name}$d = {{{defined}}}; "


def watched(source: str) -> tuple[str, dict[int, _Method]]:
    """A program with shadows, and its methods by number.

    Args:
        source: The program, without its tests, which are a class `Tests` with a `main`.

    Raises:
        SourceError: the program does not parse.
    """
    program = analyse(source, "java")
    found = [one for one in program.all() if one.function != MODULE and one.nodes]
    methods = {
        one.nodes[0].id: _Method(number, one, {})
        for number, one in enumerate(found)
        if one.nodes[0].type == "method_declaration"
    }
    if not found:
        return source + _TRACE, {}
    root = found[0].nodes[0]
    while root.parent is not None:
        root = root.parent
    written = _Writer(source.encode(), methods).write(root)
    return written + _TRACE, {method.number: method for method in methods.values()}


def executed(source: str, tests: str, setting: Setting) -> tuple[set[Pair], dict[str, Dependences]]:
    """The observed pairs while tests run, and the analysis of each method.

    Args:
        source: The program.
        tests: A class `Tests` with a `main`.
        setting: The sandbox and the limits.

    Raises:
        UnwatchedError: the program with its shadows does not compile, or times out.
    """
    text, methods = watched(source)
    with BENCHES.bench(setting.sandbox) as bench:
        try:
            classes = bench.compile([("Main.java", text), ("Tests.java", tests)])
            if isinstance(classes, str):
                raise UnwatchedError(f"it does not compile with its shadows: {classes}")
            with bench.held(classes) as held:
                answer = AnswerParts(held.ask(b"P" + struct.pack(">i", 0), setting.limits.seconds))
                answer.take(1)
                _, full, message = answer.flag(), answer.flag(), answer.text()
                printed = answer.take(answer.size()).decode("utf-8", "replace")
        except (CompilerStoppedError, ServiceEndedError, ServiceLateError) as error:
            raise UnwatchedError(str(error)) from None
    if full or message:
        raise UnwatchedError(message or "it prints too much")
    return set(_pairs(printed, methods)), {one.found.function: one.found for one in methods.values()}


def _pairs(printed: str, methods: Mapping[int, _Method]) -> Iterator[Pair]:
    for line in printed.splitlines():
        if line.startswith("@"):
            rest, used = divmod(int(line[1:]), 4096)
            rest, made = divmod(rest, 4096)
            number, variable = divmod(rest, 4096)
            method = methods[number]
            yield method.found.function, made, used, list(method.names)[variable]


def missing(pairs: set[Pair], graphs: Mapping[str, Dependences]) -> Iterator[str]:
    """The observed pairs that are not edges of the graph."""
    known = {
        name: {(e.source, e.target, e.variable) for e in found.edges if e.kind is not Kind.CONTROL}
        for name, found in graphs.items()
    }
    for function, made, used, variable in sorted(pairs):
        if (made, used, variable) not in known[function]:
            line = {one.id: one.line for one in graphs[function].statements}
            yield f"{function}: {variable} of line {line.get(made)} was used in line {line[used]}"
