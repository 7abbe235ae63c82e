"""`ArgumentOrder`: what a file shows about the order of the arguments of its calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import tree_sitter

from counterlens.syntax.definitions import text_of

_KEYWORD = frozenset({"keyword_argument", "dictionary_splat", "comment"})
_NO_PARAMETERS = frozenset({"positional_separator", "comment"})
_BEFORE_NAMES = frozenset({"self", "cls"})


@dataclass(frozen=True)
class ArgumentOrder:
    """The calls in a file and the parameters of its functions, by the callee as written in a call.

    Attributes:
        parameters: Names of the positional parameters of functions, methods (`self.name`, `cls.name`) and
            classes. A name with several definitions has none.
        calls: The texts of the positional arguments of each call; none after an unpacked argument.
    """

    parameters: dict[str, tuple[str, ...]] = field(default_factory=dict)
    calls: dict[str, list[tuple[int, tuple[str, ...]]]] = field(default_factory=dict)

    @classmethod
    def of(cls, nodes: Iterable[tree_sitter.Node]) -> ArgumentOrder:
        """The evidence in all nodes of a file."""
        defined: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        calls: dict[str, list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
        for node in nodes:
            if node.type == "function_definition":
                for name in _callable_as(node):
                    defined[name].append(_parameters(node))
            elif node.type == "call":
                called, arguments = (node.child_by_field_name(field) for field in ("function", "arguments"))
                if called is not None and arguments is not None and arguments.type == "argument_list":
                    given = tuple(text_of(argument) for argument in positional(arguments))
                    calls[text_of(called)].append((arguments.start_byte, given))
        return cls({name: some[0] for name, some in defined.items() if len(some) == 1}, dict(calls))

    def supports(
        self, arguments: tree_sitter.Node, first: tree_sitter.Node, second: tree_sitter.Node
    ) -> bool:
        """Whether the file shows that two adjacent arguments are in the right order.

        A parameter has the name of its argument, or another call has one of the two at the same position; and
        nothing supports the other order.
        """
        called = arguments.parent.child_by_field_name("function") if arguments.parent is not None else None
        given = positional(arguments)
        if called is None or first not in given or second not in given:
            return False
        at, name = given.index(first), text_of(called)
        named = self.parameters.get(name, ())[at : at + 2]
        others = [
            texts[at : at + 2] for start, texts in self.calls.get(name, ()) if start != arguments.start_byte
        ]
        names, other = (_name(first), _name(second)), (_name(second), _name(first))
        written, swapped = (text_of(first), text_of(second)), (text_of(second), text_of(first))
        return (_agree(names, named) or any(_agree(written, each) for each in others)) and not (
            _agree(other, named) or any(_agree(swapped, each) for each in others)
        )


def positional(arguments: tree_sitter.Node) -> list[tree_sitter.Node]:
    """The positional arguments of a call, up to the first one that is unpacked."""
    nodes = []
    for argument in arguments.named_children:
        if argument.type == "list_splat":
            break
        if argument.type not in _KEYWORD:
            nodes.append(argument)
    return nodes


def _agree(some: Sequence[str], others: Sequence[str]) -> bool:
    return any(text and text == other for text, other in zip(some, others, strict=False))


def _callable_as(function: tree_sitter.Node) -> tuple[str, ...]:
    """How the file calls a function, method or, for `__init__`, class."""
    name, above = text_of(function.child_by_field_name("name")), function.parent
    while above is not None and above.type in {"block", "decorated_definition"}:
        above = above.parent
    if above is None or above.type != "class_definition":
        return (name,)
    if name == "__init__":
        return (text_of(above.child_by_field_name("name")),)
    return f"self.{name}", f"cls.{name}"


def _parameters(function: tree_sitter.Node) -> tuple[str, ...]:
    """The names of the positional parameters, without `self` and `cls`."""
    listed = function.child_by_field_name("parameters")
    names: list[str] = []
    for parameter in listed.named_children if listed is not None else ():
        if parameter.type not in _NO_PARAMETERS:
            typed = parameter.named_children[0] if parameter.type == "typed_parameter" else parameter
            name = parameter.child_by_field_name("name") or typed
            if name.type != "identifier":  # what follows has no position
                break
            names.append(text_of(name).strip("_"))
    return tuple(names[1:] if names and names[0] in _BEFORE_NAMES else names)


def _name(argument: tree_sitter.Node) -> str:
    """The name of a variable or attribute; empty for other expressions."""
    named = argument.child_by_field_name("attribute") if argument.type == "attribute" else argument
    return text_of(named).strip("_") if named is not None and named.type == "identifier" else ""
