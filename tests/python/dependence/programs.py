"""Random programs that end, with most constructs of Python; exceptions are raised, caught and suppressed.

No operation enlarges its operands (lists are not added, compared or printed), so memory is bounded.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator

from hypothesis import strategies as st

NAMES = st.sampled_from("abcde")
ATOMS = st.one_of(NAMES, NAMES, st.sampled_from(["k()", "k()", "k()", "[k(), k()]", "1"]))


class Thing:
    """A value that supports nearly all operations, and whose truth value varies.

    Args:
        ticks: Counts the operations; at its end, every operation raises an exception.
    """

    def __init__(self, ticks: Iterator[int]) -> None:
        self._ticks = ticks

    def __call__(self, *_: object) -> Thing:
        next(self._ticks)
        return Thing(self._ticks)

    __sub__ = __rsub__ = __getitem__ = append = __call__

    def __bool__(self) -> bool:
        return next(self._ticks) % 5 not in (1, 3)

    def __iter__(self) -> Iterator[Thing]:
        return iter([self(), self()])


@st.composite
def expressions(draw: st.DrawFn) -> str:
    """An expression; many raise, because a name is unbound or a value has the wrong type."""
    x, y, z = draw(ATOMS), draw(ATOMS), draw(NAMES)
    return draw(
        st.sampled_from(
            [
                x,
                f"({x}, {y})",
                f"{x} is {y}",
                f"({z} := {x})",
                f"({x} and ({z} := {y}))",
                f"(({z} := {x}) or {z})",
                f"({x} if {y} else {z})",
                f"[{z} for {z} in [{x}, {y}]]",
                f"[({z} := i) for i in [{x}, {y}] if i is not {y}]",
                f"sum(0 for i in [{x}] if {y} is {z})",
                f"(lambda {z}: ({z}, {y}))({x})",
                f"f'{{bool({x})}}'",
                f"bool({x})",
                f"{x}[0]",
                f"{x} - {y}",
            ]
        )
    )


@st.composite
def blocks(draw: st.DrawFn, depth: int = 3, *, loop: bool = False, top: bool = False) -> str:
    """Some statements; `loop` allows `break` and `continue`, `top` forbids `return`."""
    return "\n".join(draw(statements(depth, loop=loop, top=top)) for _ in range(draw(st.integers(1, 3))))


@st.composite
def statements(draw: st.DrawFn, depth: int, *, loop: bool, top: bool) -> str:
    """One statement."""
    simple = ["assign", "augment", "expression", "tuple"] * 3 + [
        "append",
        "assert",
        "raise",
        "import",
        "delete",
    ]
    simple += [] if top else ["return"]
    simple += ["break", "continue"] * 2 * loop
    compound = ["if", "while", "for", "try", "finally", "with", "match", "def", "class", "late"]
    kind = draw(st.sampled_from(simple + compound * 2 if depth else simple))
    if kind in compound:
        return _compound(draw, kind, depth, loop=loop, top=top)
    x, y = draw(NAMES), draw(NAMES)
    one = draw(expressions())
    return {
        "assign": f"{x} = {one}",
        "augment": f"{x} -= {one}",
        "tuple": f"{x}, *{y} = {one}, 1",
        "delete": f"del {x}",
        "expression": one,
        "append": f"{x}.append({one})",
        "assert": f"assert {one}",
        "raise": draw(st.sampled_from(["raise KeyError", "raise ValueError(1)", f"raise k({x})"])),
        "import": f"import sys as {x}",
        "return": f"return {one}",
        "break": "break",
        "continue": "continue",
    }[kind]


def _compound(draw: st.DrawFn, kind: str, depth: int, *, loop: bool, top: bool) -> str:
    def body(*, inner: bool = loop, free: bool = top, indent: int = 1) -> str:
        return textwrap.indent(draw(blocks(depth - 1, loop=inner, top=free)), "    " * indent)

    x, y = draw(NAMES), draw(NAMES)
    one = draw(expressions())
    tail = f"\nelse:\n{body()}" if draw(st.booleans()) else ""
    caught = draw(st.sampled_from(["KeyError", "(ValueError, TypeError)", "Exception"]))
    manager = draw(st.sampled_from(["suppress(NameError, TypeError)", "null()"]))
    guard = draw(st.sampled_from(["", f" if {x}"]))
    nonlocal_ = "" if top else draw(st.sampled_from(["", f"    nonlocal {y}\n"]))
    write: dict[str, Callable[[], str]] = {
        "if": lambda: f"if {one}:\n{body()}\nelif {x}:\n{body()}{tail}",
        "while": lambda: f"while tick() and {one}:\n{body(inner=True)}{tail}",
        "for": lambda: f"for {x} in [{one}, {y}]:\n{body(inner=True)}{tail}",
        "try": lambda: (
            f"try:\n{body()}\nexcept {caught} as {x}:\n{body()}\nexcept NameError:\n{body()}{tail}"
        ),
        "finally": lambda: f"try:\n{body()}\nfinally:\n{body(inner=False)}",
        "with": lambda: f"with {manager} as {x}:\n{body()}",
        "match": lambda: (
            f"match {one}:\n    case [{x}, {y if y != x else '_'}]{guard}:\n{body(indent=2)}\n"
            f"    case {{'k': {x}}} | [{x}]:\n{body(indent=2)}"
        ),
        "class": lambda: f"class {x}:\n{body(inner=False, free=True)}",
        "late": lambda: f"{x} = lambda: {one}\n{draw(statements(0, loop=False, top=top))}\nk({x}())",
        "def": lambda: f"def {x}():\n{nonlocal_}{body(inner=False, free=False)}\nk({x}())",
    }
    return write[kind]()


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A module with a function that is called a few times; initially, all names are bound."""
    inner = textwrap.indent(draw(blocks()), "    ")
    module = draw(blocks(2, top=True))
    bound = "a = b = c = d = e = k()"
    return f"def f(a, b=1, *c, d=2):\n    e = k()\n{inner}\n\n{bound}\n{module}\n"
