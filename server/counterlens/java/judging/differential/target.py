"""The Java method to call: its address and the types of its parameters, or the reason for none."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from counterlens.java.judging.differential.types import (
    JavaType,
    UnknownTypeError,
    arrays_of,
    read_type,
    read_variables,
)
from counterlens.java.judging.test_source import leaves, package_of
from counterlens.syntax.definitions import own_name, text_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.syntax.tree import ancestors, descendants

TYPES = {"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"}
_OUTSIDE = {
    "System.in": "reads its standard input", "System.exit": "ends the process",
    "nanoTime": "depends on the time", "currentTimeMillis": "depends on the time",
    "LocalDate.now": "depends on the time", "LocalDateTime.now": "depends on the time",
    "Instant.now": "depends on the time", "Math.random": "depends on random numbers",
    "randomUUID": "depends on random numbers", "SecureRandom": "depends on random numbers",
    "ThreadLocalRandom": "depends on random numbers", "new Random()": "depends on random numbers",
    "Thread": "starts threads", "Executors": "starts threads", "CompletableFuture": "starts threads",
    "ProcessBuilder": "starts processes", "Runtime": "queries the JVM",
    "Socket": "uses the network", "URL": "uses the network", "HttpClient": "uses the network",
    "File": "uses files", "Files": "uses files", "Paths": "uses files", "FileReader": "uses files",
    "FileWriter": "uses files", "FileInputStream": "uses files", "FileOutputStream": "uses files",
    "RandomAccessFile": "uses files", "System.getenv": "queries the operating system",
    "System.getProperty": "queries the operating system",
}  # fmt: skip
_WORDS = {text: re.compile(rf"(?<![\w$]){re.escape(text)}(?![\w$])") for text in _OUTSIDE}


class NoTargetError(Exception):
    """A method that cannot be judged by its behaviour on inputs; the message says why."""


@dataclass(frozen=True, slots=True)
class JavaTarget:
    """A method that can be called.

    Attributes:
        owner: The binary name of its class.
        simple: The simple names of its parameters' classes, joined by commas.
        static: Whether it needs no object.
        types: The types of its parameters, after those of the constructor.
        maker: The simple names of the classes of the constructor's parameters, joined by commas.
        made: The number of the constructor's parameters.
    """

    owner: str
    name: str
    simple: str
    static: bool
    types: tuple[JavaType, ...]
    node: Node
    maker: str = ""
    made: int = 0


def find_target(document: Document, function: Function) -> JavaTarget:
    """The method of a function.

    Raises:
        NoTargetError: it cannot be judged by its behaviour on inputs.
    """
    node, around = find_body(document, function)
    static = "static" in modifiers(node)
    if not static:
        _require_objects(around)
    for reached in _reach(node, around[0]):
        if reason := _outside(reached):
            where = "" if reached == node else f", through {own_name(reached)}"
            raise NoTargetError(f"it {reason}{where}")
    root = document.tree.root_node
    own = {own_name(node) for node in descendants(root) if node.type in TYPES}
    try:
        made, maker = _maker(around, own) if not static else ((), "")
        types, simple = _parameters(node, around, own, static=static)
    except UnknownTypeError as error:
        raise NoTargetError(f"values of its parameters cannot be generated: {error}") from None
    owner = binary_name(root, around)
    return JavaTarget(owner, own_name(node), simple, static, (*made, *types), node, maker, len(made))


def find_body(document: Document, function: Function) -> tuple[Node, list[Node]]:
    """The declaration of a function with a body, and the types around it, from the inside out.

    Raises:
        NoTargetError: there is none, or its class cannot be named.
    """
    node = find_method(document, function)
    above = list(ancestors(node))
    around = [each for each in above if each.type in TYPES]
    if not around or any(each.type in {"object_creation_expression", "block"} for each in above):
        raise NoTargetError("its class is declared inside a method")
    if node.child_by_field_name("body") is None:
        raise NoTargetError("it has no body")
    return node, around


def binary_name(root: Node, around: list[Node]) -> str:
    """The binary name of the innermost of some types that are nested in each other."""
    package, name = package_of(root), "$".join(own_name(each) for each in reversed(around))
    return f"{package}.{name}" if package else name


def find_method(document: Document, function: Function) -> Node:
    """The declaration of a function.

    Raises:
        NoTargetError: it is a constructor, or is not in the file.
    """
    node: Node | None = document.tree.root_node.descendant_for_byte_range(function.header, function.end - 1)
    while node is not None and node.type not in {"method_declaration", "constructor_declaration"}:
        node = node.parent
    if node is None:
        raise NoTargetError("it is not a method")
    if node.type == "constructor_declaration":
        raise NoTargetError("it is a constructor")
    return node


def is_private(document: Document, function: Function) -> bool:
    """Whether other classes cannot call a function as a method: it is private, or a constructor."""
    try:
        return "private" in modifiers(find_method(document, function))
    except NoTargetError:
        return True


def modifiers(node: Node) -> set[str]:
    """The modifiers of a declaration."""
    modifiers_node = next((child for child in node.children if child.type == "modifiers"), None)
    return {child.type for child in modifiers_node.children} if modifiers_node is not None else set()


def _require_objects(around: list[Node]) -> None:
    """Check that an object can be created."""
    owner = around[0]
    if owner.type != "class_declaration":
        raise NoTargetError(
            f"it needs an object of {own_name(owner)}, which cannot be made without arguments"
        )
    if "abstract" in modifiers(owner):
        raise NoTargetError(f"{own_name(owner)} is abstract")
    if len(around) > 1 and "static" not in modifiers(owner):
        raise NoTargetError(f"an object of {own_name(owner)} belongs to one of {own_name(around[1])}")


def _maker(around: list[Node], own: set[str]) -> tuple[tuple[JavaType, ...], str]:
    """The parameters of the constructor with the fewest whose values can be generated.

    Raises:
        NoTargetError: there is none.
    """
    owner, constructors = around[0], list[tuple[tuple[JavaType, ...], str]]()
    makers = [child for child in _members(owner) if child.type == "constructor_declaration"]
    for maker in makers:
        with contextlib.suppress(UnknownTypeError):
            constructors.append(_parameters(maker, around, own, static=False))
    if makers and not constructors:
        raise NoTargetError(f"values for the constructors of {own_name(owner)} cannot be generated")
    return min(constructors, key=lambda each: len(each[0]), default=((), ""))


def _parameters(
    node: Node, around: list[Node], own: set[str], *, static: bool
) -> tuple[tuple[JavaType, ...], str]:
    variables: dict[str, JavaType] = {}
    names: dict[str, str] = {}
    holders = [*reversed(around if not static else []), node]
    for holder in holders:
        listed = holder.child_by_field_name("type_parameters")
        variables = read_variables(listed, variables, own)
        names |= _erasures(listed)
    parameters = node.child_by_field_name("parameters")
    given = (
        [child for child in parameters.named_children if child.type.endswith("_parameter")]
        if parameters
        else []
    )
    types, simple = [], []
    for child in given:
        if child.type == "receiver_parameter":
            continue
        written = child.child_by_field_name("type")
        if child.type == "spread_parameter":
            written = next(inner for inner in child.named_children if inner.type != "modifiers")
        dimensions = child.child_by_field_name("dimensions")
        count = (dimensions.text or b"").count(b"[") if dimensions is not None else 0
        count += child.type == "spread_parameter"
        types.append(arrays_of(read_type(written, variables, own), count))
        simple.append(_simple_name(child, written, names))
    return tuple(types), ",".join(simple)


def _erasures(node: Node | None) -> dict[str, str]:
    """Type variables with the simple names of their erasures."""
    erasures = {}
    for child in node.named_children if node is not None else ():
        tokens = [text_of(leaf) for leaf in leaves(child)]
        if tokens:
            erasures[tokens[0]] = tokens[2] if len(tokens) > 2 else "Object"
    return erasures


def _simple_name(parameter: Node, written: Node | None, variables: dict[str, str]) -> str:
    """The simple name of a parameter's class, as in reflection."""
    text = "".join(map(text_of, leaves(written))) if written is not None else ""
    while (plain := re.sub(r"<[^<>]*>", "", text)) != text:
        text = plain
    base, _, brackets = text.partition("[")
    base = base.rpartition(".")[2]
    after = parameter.child_by_field_name("dimensions")
    more = "[]" if parameter.type == "spread_parameter" else ""
    more += "".join(map(text_of, leaves(after))) if after is not None else ""
    return variables.get(base, base) + (f"[{brackets}" if brackets else "") + more


def _reach(node: Node, owner: Node) -> Iterator[Node]:
    """A method, and the methods of its class that it calls, directly or through others."""
    methods: dict[str, list[Node]] = {}
    for child in _members(owner):
        if child.type in {"method_declaration", "constructor_declaration"}:
            methods.setdefault(own_name(child), []).append(child)
    waiting, done = [node], set()
    while waiting:
        each = waiting.pop()
        if each.id in done:
            continue
        done.add(each.id)
        yield each
        for inner in descendants(each):
            if inner.type in {"method_invocation", "method_reference"}:
                for part in inner.named_children:
                    waiting += methods.get(text_of(part), ()) if part.type == "identifier" else ()


def _outside(node: Node) -> str | None:
    """Describe a dependence of a method on anything except its arguments; empty if there is none."""
    code = " ".join(
        text_of(leaf) for leaf in descendants(node) if not leaf.children and leaf.type not in _QUOTED
    )
    code = re.sub(r" ?([.()]) ?", r"\1", code)
    for text, reason in _OUTSIDE.items():
        if text in code and _WORDS[text].search(code):
            return reason
    return None


_QUOTED = {"line_comment", "block_comment", "string_fragment", "character_literal", "escape_sequence"}


def _members(owner: Node) -> list[Node]:
    body = owner.child_by_field_name("body")
    members = list(body.named_children) if body is not None else []
    for child in members[:]:
        if child.type == "enum_body_declarations":
            members += child.named_children
    return members
