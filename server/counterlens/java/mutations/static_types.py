"""The static types of Java expressions, if one file suffices to determine them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from tree_sitter import Node

from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.variables import JavaKind, JavaVariable, compact

UNKNOWN = ""
_BOXED = {
    "Byte": "byte",
    "Short": "short",
    "Character": "char",
    "Integer": "int",
    "Long": "long",
    "Float": "float",
    "Double": "double",
    "Boolean": "boolean",
}
_INTEGRAL = {"byte", "short", "char", "int", "long"}
_FLOATING = {"float", "double"}
_NUMERIC = _INTEGRAL | _FLOATING
_LITERALS = {
    "true": "boolean",
    "false": "boolean",
    "character_literal": "char",
    "string_literal": "String",
    "null_literal": "null",
}
_INTEGERS = {
    "decimal_integer_literal",
    "hex_integer_literal",
    "octal_integer_literal",
    "binary_integer_literal",
}
_STRING_METHODS = {
    "length": "int", "charAt": "char", "indexOf": "int", "lastIndexOf": "int", "compareTo": "int",
    "codePointAt": "int", "hashCode": "int", "substring": "String", "trim": "String", "strip": "String",
    "toLowerCase": "String", "toUpperCase": "String", "replace": "String", "replaceAll": "String",
    "repeat": "String", "concat": "String", "toString": "String", "isEmpty": "boolean",
    "isBlank": "boolean", "equals": "boolean", "equalsIgnoreCase": "boolean", "contains": "boolean",
    "startsWith": "boolean", "endsWith": "boolean", "matches": "boolean", "toCharArray": "char[]",
    "split": "String[]", "compareToIgnoreCase": "int", "replaceFirst": "String",
}  # fmt: skip
_STATIC = {
    ("Character", "isDigit"): "boolean", ("Character", "isLetter"): "boolean",
    ("Character", "isLowerCase"): "boolean", ("Character", "isUpperCase"): "boolean",
    ("Character", "isAlphabetic"): "boolean", ("Character", "isWhitespace"): "boolean",
    ("Character", "isLetterOrDigit"): "boolean", ("Character", "getNumericValue"): "int",
    ("Integer", "parseInt"): "int", ("Integer", "bitCount"): "int", ("Integer", "compare"): "int",
    ("Integer", "toString"): "String", ("Integer", "toBinaryString"): "String",
    ("Integer", "valueOf"): "Integer", ("Long", "parseLong"): "long", ("Long", "toString"): "String",
    ("Double", "parseDouble"): "double", ("String", "valueOf"): "String", ("String", "format"): "String",
    ("String", "join"): "String", ("Math", "sqrt"): "double", ("Math", "pow"): "double",
    ("Math", "floor"): "double", ("Math", "ceil"): "double", ("Math", "log"): "double",
    ("Math", "sin"): "double", ("Math", "cos"): "double", ("Math", "cbrt"): "double",
    ("Arrays", "toString"): "String", ("Objects", "equals"): "boolean",
}  # fmt: skip
_COUNTED = {
    "List", "ArrayList", "LinkedList", "Set", "HashSet", "TreeSet", "LinkedHashSet", "Map", "HashMap",
    "TreeMap", "LinkedHashMap", "Deque", "ArrayDeque", "Queue", "PriorityQueue", "Stack", "Vector",
    "Collection",
}  # fmt: skip
_COLLECTION_METHODS = {
    "size": "int", "isEmpty": "boolean", "contains": "boolean", "containsKey": "boolean",
    "containsValue": "boolean",
}  # fmt: skip
_ELEMENT = {"get", "getFirst", "getLast", "peek", "pop", "poll", "first", "last", "peekFirst", "peekLast"}
_BUILDERS = {"StringBuilder", "StringBuffer"}
_BUILDER_METHODS = {"length": "int", "charAt": "char", "toString": "String", "indexOf": "int"}
_BOOLEAN_OPERATORS = {"==", "!=", "<", ">", "<=", ">=", "&&", "||"}


class JavaTypes:
    """Static types, as text without blanks: `int`, `String`, `List<Integer>`; `UNKNOWN` if in doubt."""

    def __init__(self, module: JavaModule) -> None:
        self._module = module
        self._types: dict[int, str] = {}

    def of(self, node: Node) -> str:
        """The type of an expression."""
        type_text = self._types.get(node.id)
        if type_text is None:
            self._types[node.id] = UNKNOWN  # for a variable whose initial value refers to itself
            type_text = self._types[node.id] = self._found(node)
        return type_text

    def integral(self, node: Node) -> bool:
        """Whether an expression's value is an integer, boxed or not."""
        return primitive_of(self.of(node)) in _INTEGRAL

    def numeric(self, node: Node) -> bool:
        """Whether an expression's value is a number, boxed or not."""
        return primitive_of(self.of(node)) in _NUMERIC

    def boolean(self, node: Node) -> bool:
        """Whether an expression's value is a Boolean, boxed or not."""
        return primitive_of(self.of(node)) == "boolean"

    def plain(self, node: Node) -> bool:
        """Whether an expression's value is primitive, so that it needs no unboxing."""
        return self.of(node) in _NUMERIC | {"boolean"}

    def variable(self, variable: JavaVariable) -> str:
        """The type of a local variable."""
        if variable.type:
            return variable.type if self._is_library(variable.type) else UNKNOWN
        if variable.kind is JavaKind.LOCAL and variable.value is not None:
            return self.of(variable.value)
        if variable.kind is JavaKind.LOOP and variable.value is not None:
            return element_of(self.of(variable.value))
        return UNKNOWN

    def _is_library(self, text: str) -> bool:
        """Whether the file itself defines no class of that name."""
        return head(text) not in self._module.declared_types

    def static(self, node: Node | None) -> str:
        """The class to which a name before a dot refers, such as `Math`; `UNKNOWN` if it may be no class."""
        if node is None or node.type != "identifier":
            return UNKNOWN
        name = self._module.text(node)
        free = self._module.scopes.variable(node) is None and name not in self._module.declared_types
        return name if free and name[:1].isupper() and name not in self._fields else UNKNOWN

    @property
    def _fields(self) -> dict[str, str]:
        """The types of the file's fields by name; `UNKNOWN` if several classes have a field of that name."""
        return _fields_of(self._module)

    def _found(self, node: Node) -> str:
        if node.type in _LITERALS:
            return _LITERALS[node.type]
        if node.type in _INTEGERS:
            return "long" if self._module.text(node)[-1] in "lL" else "int"
        if node.type in {"decimal_floating_point_literal", "hex_floating_point_literal"}:
            return "float" if self._module.text(node)[-1] in "fF" else "double"
        finder = _FINDERS.get(node.type)
        return finder(self, node) if finder is not None else UNKNOWN

    def _name(self, node: Node) -> str:
        variable = self._module.scopes.variable(node)
        if variable is not None:
            return self.variable(variable)
        name = self._module.text(node)
        if name in self._module.scopes.in_classes:
            return UNKNOWN
        field_type = self._fields.get(name, UNKNOWN)
        return field_type if self._is_library(field_type) else UNKNOWN

    def _inner(self, node: Node) -> str:
        return self.of(node.named_children[0]) if len(node.named_children) == 1 else UNKNOWN

    def _binary(self, node: Node) -> str:
        left, operator, right = operands(node)
        text = self._module.text(operator)
        if text in _BOOLEAN_OPERATORS:
            return "boolean"
        kind, other = primitive_of(self.of(left)), primitive_of(self.of(right))
        if text in {"<<", ">>", ">>>"}:
            return promote(kind, "int")
        if text == "+" and "String" in {kind, other}:
            return "String"
        if text in {"&", "|", "^"} and kind == other == "boolean":
            return "boolean"
        return promote(kind, other)

    def _unary(self, node: Node) -> str:
        operand = node.child_by_field_name("operand")
        operator = node.child_by_field_name("operator")
        if operand is None or operator is None:
            return UNKNOWN
        if self._module.text(operator) == "!":
            return "boolean"
        return promote(primitive_of(self.of(operand)), "int")

    def _ternary(self, node: Node) -> str:
        branches = [node.child_by_field_name(name) for name in ("consequence", "alternative")]
        kinds = {self.of(branch) for branch in branches if branch is not None}
        return kinds.pop() if len(kinds) == 1 else UNKNOWN

    def _cast(self, node: Node) -> str:
        kind = node.child_by_field_name("type")
        text = compact(self._module.text(kind)) if kind is not None else UNKNOWN
        return text if self._is_library(text) else UNKNOWN

    def _assignment(self, node: Node) -> str:
        left = node.child_by_field_name("left")
        return self.of(left) if left is not None else UNKNOWN

    def _array_access(self, node: Node) -> str:
        array = node.child_by_field_name("array")
        kind = self.of(array) if array is not None else UNKNOWN
        return kind[:-2] if kind.endswith("[]") else UNKNOWN

    def _field_access(self, node: Node) -> str:
        item, name = node.child_by_field_name("object"), node.child_by_field_name("field")
        if item is None or name is None:
            return UNKNOWN
        text = self._module.text(name)
        if text == "length" and self.of(item).endswith("[]"):
            return "int"
        if text in {"MAX_VALUE", "MIN_VALUE"} and (kind := self.static(item)) in _BOXED:
            return _BOXED[kind]
        if item.type == "this":
            field_type = self._fields.get(text, UNKNOWN)
            return field_type if self._is_library(field_type) else UNKNOWN
        return UNKNOWN

    def _call(self, node: Node) -> str:
        item, name = node.child_by_field_name("object"), node.child_by_field_name("name")
        if item is None or name is None:
            return UNKNOWN
        method, kind = self._module.text(name), self.of(item)
        if kind == "String":
            return _STRING_METHODS.get(method, UNKNOWN)
        if kind in _BUILDERS:
            return _BUILDER_METHODS.get(method, UNKNOWN)
        if head(kind) in _COUNTED:
            if method in _ELEMENT or (method, head(kind)[-3:]) in {
                ("getOrDefault", "Map"),
                ("remove", "Map"),
            }:
                return element_of(kind) if "Map" not in head(kind) else _arguments(kind)[-1]
            return _COLLECTION_METHODS.get(method, UNKNOWN)
        static = self.static(item)
        if static == "Math" and method in {"max", "min", "abs"}:
            # the result type of `Math.max` and similar methods: that of binary promotion of their arguments
            given = node.child_by_field_name("arguments")
            kinds = (
                [primitive_of(self.of(argument)) for argument in given.named_children]
                if given is not None
                else []
            )
            if not kinds:
                return UNKNOWN
            return promote(kinds[0], kinds[-1])
        return _STATIC.get((static, method), UNKNOWN)

    def _new(self, node: Node) -> str:
        kind = node.child_by_field_name("type")
        text = compact(self._module.text(kind)) if kind is not None else UNKNOWN
        with_body = any(child.type == "class_body" for child in node.named_children)
        return UNKNOWN if with_body or "<>" in text or not self._is_library(text) else text

    def _new_array(self, node: Node) -> str:
        kind = node.child_by_field_name("type")
        text = compact(self._module.text(kind)) if kind is not None else UNKNOWN
        sizes = sum(child.type == "dimensions_expr" for child in node.named_children)
        more = "".join(
            self._module.text(child) for child in node.named_children if child.type == "dimensions"
        )
        return text + "[]" * sizes + compact(more) if text and self._is_library(text) else UNKNOWN


_FINDERS: dict[str, Callable[[JavaTypes, Node], str]] = {
    "identifier": JavaTypes._name,
    "parenthesized_expression": JavaTypes._inner,
    "binary_expression": JavaTypes._binary,
    "unary_expression": JavaTypes._unary,
    "update_expression": JavaTypes._inner,
    "ternary_expression": JavaTypes._ternary,
    "cast_expression": JavaTypes._cast,
    "assignment_expression": JavaTypes._assignment,
    "array_access": JavaTypes._array_access,
    "field_access": JavaTypes._field_access,
    "method_invocation": JavaTypes._call,
    "object_creation_expression": JavaTypes._new,
    "array_creation_expression": JavaTypes._new_array,
    "instanceof_expression": lambda _types, _node: "boolean",
}


@lru_cache(maxsize=8)
def _fields_of(module: JavaModule) -> dict[str, str]:
    fields: dict[str, str] = {}
    for declaration in module.nodes("field_declaration"):
        kind = declaration.child_by_field_name("type")
        for declarator in declaration.children_by_field_name("declarator"):
            name = declarator.child_by_field_name("name")
            if name is None or kind is None:
                continue
            dimensions = declarator.child_by_field_name("dimensions")
            text = module.text(kind) + (module.text(dimensions) if dimensions is not None else "")
            field_name = module.text(name)
            fields[field_name] = UNKNOWN if field_name in fields else compact(text)
    return fields


def operands(node: Node) -> tuple[Node, Node, Node]:
    """The left side, the operator and the right side of a binary expression or an assignment."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    assert left is not None, node.type
    assert operator is not None, node.type
    assert right is not None, node.type
    return left, operator, right


def primitive_of(kind: str) -> str:
    """The primitive type of a boxed one: `int` for `Integer`; other types are unchanged."""
    return _BOXED.get(kind, kind)


def promote(type_name: str, other: str) -> str:
    """The type of an arithmetic operation on two types (Java Language Specification, section 5.6)."""
    if type_name not in _NUMERIC or other not in _NUMERIC:
        return UNKNOWN
    return next((kind for kind in ("double", "float", "long") if kind in {type_name, other}), "int")


def head(kind: str) -> str:
    """A type without its type arguments and array dimensions."""
    return kind.partition("<")[0].partition("[")[0]


def element_of(kind: str) -> str:
    """The element type of an array or collection."""
    if kind.endswith("[]"):
        return kind[:-2]
    arguments = _arguments(kind)
    return arguments[0] if len(arguments) == 1 else UNKNOWN


def _arguments(kind: str) -> list[str]:
    """The arguments of a generic type; one `UNKNOWN` if there are none, or wildcards."""
    inside = kind.partition("<")[2].removesuffix(">")
    if not kind.endswith(">") or not inside or "?" in inside or "@" in inside:
        return [UNKNOWN]
    arguments, depth = [""], 0
    for letter in inside:
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "," and not depth:
            arguments.append("")
        else:
            arguments[-1] += letter
    return arguments
