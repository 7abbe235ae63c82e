"""Find Java tests that rely on the program, from their text and from the program's results."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from counterlens.attribution.java.bench import TestsReport
from counterlens.attribution.java.stand_ins import read_tests
from counterlens.syntax.grammars import parser_for
from counterlens.syntax.tree import descendants

_NOTHING = (
    "it returned nothing where the tests loop over its result, access it or check it first, so nothing "
    "was compared there"
)
_NUMBER = "it returned NaN or infinity, which a difference does not distinguish from other numbers"
_SWALLOWED = "the tests silently catch the exceptions that they throw on failure"
_CAUGHT = "it threw an exception that the tests catch before their assertion"
_SILENT = "no test asserts anything in its own thread"
_KIND = "the tests compare only values of a certain class"
_OWN = "the tests compare only values of the program with each other"
_SHORT = "the tests compare only as many items as it returned, and never check their number"
_SEARCHES = frozenset(
    [
        "contains",
        "containsAll",
        "endsWith",
        "ifPresent",
        "indexOf",
        "matches",
        "orElse",
        "removeAll",
        "retainAll",
        "startsWith",
    ]
)
_CHECKING = re.compile(r"(?i)(assert|fail|check|verify|expect|require|ensure|equals)")
_COMPARED = frozenset(["equals", "deepEquals", "assertEquals", "assertArrayEquals", "assertIterableEquals"])
_SIGNS = frozenset(["==", "!=", "<", "<=", ">", ">="])
_LITERALS = ("true", "false")  # and node types that end in `_literal`


def reasons_for_weakness(tests: str, report: TestsReport) -> list[str]:
    """Why "passed" is weak evidence.

    Args:
        tests: The text of the tests.
        report: The result of the program's tests.
    """
    text = _Text(tests)
    found = {
        _NOTHING: report.nothing and (read_tests(tests, "").loops or text.asks_for_something),
        _NUMBER: report.strange and not re.search(r"(?i)nan\b|infinit", tests),
        _CAUGHT: report.raised and text.catches,
        _SWALLOWED: text.catches_its_own,
        _SILENT: text.is_silent,
        _KIND: text.asks_for_a_class,
        _OWN: text.compares_its_own,
        _SHORT: text.compares_no_more,
    }
    return [doubt for doubt, holds in found.items() if holds]


class _Text:
    def __init__(self, tests: str) -> None:
        self._root = parser_for("java").parse(tests.encode()).root_node
        self._nodes = list(descendants(self._root))
        self._calls = [node for node in self._nodes if node.type == "method_invocation"]
        classes = [node for node in self._nodes if node.type in ("class_declaration", "record_declaration")]
        self._defined = {_name(node) for node in classes}
        methods = [node for node in self._nodes if node.type == "method_declaration"]
        self._helpers = {_name(node) for node in methods}
        self._values: dict[str, list[tree_sitter.Node]] = {}
        for node in self._nodes:
            gives = node.type in ("variable_declarator", "enhanced_for_statement")
            if gives and (value := node.child_by_field_name("value")):
                self._values.setdefault(_name(node), []).append(value)

    @property
    def asks_for_something(self) -> bool:
        """Whether they inspect a value, or compare it only if it is not null."""
        for call in self._calls:
            receiver = call.child_by_field_name("object")
            if _name(call).startswith("assume"):
                return True
            if _name(call) in _SEARCHES and any(
                map(self._is_own, [*_arguments(call)[:1], *_maybe(receiver)])
            ):
                return True
        return any(_of_null(condition) for condition in self._guards())

    @property
    def asks_for_a_class(self) -> bool:
        """Whether they compare a value only if it is an instance of a class."""
        return any(
            any(inner.type == "instanceof_expression" for inner in descendants(condition))
            for condition in self._guards()
        )

    @property
    def catches(self) -> bool:
        """Whether they silently catch an exception that ends a block with a check."""
        return any(silent for _, silent in self._comparing_tries())

    @property
    def catches_its_own(self) -> bool:
        """Whether they silently catch the exceptions that they throw themselves if a comparison fails."""
        return any(
            _takes(caught, thrown)
            for body, silent in self._comparing_tries()
            for thrown in _thrown(body)
            for caught in silent
        )

    @property
    def is_silent(self) -> bool:
        """Whether no code throws or asserts, except code that another thread runs."""
        return not any(_is_check(node) and not _in_thread(node) for node in self._nodes)

    @property
    def compares_its_own(self) -> bool:
        """Whether both sides of each comparison come from the program, or the program compares them."""
        found = [bool(sides) and all(map(self._is_own, sides)) for sides in self._comparisons()]
        return bool(found) and all(found)

    @property
    def compares_no_more(self) -> bool:
        """Whether they compare items up to the length of the program's value, but never the length."""
        lengths = [node for node in self._nodes if self._is_length(node)]
        bounds = [node for node in lengths if _is_bound(node)]
        return bool(bounds) and len(bounds) == len(lengths) and self._indexes_others(bounds)

    def _comparing_tries(self) -> Iterator[tuple[tree_sitter.Node, list[str]]]:
        """The blocks that compare something, and the exceptions that are silently caught there."""
        for node in self._nodes:
            body = node.child_by_field_name("body")
            if node.type in ("try_statement", "try_with_resources_statement") and body and _compares(body):
                clauses = [
                    each
                    for each in node.children
                    if each.type == "catch_clause" and not _contains_check(each)
                ]
                yield (
                    body,
                    [
                        _text(kind).rpartition(".")[2]
                        for clause in clauses
                        for kinds in descendants(clause)
                        if kinds.type == "catch_type"
                        for kind in kinds.named_children
                    ],
                )

    def _guards(self) -> Iterator[tree_sitter.Node]:
        """The conditions that decide whether anything is compared."""
        for node in self._nodes:
            if node.type == "binary_expression" and _sign(node) == ("&&" if _is_tested(node) else "||"):
                left = node.child_by_field_name("left")
                if left is not None:
                    yield left
            elif node.type == "if_statement" and node.child_by_field_name("alternative") is None:
                inside = node.child_by_field_name("consequence")
                if inside is not None and _compares(inside):
                    yield node.children[1]

    def _comparisons(self) -> Iterator[list[tree_sitter.Node]]:
        bare: dict[str, set[bool]] = {}
        single: list[tuple[str, tree_sitter.Node]] = []
        for node in self._nodes:
            if node.type == "binary_expression" and _sign(node) in _SIGNS:
                yield [node.children[0], node.children[-1]]
            elif node.type == "method_invocation" and _name(node) in _COMPARED:
                receiver = node.child_by_field_name("object")
                sides = _arguments(node)
                library = receiver is None or _text(receiver) in ("Arrays", "Objects", "Assertions", "Assert")
                yield sides[:2] if library else [receiver, *sides]  # type: ignore[list-item]
            elif (found := _condition(node)) is not None:
                call, truth = found
                bare.setdefault(_name(call), set()).add(truth)
                single.append((_name(call), call))
        for name, call in single:
            receiver = call.child_by_field_name("object")
            judges = (
                _arguments(call) and len(bare[name]) == 1 and receiver is not None and self._is_made(receiver)
            )
            yield [call] if judges else []

    def _is_own(self, node: tree_sitter.Node, depth: int = 0) -> bool:
        """Whether an expression consists only of values of the program."""
        todo, found = [node], False
        while todo:
            part = todo.pop()
            if self._is_of_program(part):
                found = True
            elif part.type in _LITERALS or part.type.endswith("_literal"):
                return False
            elif part.type == "identifier":
                values = self._values.get(_text(part), [])
                if not values or depth > 5 or not all(self._is_own(each, depth + 1) for each in values):
                    return False
                found = True
            elif part.type == "method_invocation" and _name(part) in _COMPARED:
                return False
            elif part.type == "method_invocation":
                receiver = part.child_by_field_name("object")
                known = receiver is not None and _text(receiver) in ("Math", "Arrays", "Objects", "String")
                todo += _arguments(part) if known or receiver is None else [receiver]
                if _name(part) in self._helpers:
                    return False
            else:
                todo += part.named_children
        return found

    def _is_of_program(self, node: tree_sitter.Node) -> bool:
        """Whether a node is a call of a method of an object of the program."""
        if node.type != "method_invocation":
            return False
        receiver = node.child_by_field_name("object")
        return receiver is not None and (self._is_object(receiver) or self._is_type(receiver))

    def _is_type(self, node: tree_sitter.Node) -> bool:
        """Whether a node is the name of a class that is neither of the tests nor a known library class."""
        name = _text(node)
        known = name in self._values or name in self._defined
        return node.type == "identifier" and name[:1].isupper() and not known and name not in _LIBRARY

    def _is_object(self, node: tree_sitter.Node) -> bool:
        while node.type == "parenthesized_expression":
            node = node.named_children[0]
        if node.type == "object_creation_expression":
            kind = node.child_by_field_name("type")
            return kind is not None and _text(kind) not in _LIBRARY | self._defined and "<" not in _text(kind)
        if node.type == "identifier":
            return any(self._is_object(each) for each in self._values.get(_text(node), []) if each != node)
        return False

    def _is_made(self, node: tree_sitter.Node) -> bool:
        """Whether a node creates an object of the program from arguments."""
        if node.type == "identifier":
            return any(self._is_made(each) for each in self._values.get(_text(node), []) if each != node)
        while node.type == "parenthesized_expression":
            node = node.named_children[0]
        return self._is_object(node) and bool(_arguments(node))

    def _is_length(self, node: tree_sitter.Node) -> bool:
        if node.type == "field_access" and _text(node).endswith(".length"):
            return self._is_own(node.children[0])
        receiver = node.child_by_field_name("object")
        sized = node.type == "method_invocation" and _name(node) in ("size", "length")
        return sized and receiver is not None and self._is_own(receiver)

    def _indexes_others(self, bounds: list[tree_sitter.Node]) -> bool:
        for bound in bounds:
            loop = bound
            while loop.parent is not None and loop.type != "for_statement":
                loop = loop.parent
            for node in descendants(loop):
                array = node.child_by_field_name("array") if node.type == "array_access" else None
                if node.type == "method_invocation" and _name(node) == "get":
                    array = node.child_by_field_name("object")
                if array is not None and not self._is_own(array):
                    return True
        return False


_LIBRARY = frozenset(
    re.findall(
        r"\w+",
        """
        Arrays List Set Map Math Objects Collections String Integer Long Double Float Boolean Character
        Byte Short Optional Object StringBuilder ArrayList HashMap HashSet LinkedList TreeMap TreeSet Random
        System Thread Stream IntStream Collectors Assertions Assert Assumptions BigInteger BigDecimal Pattern
        LinkedHashMap LinkedHashSet ArrayDeque PriorityQueue Scanner
        """,
    )
)


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _name(node: tree_sitter.Node) -> str:
    name = node.child_by_field_name("name")
    return _text(name) if name is not None else ""


def _sign(node: tree_sitter.Node) -> str:
    sign = node.child_by_field_name("operator")
    return _text(sign) if sign is not None else ""


def _maybe(node: tree_sitter.Node | None) -> list[tree_sitter.Node]:
    return [] if node is None else [node]


def _arguments(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    found = node.child_by_field_name("arguments")
    return list(found.named_children) if found is not None else []


def _of_null(condition: tree_sitter.Node) -> bool:
    return any(
        node.type == "binary_expression" and any(each.type == "null_literal" for each in node.children)
        for node in descendants(condition)
    )


def _is_check(node: tree_sitter.Node) -> bool:
    if node.type in ("throw_statement", "assert_statement"):
        return True
    return node.type == "method_invocation" and bool(_CHECKING.match(_name(node)))


def _contains_check(node: tree_sitter.Node) -> bool:
    return any(map(_is_check, descendants(node)))


def _thrown(body: tree_sitter.Node) -> Iterator[str]:
    """The exceptions by which a block reports a failure, without their packages."""
    for node in descendants(body):
        made = node.named_children[0] if node.type == "throw_statement" else None
        kind = made.child_by_field_name("type") if made is not None else None
        if kind is not None:
            yield _text(kind).rpartition(".")[2]
        elif node.type != "throw_statement" and _is_check(node):
            yield "AssertionError"


def _takes(caught: str, thrown: str) -> bool:
    """Whether a clause for one exception catches another one, judging by their names."""
    if caught in ("Exception", "RuntimeException"):
        return thrown.endswith("Exception")
    return caught in ("Throwable", thrown) or (caught == "Error" and thrown.endswith("Error"))


def _compares(node: tree_sitter.Node) -> bool:
    """Whether a node throws or asserts depending on a condition, instead of always."""
    for each in descendants(node):
        if each.type == "assert_statement":
            return True
        if each.type == "if_statement" and _contains_check(each):
            return True
        named = _name(each) if each.type == "method_invocation" else ""
        if _CHECKING.match(named) and not named.lower().startswith("fail"):
            return True
    return False


def _in_thread(node: tree_sitter.Node) -> bool:
    """Whether a node is in a function passed to a thread."""
    while node.parent is not None:
        node = node.parent
        if node.type == "object_creation_expression" and _text(node).startswith("new Thread"):
            return True
    return False


def _condition(node: tree_sitter.Node) -> tuple[tree_sitter.Node, bool] | None:
    """A call that is a whole condition, and whether the tests continue if it is true."""
    truth = False
    if node.type in ("if_statement", "assert_statement"):
        test = node.child_by_field_name("condition") or node.named_children[0]
        truth = node.type == "assert_statement"
    elif node.type == "method_invocation" and _name(node) in ("assertTrue", "assertFalse"):
        arguments = [each for each in _arguments(node) if each.type != "string_literal"]
        if not arguments:
            return None
        test, truth = arguments[0], _name(node) == "assertTrue"
    else:
        return None
    while test.type in ("parenthesized_expression", "unary_expression") and test.named_children:
        truth ^= test.type == "unary_expression"
        test = test.named_children[0]
    return (test, truth) if test.type == "method_invocation" else None


def _is_tested(node: tree_sitter.Node) -> bool:
    """Whether a node is in the condition of an `if` that reports a failure if it is true."""
    parent = node.parent
    while parent is not None and not parent.type.endswith("statement"):
        node, parent = parent, parent.parent
    return parent is not None and parent.type == "if_statement"


def _is_bound(node: tree_sitter.Node) -> bool:
    """Whether a node is in the condition of a `for`."""
    parent = node.parent
    while parent is not None and parent.type != "for_statement":
        if parent.type == "block":
            return False
        node, parent = parent, parent.parent
    return parent is not None and parent.child_by_field_name("condition") == node
