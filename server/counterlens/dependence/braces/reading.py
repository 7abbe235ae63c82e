"""The effects of an expression, its reads and bindings, in a language with braces.

Rules:

- Parts are read in order of evaluation, from left to right; a part that may be skipped (after `&&` and `||`,
  in a conditional expression) binds weakly: it kills nothing.
- `x += v`, `x++` and `--x` read and bind `x`.
- A place (`effects.py`) is a variable and the first selector after it: stores to it add a definition and
  kill none. Different constant indices are different places. A store reads the indices and the name of the
  container of the place, not its content. A store to a constant index or a field of a variable hides earlier
  stores to the same one.
- A call changes the objects that `Calls` lists for its name, and no others. A call that changes the object
  of a variable, not of a place in it, is like `x += v`: it makes a new state from the old one, and kills the
  earlier definitions.
- Blocks and classes inside an expression read what they capture *later*; they read it immediately if they are
  passed to a method that consumes them before it returns.

Rules of names, which have block scope:

- A declaration is visible from its position to the end of its block; one in a nested block shadows it there.
- Several variables of one name in one function are distinguished by a mark.
- A name that the function does not declare refers outside of it: to a field, a global variable, a type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from tree_sitter import Node

from counterlens.dependence.effects import MARK, Effects, Place, bind, see
from counterlens.syntax.definitions import text_of

Part = Callable[["BraceReading", Node], None]
Inner = Callable[[Node], tuple[Node, str | None] | None]
_CONSTANTS = frozenset({"decimal_integer_literal", "number_literal", "string_literal", "char_literal"})


class Blocks:
    """The variables of one function, as its blocks are visited in source order."""

    def __init__(self) -> None:
        self._open: list[dict[str, str]] = [{}]
        self._declared: dict[
            int, str
        ] = {}  # by the byte offset of the declaration, because a block may be visited again
        self._count: dict[str, int] = {}

    @contextmanager
    def block(self) -> Iterator[None]:
        """Enter a block, and leave it at the end of the `with`."""
        self._open.append({})
        try:
            yield
        finally:
            self._open.pop()

    def declare(self, identifier: Node) -> str:
        """The variable that a declaration creates."""
        name = text_of(identifier)
        at = identifier.start_byte
        if at not in self._declared:
            count = self._count[name] = self._count.get(name, 0) + 1
            self._declared[at] = name if count == 1 else f"{name}{MARK}{count}"
        self._open[-1][name] = self._declared[at]
        return self._declared[at]

    def variable(self, name: str) -> str:
        """The variable to which a name refers here."""
        for block in reversed(self._open):
            if name in block:
                return block[name]
        return self.outside(name)

    def outside(self, name: str) -> str:
        """The variable of a name outside of the function, even if a declaration shadows it."""
        return f"{name}{MARK}outside"


@dataclass(frozen=True, slots=True)
class Calls:
    """The effects of calls, by the name of the callee.

    Attributes:
        methods: Methods that change their receiver.
        accessors: Methods that return a part of their receiver, like an index.
        functions: Functions that change arguments, with the positions of these, from 0.
        eager: Methods that consume their arguments before they return.
        terminators: Calls that do not return.
    """

    methods: frozenset[str] = frozenset()
    accessors: frozenset[str] = frozenset()
    functions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    eager: frozenset[str] = frozenset()
    terminators: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Syntax:
    """The rules for reading a language's expressions.

    Attributes:
        parts: Readers by node type; nodes of other types read all their children.
        inner: By node type, the expression and the selector that a node selects with: one step towards the
            variable of a place; the selector is None if nothing is selected (parentheses, a cast).
        calls: The effects of calls.
    """

    parts: Mapping[str, Part]
    inner: Mapping[str, Inner]
    calls: Calls


@dataclass(slots=True)
class BraceReading:
    """Collects the effects of parts of a statement.

    Attributes:
        syntax: The rules of the language.
        blocks: The variables in scope.
        effects: The effects so far.
        eager: Ids of nodes that are consumed immediately.
    """

    syntax: Syntax
    blocks: Blocks
    effects: Effects = field(default_factory=Effects)
    eager: set[int] = field(default_factory=set)
    _stack: list[Node | Callable[[], None]] = field(default_factory=list)
    _skippable: int = 0
    _seen: list[str] = field(default_factory=list)

    def all(self, *nodes: Node | None) -> Effects:
        """Read nodes in sequence."""
        for node in nodes:
            if node is None:
                continue
            self._stack.append(node)
            while self._stack:
                self._next(self._stack.pop())
        return self.effects

    def _next(self, item: Node | Callable[[], None]) -> None:
        if not isinstance(item, Node):
            item()
            return
        part = self.syntax.parts.get(item.type)
        if part is None:
            self._stack.extend(reversed(item.named_children))
        else:
            part(self, item)

    def then(self, *items: Node | Callable[[], None] | None) -> None:
        """Push items to be processed in this order before all others."""
        self._stack.extend(item for item in reversed(items) if item is not None)

    def perhaps(self, *items: Node | Callable[[], None] | None) -> None:
        """Push items whose evaluation may be skipped."""
        self.then(self._enter, *items, self._leave)

    def _enter(self) -> None:
        self._skippable += 1

    def _leave(self) -> None:
        self._skippable -= 1

    # variables and places

    def see(self, variable: str, which: str = "") -> None:
        """Record a read of a variable, or of a part of its object."""
        self._seen.append(variable)
        see(self.effects, variable, which)

    def reads(self, into: set[str]) -> tuple[Callable[[], None], Callable[[], None]]:
        """Callbacks before and after some parts that collect the variables read in between."""
        start: list[int] = []
        return (
            lambda: start.append(len(self._seen)),
            lambda: into.update(self._seen[start.pop() :]),
        )

    def flowing(self, target: Callable[[], str | None]) -> tuple[Callable[[], None], Callable[[], None]]:
        """Callbacks before and after the parts whose values flow into a variable."""
        sources: set[str] = set()
        begun, ended = self.reads(sources)

        def flown() -> None:
            ended()
            variable = target()
            if variable is not None:
                self.effects.into.setdefault(variable, set()).update(sources)

        return begun, flown

    def target(self, node: Node) -> str | None:
        """The variable that a store to a node binds or whose object it changes."""
        place = self.place(node)
        return None if place is None else place[0]

    def bind(self, variable: str, *, perhaps: bool = False) -> None:
        """Record a binding of a variable."""
        bind(self.effects, variable, perhaps=perhaps or self._skippable > 0)

    def place(self, node: Node) -> Place | None:
        """The place of an expression; None if it does not start with a variable."""
        which: str | None = None
        while True:
            inner = self.syntax.inner.get(node.type)
            step = None if inner is None else inner(node)
            if step is None:
                break
            node, selector = step
            which = which if selector is None else selector
        variable = self.root(node)
        return None if variable is None else (variable, which or "")

    def root(self, node: Node) -> str | None:
        """The variable that a node names; None if it is not a variable."""
        return self.blocks.variable(text_of(node)) if node.type == "identifier" else None

    def change(self, node: Node | None, *, whole: bool = False) -> None:
        """Record a change of the object of a place."""
        changed = None if node is None else self.place(node)
        if changed is not None:
            self.effects.changed.add((changed[0], "" if whole else changed[1]))

    def renew(self, node: Node | None) -> None:
        """Record that a call changed an object; if it is a variable's, earlier definitions are killed."""
        self.change(node)
        variable = None if node is None else self.root(without_brackets(node))
        if variable is not None and not self._skippable:
            self.effects.killed.add(variable)

    def selecting(self, target: Node) -> list[Node | Callable[[], None]]:
        """The parts evaluated to locate a store: the indices and the container's name."""
        parts: list[Node | Callable[[], None]] = []
        node = without_brackets(target)
        while self.root(node) is None:
            inner = self.syntax.inner.get(node.type)
            step = None if inner is None else inner(node)
            if step is None:
                parts.append(node)
                return parts[::-1]
            index = node.child_by_field_name("index") or node.child_by_field_name("right")
            parts += [] if index is None else [index]
            node = without_brackets(step[0])
        variable = self.root(node)
        if variable is not None and node != without_brackets(target):
            parts.append(partial(self._see_name, variable))
        return parts[::-1]

    def _see_name(self, variable: str) -> None:
        """Record a read of a name without its object."""
        self._seen.append(variable)
        if variable in self.effects.strong:
            self.effects.own.add(variable)
        else:
            self.effects.reads.add(variable)

    def store(self, target: Node) -> None:
        """Bind a name or change a place, after the parts of the target were read."""
        target = without_brackets(target)
        variable = self.root(target)
        if variable is not None:
            self.bind(variable)
            return
        self.change(target)
        inner = self.syntax.inner.get(target.type)
        step = None if inner is None else inner(target)
        if step is not None and step[1] and not self._skippable:
            variable = self.root(without_brackets(step[0]))
            if variable is not None:
                self.effects.renewed.add((variable, step[1]))


def without_brackets(node: Node) -> Node:
    """The expression inside parentheses."""
    while node.type == "parenthesized_expression" and node.named_child_count:
        node = node.named_children[-1]
    return node


def selector(index: Node | None) -> str:
    """The selector of an element, if the index is constant; else empty."""
    return f"[{text_of(index)}]" if index is not None and index.type in _CONSTANTS else ""


# Readers common to these languages


def identifier(reading: BraceReading, node: Node) -> None:
    """Read a variable."""
    reading.see(reading.blocks.variable(text_of(node)))


def assignment(reading: BraceReading, node: Node) -> None:
    """Read `a = b` or `a += b`."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    target = without_brackets(left)
    if text_of(node.child_by_field_name("operator")) == "=":
        first: list[Node | Callable[[], None]] = reading.selecting(target)
    else:
        first = [target]
    begun, ended = reading.flowing(lambda: reading.target(target))
    reading.then(begun, *first, right, ended, lambda: reading.store(target))


def update(reading: BraceReading, node: Node) -> None:
    """Read `x++` and similar expressions."""
    operand = node.named_children[-1]
    begun, ended = reading.flowing(lambda: reading.target(operand))
    reading.then(begun, operand, ended, lambda: reading.store(operand))


def binary(reading: BraceReading, node: Node) -> None:
    """Read an operator; the right operand of `&&` and `||` may be skipped."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if text_of(node.child_by_field_name("operator")) in {"&&", "||"}:
        reading.then(left, lambda: reading.perhaps(right))
    else:
        reading.then(left, right)


def conditional(reading: BraceReading, node: Node) -> None:
    """Read `a ? b : c`."""
    consequence, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
    reading.then(node.child_by_field_name("condition"), lambda: reading.perhaps(consequence, other))


def read_selection(reading: BraceReading, node: Node) -> None:
    """Read a part of an object, such as a field or an element, and its index."""
    inner = reading.syntax.inner[node.type]
    step = inner(node)
    if step is None:
        variable = reading.root(node)
        if variable is not None:
            reading.see(variable)
        return
    value, which = step
    variable = reading.root(without_brackets(value))
    index = node.child_by_field_name("index")
    if variable is None:
        reading.then(value, index)
    else:
        reading.see(variable, which or "")
        reading.then(index)


def nothing(reading: BraceReading, node: Node) -> None:
    """Read nothing: a type, a label, a comment."""


COMMON: dict[str, Part] = {
    "identifier": identifier,
    "assignment_expression": assignment,
    "update_expression": update,
    "binary_expression": binary,
    "line_comment": nothing,
    "block_comment": nothing,
    "comment": nothing,
}
