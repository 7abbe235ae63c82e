"""From a type hint to values of that type: Hypothesis strategies for annotations, which are never executed.

No code of the user is imported: annotations are resolved within the file, instances of its classes are built
by expressions, and unknown types are reported.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from counterlens.python.judging.differential.inputs import Built, Hints
from counterlens.python.syntax.parsing import parse_expression

Strategy = st.SearchStrategy[Any]
_LONGEST = 7  # maximum elements of a container
_DEEPEST = 5  # maximum levels of a type
_SEQUENCES = {
    "list", "List", "Sequence", "MutableSequence", "Iterable", "Collection", "Container", "Reversible",
}  # fmt: skip
_MAPPINGS = {"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"}
_SETS = {"set", "Set", "AbstractSet", "MutableSet"}
_WRAPPERS = {"Final", "Annotated", "Required", "NotRequired", "ClassVar"}
_ANYTHING = {"Any", "object", "Hashable", "TypeVar"}


class Unknown(Exception):  # noqa: N818 - an answer
    """No values are known for a type; the message names it."""


@dataclass
class Shapes:
    """Builds strategies.

    Attributes:
        module: The file, for the classes and aliases that annotations name.
        hints: Values that the code suggests.
    """

    module: ast.Module
    hints: Hints = field(default_factory=Hints)

    def __post_init__(self) -> None:
        self._classes = {node.name: node for node in self.module.body if isinstance(node, ast.ClassDef)}
        self._aliases = {
            target.id: node.value
            for node in self.module.body
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }

    # scalars

    def integers(self) -> Strategy:
        """Mostly small integers, with the literals of the code and their neighbours."""
        near = sorted({n + d for n in self.hints.integers for d in (-1, 0, 1) if abs(n) < 10**6})
        few = [st.sampled_from(near)] if near else []
        return st.one_of(st.integers(0, 12), st.integers(-5, 30), st.integers(-100, 120), *few, *few)

    def floats(self) -> Strategy:
        """Short decimals, integers, the literals of the code; sometimes NaN or an infinity."""
        few = [st.sampled_from(sorted(set(self.hints.floats)))] if self.hints.floats else []
        short = st.integers(-1000, 1000).map(lambda n: n / 10)
        odd = st.sampled_from([0.0, -0.0, 0.5, 1e-9, 1e9, float("inf"), float("nan")])
        return st.one_of(short, short, short, st.integers(-20, 20).map(float), *few, odd)

    def texts(self) -> Strategy:
        """Texts of letters from the code and of others; the literals of the code, alone and joined."""
        strings = sorted({text for text in self.hints.strings if 0 < len(text) <= 40})
        spoken = sorted({character for text in strings for character in text})[:40]
        letters = st.text(alphabet="abcdeXYZ012 .,-_", max_size=9)
        word = st.text(alphabet="abcdeXYZ", min_size=1, max_size=7)  # docstrings speak of such ones most
        few = [
            word,
            letters,
            st.text(alphabet="ab c", max_size=8),
            st.text(alphabet="0123456789", max_size=5),
        ]
        if strings:
            spoken_word = st.sampled_from(strings)
            several = st.lists(spoken_word, max_size=5)
            few += [spoken_word, several.map("".join), several.map(" ".join)]
            few += [st.text(alphabet=spoken, max_size=12)] * 2
        return st.one_of(*few, st.text(max_size=4).filter(_is_encodable))

    def anything(self) -> Strategy:
        """Values for an unknown type."""
        return st.one_of(self.integers(), self.texts(), st.booleans(), st.none(), self.lists(self.integers()))

    def lists(self, item: Strategy) -> Strategy:
        """Short lists, some with repeated elements."""
        drawn = st.lists(item, max_size=_LONGEST)
        return st.one_of(drawn, drawn, repetitive(item, 0, _LONGEST))

    # annotations

    def of(self, annotation: ast.expr, depth: int = 0) -> Strategy:
        """Values of an annotated type.

        Raises:
            Unknown: no values are known for it.
        """
        if depth > _DEEPEST:
            raise Unknown("a type that is nested too deeply")
        if isinstance(annotation, ast.Constant):
            if annotation.value is None:
                return st.none()
            if isinstance(annotation.value, str):
                return self.of(_parse_annotation(annotation.value), depth + 1)
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            return self.of(annotation.left, depth) | self.of(annotation.right, depth)
        if isinstance(annotation, ast.Subscript):
            inner = annotation.slice
            parts = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
            return self._generic(_last(annotation.value), parts, depth + 1)
        return self._named(_last(annotation), depth)

    def _named(self, name: str, depth: int) -> Strategy:
        simple: dict[str, Callable[[], Strategy]] = {
            "int": self.integers,
            "float": self.floats,
            "complex": lambda: st.builds(complex, self.floats(), self.integers()),
            "str": self.texts,
            "AnyStr": self.texts,
            "LiteralString": self.texts,
            "bool": st.booleans,
            "bytes": lambda: st.binary(max_size=8),
            "bytearray": lambda: st.binary(max_size=8).map(lambda data: Built("bytearray", (("", data),))),
            "None": st.none,
            "Number": self.integers,
            "Real": self.floats,
            "range": lambda: st.integers(0, 9).map(lambda n: Built("range", (("", n),))),
            "Callable": _callables,
        }
        if name in simple:
            return simple[name]()
        if name in _ANYTHING:
            return self.anything()
        if name in _SEQUENCES | _MAPPINGS | _SETS | {"tuple", "Tuple", "frozenset", "FrozenSet", "Iterator"}:
            return self._generic(name, [], depth)
        if name in self._classes:
            return self.instances(name, depth + 1)
        alias = self._aliases.get(name)
        if isinstance(alias, ast.Call):
            if _last(alias.func) == "TypeVar":
                bounds = [self.of(bound, depth + 1) for bound in alias.args[1:]]
                return st.one_of(bounds) if bounds else self.integers()
            if _last(alias.func) == "NewType" and len(alias.args) == 2:
                return self.of(alias.args[1], depth + 1)
        elif alias is not None:
            return self.of(alias, depth + 1)
        raise Unknown(name)

    def _generic(self, name: str, parts: Sequence[ast.expr], depth: int) -> Strategy:
        if name == "Literal":
            return st.sampled_from([ast.literal_eval(part) for part in parts])
        if name == "Callable":
            return _callables()
        if name in {"tuple", "Tuple"} and parts:
            return self._tuples(parts, depth)
        strategies = [self.of(part, depth) for part in parts if not _is_ellipsis(part)]
        first = strategies[0] if strategies else self.integers()
        if name == "Optional":
            return st.none() | first | first
        if name == "Union":
            return st.one_of(strategies)
        if name in _WRAPPERS:
            return first
        if name in {"tuple", "Tuple"}:
            return self.lists(first).map(tuple)
        if name in _SEQUENCES:
            return self.lists(first)
        if name in {"Iterator", "Generator"}:
            return self.lists(first).map(lambda items: Built("iter", (("", items),)))
        return self._hashed(name, strategies, first)

    def _hashed(self, name: str, strategies: Sequence[Strategy], first: Strategy) -> Strategy:
        if name in {"Counter"}:
            pairs = st.dictionaries(first, st.integers(0, 5), max_size=_LONGEST)
            return pairs.map(lambda held: Built("__import__('collections').Counter", (("", held),)))
        if name in {"deque", "Deque"}:
            return self.lists(first).map(lambda held: Built("__import__('collections').deque", (("", held),)))
        if name in _MAPPINGS:
            keys = first if strategies else self.texts()
            values = strategies[1] if len(strategies) > 1 else self.integers()
            return st.dictionaries(keys, values, max_size=5)
        if name in _SETS:
            return st.sets(first, max_size=_LONGEST)
        if name in {"frozenset", "FrozenSet"}:
            return st.frozensets(first, max_size=_LONGEST)
        raise Unknown(name)

    def _tuples(self, parts: Sequence[ast.expr], depth: int) -> Strategy:
        if len(parts) == 2 and _is_ellipsis(parts[1]):
            return self.lists(self.of(parts[0], depth)).map(tuple)
        return st.tuples(*[self.of(part, depth) for part in parts])

    def instances(self, name: str, depth: int = 0) -> Strategy:
        """Instances of a class of the file: members of an enumeration, or calls with annotated arguments.

        Raises:
            Unknown: an instance cannot be built from the annotations.
        """
        node = self._classes.get(name)
        if node is None or depth > _DEEPEST:
            raise Unknown(name)
        bases = {_last(base) for base in node.bases}
        if bases & {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}:
            members = [
                target.id
                for statement in node.body
                if isinstance(statement, ast.Assign)
                for target in statement.targets
                if isinstance(target, ast.Name) and not target.id.startswith("_")
            ]
            return st.sampled_from([Built(f"{name}.{member}") for member in members])
        fields = self._fields(node, bases)
        strategies = [(field, self.of(annotation, depth)) for field, annotation in fields]
        if "TypedDict" in bases:
            return st.fixed_dictionaries(dict(strategies))
        pairs = [st.tuples(st.just(field), strategy) for field, strategy in strategies]
        return st.tuples(*pairs).map(lambda arguments: Built(name, arguments))

    def _fields(self, node: ast.ClassDef, bases: set[str]) -> list[tuple[str, ast.expr]]:
        made = [
            child for child in node.body if isinstance(child, ast.FunctionDef) and child.name == "__init__"
        ]
        if made:
            needed = required_parameters(made[-1].args)[1:]
            if any(parameter.annotation is None for parameter in needed):
                raise Unknown(f"{node.name}, whose __init__ has no annotations")
            return [
                (parameter.arg, parameter.annotation)
                for parameter in needed
                if parameter.annotation is not None
            ]
        decorated = {
            _last(decorator.func if isinstance(decorator, ast.Call) else decorator)
            for decorator in node.decorator_list
        } & {
            "dataclass",
            "define",
            "frozen",
        }
        if decorated or bases & {"NamedTuple", "TypedDict"}:
            return [
                (statement.target.id, statement.annotation)
                for statement in node.body
                if isinstance(statement, ast.AnnAssign)
                and isinstance(statement.target, ast.Name)
                and _last(statement.annotation) != "ClassVar"
                and not (isinstance(statement.value, ast.Call) and _last(statement.value.func) == "field")
            ]
        if bases - {"object", "ABC", "Generic", "Protocol"}:
            raise Unknown(f"{node.name}, which inherits its constructor")
        return []

    # values

    def like(self, value: Any) -> Strategy:
        """Values of the same type as an observed one."""
        if isinstance(value, bool):
            return st.booleans()
        if isinstance(value, int):
            return self.integers()
        if isinstance(value, float):
            return self.floats()
        if isinstance(value, str):
            return self.texts()
        if isinstance(value, tuple):
            return (
                st.tuples(*map(self.like, value))
                if len(value) < 4
                else self.lists(self._items(value)).map(tuple)
            )
        if isinstance(value, list):
            return self.lists(self._items(value))
        if isinstance(value, set | frozenset):
            return st.sets(self._items(value), max_size=_LONGEST).map(type(value))
        if isinstance(value, dict):
            return st.dictionaries(self._items(value), self._items(value.values()), max_size=5)
        return st.just(value)

    def _items(self, values: Any) -> Strategy:
        return st.one_of([self.like(value) for _, value in _by_type(values)])


def kind_of(value: Any) -> Hashable:
    """What `Shapes.like` takes from a value: equal for values for which it gives the same strategy.

    The text of a strategy would tell, too, but Hypothesis parses the sources of its functions for it.
    """
    if isinstance(value, bool | int | float | str):
        return (type(value),)
    if isinstance(value, tuple) and len(value) < 4:
        return (tuple, *map(kind_of, value))
    if isinstance(value, list | tuple | set | frozenset):
        return type(value), _kinds_of(value)
    if isinstance(value, dict):
        return dict, _kinds_of(value), _kinds_of(value.values())
    return repr(value)


def _kinds_of(values: Any) -> Hashable:
    return tuple((name, kind_of(value)) for name, value in _by_type(values))


def _by_type(values: Any) -> list[tuple[str, Any]]:
    """The last value of each type, by the type's text; of no values, an integer."""
    return sorted({repr(type(value)): value for value in [*values] or [0]}.items())


def repetitive(item: Strategy, low: int, high: int) -> Strategy:
    """Lists of one or two items, repeated."""
    return st.lists(item, min_size=1, max_size=2).flatmap(
        lambda few: st.lists(st.sampled_from(few), min_size=low, max_size=high)
    )


def required_parameters(arguments: ast.arguments) -> list[ast.arg]:
    """The parameters without a default that can be passed by position."""
    positional = [*arguments.posonlyargs, *arguments.args]
    return positional[: len(positional) - len(arguments.defaults)]


def _callables() -> Strategy:
    return st.sampled_from([Built(text) for text in ("lambda *a: a[0]", "lambda *a: 0", "lambda *a: True")])


def _last(node: ast.expr) -> str:
    """`List` from `typing.List`, and from `typing.List[int]`."""
    if isinstance(node, ast.Subscript):
        return _last(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ast.unparse(node)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _parse_annotation(text: str) -> ast.expr:
    try:
        return parse_expression(text)
    except SyntaxError:
        raise Unknown(text) from None


def _is_encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
