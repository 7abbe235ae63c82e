"""Names: a variable, an index, an attribute, a receiver, a called function, a class of exception."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.attribute_use import TARGET, attribute_use
from counterlens.doubt.scope import DoubtScope, around
from counterlens.syntax.definitions import text_of

_ASSIGNING = frozenset({"assignment", "augmented_assignment"})
_COUNTERPARTS = (
    ("any", "all"),
    ("min", "max"),
    ("sum", "len"),
    ("floor", "ceil"),
    ("append", "extend"),
    ("add", "update"),
    ("remove", "discard"),
    ("keys", "values", "items"),
    ("lower", "upper", "title", "capitalize", "casefold"),
    ("strip", "lstrip", "rstrip"),
    ("ljust", "rjust"),
    ("removeprefix", "removesuffix"),
    ("find", "rfind", "index", "rindex"),
    ("split", "rsplit", "splitlines"),
    ("partition", "rpartition"),
    ("startswith", "endswith"),
    ("union", "intersection", "difference", "symmetric_difference"),
    ("popleft", "pop"),
    ("match", "search", "fullmatch"),
    ("encode", "decode"),
    ("isdigit", "isalpha", "isalnum", "isnumeric", "isdecimal"),
    ("sorted", "reversed"),
)
_EXCEPTIONS = (
    "ValueError",
    "TypeError",
    "KeyError",
    "IndexError",
    "AttributeError",
    "OSError",
    "RuntimeError",
)


class WrongVariable(DoubtKind):
    """A variable is replaced by another that the function has bound before; indices are a separate kind.

    For failing tests, also by one that is bound elsewhere in it, or at the top of the module.
    """

    id = "variable"
    EXAMPLES = (
        DoubtExample("def f(a, b):\n    return a\n", ("a -> b",)),
        DoubtExample("def f(a):\n    b = a\n    return b\n", ("b -> a",)),
        DoubtExample("def f(a, i):\n    return a[i]\n", ("a -> i",)),
        DoubtExample("A = 1\nB = 2\ndef f(a):\n    return A\n", ("A -> a", "A -> B")),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        for node in scope.uses():
            if index_of(node):
                continue
            own = text_of(node)
            for other, bound in scope.variables.items():
                if other != own and bound < node.start_byte and not _inside(scope, node.start_byte, other):
                    yield self.instead(node, other)
        yield from self._unbound(scope)

    def _unbound(self, scope: DoubtScope) -> Iterator[Alternative]:
        """Variables of the module, and those of the function that are bound only after the use."""
        of_module = scope.file.variables
        local = list(scope.uses())
        for node in local + [each for each in scope.reads if text_of(each) in of_module]:
            own = text_of(node)
            others = dict.fromkeys((*scope.variables, *of_module) if own in of_module else scope.variables)
            for other in others:
                here = other in scope.variables and _inside(scope, node.start_byte, other)
                if other != own and not here and not index_of(node):
                    yield self.instead(node, other, refuted=True)


def index_of(node: object) -> bool:
    """Whether an identifier is an index or a key."""
    parent = getattr(node, "parent", None)
    return (
        parent is not None
        and parent.type == "subscript"
        and any(index == node for index in parent.children_by_field_name("subscript"))
    )


def _inside(scope: DoubtScope, at: int, name: str) -> bool:
    """Whether a byte is in the assignment that first binds a name."""
    node = scope.document.tree.root_node.descendant_for_byte_range(at, at + 1)
    assignment = around(node, "assignment") if node is not None else None
    return assignment is not None and assignment.start_byte == scope.variables[name]


class WrongIndex(DoubtKind):
    """A variable in brackets is replaced by a loop variable, or by one used in brackets elsewhere."""

    id = "index"
    EXAMPLES = (
        DoubtExample(
            "def f(a):\n    for i in a:\n        for j in a:\n            g(a[i])\n",
            ("i -> j",),
        ),
        DoubtExample("def f(a, b, i):\n    return a[i]\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        places = [node for node in scope.uses() if index_of(node)]
        likely = {text_of(node) for node in places} | scope.loops
        for node in places:
            for other, bound in scope.variables.items():
                if other != text_of(node) and other in likely and bound < node.start_byte:
                    yield self.instead(node, other)


class WrongAttribute(DoubtKind):
    """An attribute is replaced by another of the same receiver with similar use in the file.

    A condition for a condition, a method for one that is called with as many arguments.
    """

    id = "attribute"
    EXAMPLES = (
        DoubtExample(
            "def f(a):\n    a.low = 1\n    a.go()\n    a.stop()\n    return a.high\n",
            ("go -> stop", "stop -> go", "high -> low"),
        ),
        DoubtExample(
            "def f(a):\n    a.go(1)\n    a.stop()\n    if a.on:\n        return a.high\n    return a.low\n",
            ("high -> low", "low -> high"),
        ),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        for node in scope.of("attribute"):
            used = attribute_use(node)
            if used is None or used.role == TARGET:
                continue
            for other, roles in scope.file.attributes[text_of(used.receiver)].items():
                if other != text_of(used.name) and used.allows(roles):
                    yield self.instead(used.name, other)


class WrongReceiver(DoubtKind):
    """`self.name` is replaced by a variable `name`, and a variable by the attribute of `self` of its name."""

    id = "receiver"
    EXAMPLES = (
        DoubtExample(
            "class A:\n    def f(self, size):\n        self.size = size\n"
            "    def g(self, size):\n        return size\n",
            ("size -> self.size", "size -> self.size"),
        ),
        DoubtExample("class A:\n    def g(self, size):\n        return self.size\n", ("self.size -> size",)),
        DoubtExample("def g(size):\n    return size\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        own = scope.file.attributes.get("self", {})
        listed = scope.root.child_by_field_name("parameters")
        names = [text_of(parameter) for parameter in listed.named_children] if listed is not None else []
        if names[:1] != ["self"]:
            return
        for node in scope.reads:  # also where no such variable exists
            if text_of(node) in own and text_of(node) != "self":
                yield self.instead(node, f"self.{text_of(node)}")
        for node in scope.bindings:
            parent = node.parent
            if parent is not None and parent.type in _ASSIGNING and text_of(node) in own:
                yield self.instead(node, f"self.{text_of(node)}", refuted=True)
        for node in scope.of("attribute"):
            receiver, name = (
                node.child_by_field_name("object"),
                text_of(node.child_by_field_name("attribute")),
            )
            parent = node.parent
            bound = (
                parent is not None
                and parent.type == "assignment"
                and parent.child_by_field_name("left") == node
            )
            before = scope.variables.get(name, node.start_byte) < node.start_byte
            if text_of(receiver) == "self" and before and not bound:
                yield self.instead(node, name)


class WrongCounterpart(DoubtKind):
    """A called function or method is replaced by its counterpart: `any` by `all`, `lstrip` by `rstrip`."""

    id = "counterpart"
    EXAMPLES = (
        DoubtExample("def f(a):\n    return any(a), a.append(1)\n", ("any -> all", "append -> extend")),
        DoubtExample("def f(a):\n    return a.any, g(a)\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        for node in scope.of("call"):
            called = node.child_by_field_name("function")
            name = (
                called.child_by_field_name("attribute") if called and called.type == "attribute" else called
            )
            if name is not None and name.type == "identifier":
                for group in _COUNTERPARTS:
                    if text_of(name) in group:
                        yield from (self.instead(name, other) for other in group if other != text_of(name))


class WrongException(DoubtKind):
    """A built-in class that is caught or raised is replaced by another common one."""

    id = "exception"
    EXAMPLES = (
        DoubtExample(
            "def f(a):\n    try:\n        return a[0]\n    except KeyError:\n        return None\n",
            tuple(f"KeyError -> {name}" for name in _EXCEPTIONS if name != "KeyError"),
        ),
        DoubtExample("def f(a):\n    raise OwnError(a)\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        for node in scope.of("except_clause", "raise_statement"):
            for name in _classes(node):
                if text_of(name) in _EXCEPTIONS:
                    caught = {text_of(class_node) for class_node in _classes(node)}
                    yield from (
                        self.instead(name, exception) for exception in _EXCEPTIONS if exception not in caught
                    )


def _classes(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """The names of caught or raised classes."""
    value = node.child_by_field_name("value") or next(iter(node.named_children), None)
    if value is not None and value.type == "as_pattern":
        value = value.named_children[0]
    if value is not None and value.type == "call":
        value = value.child_by_field_name("function")
    if value is None or value.type == "block":
        return []
    return [
        name
        for name in (value.named_children if value.type == "tuple" else [value])
        if name.type == "identifier"
    ]
