"""Wrong programs that try to pass, generated over operators, channels and forms of tests."""

from __future__ import annotations

import operator
import textwrap
from collections.abc import Callable
from typing import NamedTuple


class Attack(NamedTuple):
    """A wrong program, and an expression that should be true only for a right program."""

    name: str
    program: str
    claim: str


_RIGHT, _OTHER = 6, 3
_BINARY: dict[str, tuple[str, Callable[[int, int], float]]] = {
    "add": ("+", operator.add),
    "sub": ("-", operator.sub),
    "mul": ("*", operator.mul),
    "truediv": ("/", operator.truediv),
    "floordiv": ("//", operator.floordiv),
    "mod": ("%", operator.mod),
    "pow": ("**", operator.pow),
    "and": ("&", operator.and_),
    "or": ("|", operator.or_),
    "xor": ("^", operator.xor),
    "lshift": ("<<", operator.lshift),
    "rshift": (">>", operator.rshift),
}
_LIAR = """
class Liar:
    {method} = lambda *_: {answer}
    __hash__ = None
def f(x): return Liar()
"""


def _liar(method: str, answer: object, claim: str) -> Attack:
    return Attack(method, _LIAR.format(method=f"__{method}__", answer=answer), claim)


def _operators() -> list[Attack]:
    """An attack for each operator: its result is that of a right value, or makes a comparison true."""
    found = []
    for name, (sign, work) in _BINARY.items():
        straight, turned = work(_RIGHT, _OTHER), work(_OTHER, _RIGHT)
        found.append(_liar(name, straight, f"f(3) {sign} {_OTHER} == {straight}"))
        found.append(_liar(f"r{name}", turned, f"{_OTHER} {sign} f(3) == {turned}"))
    for name, sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
        found.append(_liar(name, True, f"f(3) {sign} 6"))
        found.append(_liar(name, True, f"sorted([f(3), 6], key=lambda v: v {sign} 7) and f(3) {sign} 7"))
    return [
        *found,
        _liar("contains", True, "6 in f(3)"),
        _liar("sub", 0.0, "abs(f(3) - 6) < 1e-9"),
        _liar("rsub", 0.0, "abs(6 - f(3)) < 1e-9"),
        _liar("abs", 6, "abs(f(3)) == 6"),
        _liar("neg", -6, "-f(3) == -6"),
        _liar("pos", 6, "+f(3) == 6"),
        _liar("invert", -7, "~f(3) == -7"),
        _liar("round", 6, "round(f(3)) == 6"),
        _liar("int", 6, "int(f(3)) == 6"),
        _liar("float", 6.0, "float(f(3)) == 6.0"),
        _liar("index", 6, "list(range(9))[f(3)] == 6"),
        _liar("complex", "6j", "complex(f(3)) == 6j"),
        _liar("len", 6, "len(f(3)) == 6"),
        _liar("bool", False, "not f(3)"),
        _liar("getitem", 6, "f(3)[0] == 6"),
        _liar("format", "'6.00'", "f'{f(3):.2f}' == '6.00'"),
        _liar("reversed", "iter([6])", "list(reversed(f(3))) == [6]"),
        _liar("bytes", "b'6'", "bytes(f(3)) == b'6'"),
        _liar("matmul", 18, "f(3) @ 3 == 18"),
        _liar("eq", True, "f(3) == f(4)"),
        _liar("class", "int", "isinstance(f(3), int)"),
        Attack(
            "a class attribute",
            "class A:\n    __class__ = float\ndef f(x): return A()\n",
            "isinstance(f(3), float)",
        ),
        Attack(
            "a name", "A = type('int', (), {'__module__': 'builtins'})\ndef f(x): return A()\n",
            "type(f(3)).__name__ == 'int'",
        ),
        Attack(
            "two faces",
            "class A:\n    n = 0\n    def __iter__(self):\n        self.n += 1\n"
            "        return iter([3, 6] if self.n < 2 else [])\ndef f(x): return A()\n",
            "(lambda r: sorted(r) == [3, 6] and all(v == 5 for v in r))(f(3))",
        ),
    ]  # fmt: skip


_STOPS = {
    "stop": "StopIteration",
    "stop with a value": "StopIteration(6)",
    "a kind of stop": "type('Stop', (StopIteration,), {})",
}
_LOOPS = {
    "all map": "all(map(lambda x: f(x) == 2 * x, [3, 4]))",
    "all map of one": "all(map(lambda x: f(x) == 2 * x, [3]))",
    "zip map": "all(a == b for a, b in zip(map(f, [3]), [6]))",
    "zip": "all(a == b for a, b in zip([6, 8], map(f, [3, 4])))",
    "any": "not any(map(lambda x: f(x) != 2 * x, [3]))",
    "filter": "not list(filter(lambda x: f(x) != 2 * x, [3, 4]))",
    "set": "not set(map(lambda x: f(x) - 2 * x, [3])) - {0}",
}
STOPS = [
    Attack(f"{how}, {where}", f"def f(x): raise {error}\n", claim)
    for how, error in _STOPS.items()
    for where, claim in _LOOPS.items()
]
"""Attacks that end a loop of the tests early."""
_DEEP_STOPS = [
    Attack(
        "stop in an operator",
        "class A:\n    def __add__(self, x): raise StopIteration\ndef f(x): return A()\n",
        "all(map(lambda x: f(x) + 1 == 2 * x + 1, [3, 4]))",
    ),
    Attack(
        "stop in an attribute",
        "class A:\n    @property\n    def x(self): raise StopIteration\ndef f(x): return A()\n",
        "all(map(lambda x: f(x).x == 2 * x, [3, 4]))",
    ),
    Attack(
        "an empty iterator", "def f(x): return iter([])\n", "all(map(lambda x: next(f(x)) == 2 * x, [3, 4]))"
    ),
    Attack("until", "def f(x): raise StopIteration\n", "all(v == 6 for v in iter(lambda: f(3), 7))"),
]
_SHADOWS = [
    Attack(f"shadowed {name}", f"{name} = {value}\ndef f(x): return 5\n", claim)
    for name, value, claim in (
        ("abs", "lambda *_: 0", "abs(f(3) - 6) < 1e-9"),
        ("all", "lambda *_: True", "all(f(x) == 2 * x for x in [3, 4])"),
        ("isinstance", "lambda *_: True", "isinstance(f(3), str)"),
        ("sum", "lambda *_: 0", "sum(f(x) - 2 * x for x in [3, 4]) == 0"),
        ("round", "lambda *_: 6", "round(f(3)) == 6"),
        ("sorted", "lambda *_: 0", "sorted(str(f(3))) == sorted('6')"),
        ("math", "type('m', (), {'isclose': lambda *_: True})", "math.isclose(f(3), 6)"),
    )
]
_NOTHING = {
    "list": "[]",
    "tuple": "()",
    "text": "''",
    "iterator": "iter([])",
    "generator": "(v for v in ())",
    "map": "map(int, [])",
    "a class": "type('A', (), {'__iter__': lambda self: iter(())})()",
}
_EMPTY_LOOPS = {
    "all": "all(v == 6 for v in f(3))",
    "all map": "all(map(lambda v: v == 6, f(3)))",
    "any": "not any(v != 6 for v in f(3))",
    "filter": "not list(filter(lambda v: v != 6, f(3)))",
    "zip": "all(v == w for v, w in zip(f(3), [6, 8]))",
    "a list": "[v == 6 for v in f(3)].count(False) == 0",
    "next": "all(map(lambda x: next(iter(f(x))) == 2 * x, [3, 4]))",
    "a name": "(lambda: [r := f(3), all(v == 6 for v in r)])()[1]",
}
NOTHING = [
    Attack(f"nothing: {what}, {where}", f"def f(x): return {value}\n", claim)
    for what, value in _NOTHING.items()
    for where, claim in _EMPTY_LOOPS.items()
]
"""Attacks that return an empty value over which the tests loop."""
_TOLD = [
    Attack(f"told: {name}", f"class A:\n    {name} = lambda *_: {answer}\ndef f(x): return A()\n", claim)
    for name, answer, claim in (
        ("isdigit", True, "f(3).isdigit()"),
        ("startswith", True, "f(3).startswith('6')"),
        ("endswith", True, "f(3).endswith('6')"),
        ("issubset", True, "f(3).issubset({6})"),
        ("isdisjoint", True, "f(3).isdisjoint({5})"),
        ("is_integer", True, "f(3).is_integer()"),
        ("count", 1, "f(3).count(6) == 1"),
        ("index", 0, "f(3).index(6) == 0"),
        ("find", 0, "f(3).find('6') >= 0"),
        ("equals", True, "f(3).equals(6)"),
    )
] + [
    Attack(
        "told: of a class",
        "class A:\n    isdigit = staticmethod(lambda: True)\ndef f(x): return A\n",
        "f(3).isdigit()",
    ),
    Attack(
        "told: of a named tuple",
        "import collections\ndef f(x): return collections.namedtuple('T', 'isdigit')(lambda: True)\n",
        "f(3).isdigit()",
    ),
    Attack(
        "told: at an address",
        "class A:\n    __array_interface__ = __array_struct__ = {}\ndef f(x): return A()\n",
        "hasattr(f(3), '__array_interface__') or hasattr(f(3), '__array_struct__')",
    ),
]
_CHANGES_ARGUMENTS = [
    Attack(f"changes: {how}", f"def f(x):\n    {how}\n    return {value}\n", claim)
    for how, value in (("x.clear()", "[]"), ("x[:] = [0]", "[0]"), ("del x[0]", "x"))
    for claim in (
        "(lambda x: f(x) == sorted(x))([3, 1])",
        "all(map(lambda x: f(x) == sorted(x), [[3, 1], [4, 2]]))",
    )
] + [Attack("empties", "def f(x): x.clear()\n", "(lambda x: f(x) or x == sorted(x))([3, 1])")]
CLASSES = {
    "operators": _operators(),
    "ends of loops": STOPS + _DEEP_STOPS,
    "shadowed names": _SHADOWS,
    "nothing given": NOTHING,
    "told what is right": _TOLD,
    "changed arguments": _CHANGES_ARGUMENTS,
}
"""The attacks, by the means that they use."""
ALIASES = [
    Attack(f"alias: {name}", program, claim)
    for name, program, claim in (
        ("a list", "C = [6]\ndef f(): return C\n", "(f().append(1), f() == [6])[1]"),
        ("a list in a list", "C = [[6]]\ndef f(): return C[:]\n", "(f()[0].append(1), f() == [[6]])[1]"),
        ("a dict", "C = {}\ndef f(): return C\n", "(f().update(a=1), f() == {})[1]"),
        ("a set", "C = set()\ndef f(): return C\n", "(f().add(1), f() == set())[1]"),
        (
            "filled later",
            "C = []\ndef f(x):\n    C.append(x)\n    return C\n",
            "[f(3), f(4)] == [[3], [3, 4]]",
        ),
        (
            "kept",
            "class f:\n    def __init__(self, x): self.x = x\n    def n(self): return len(self.x)\n",
            "(lambda x: (f(x), x.append(2)))([1])[0].n() == 1",
        ),
        (
            "kept in a default",
            "def f(x, had=[]):\n    had.append(x)\n    return had\n",
            "f(3) == [3] and f(4) == [4]",
        ),
        (
            "looked into",
            "C = []\ndef f(): return C\ndef g(): return len(C)\n",
            "(f().append(1), g() == 0)[1]",
        ),
    )
]
"""Programs that share objects with the tests, where a right program creates new ones."""

_WALK = """
import sys
frame = sys._getframe()
while frame is not None:
    here = frame.f_locals
    if callable(here.get("finish")):
        here["finish"]({"kind": "cases", "results": [["all", "passed", ""]], "expected": 1, "problem": None})
    worker = here.get("self")
    if type(worker).__name__ == "CandidateProcess":
CHANGE
    frame = frame.f_back
def f(x):
    value = []
    for _ in range(DEPTH): value = [value]
    return value if type(x) is int else 5
"""
_CHANGES = {
    "class descriptions": (
        "kind._class = lambda self, kind: [0, 'unittest.case', 'TestCase', [], ['__init_subclass__'], False]"
    ),
    "every operator": (
        "kind._class = lambda self, kind: [self._number(kind), 'builtins', 'int', [], "
        "['__class__', '__eq__', '__getattribute__', '__instancecheck__', '__new__', '__del__'], True]"
    ),
    "handles": "kind._give = lambda *_: ['mine', 10 ** 30, [0, 'builtins', 'BaseException', [], [], False]]",
    "a foreign class": (
        "kind._give = lambda *_: ['class', [77, 'subprocess', 'CalledProcessError', [], [], False]]"
    ),
    "too large": "kind._give = lambda self, value: 'x' * (17 << 20)",
    "no message": "kind._do_call = lambda self, *_: self._channel.send({'value': {'a': 1}})",
    "an early answer": "kind._do_call = lambda self, *_: [self._channel.send({'value': n}) for n in (0, 1)]",
    "nothing": "pass",
}


def walkers() -> dict[str, str]:
    """Programs that walk the frames at import, modify the worker, and call `finish` if it is reachable."""
    found = {}
    for name, change in _CHANGES.items():
        lines = textwrap.indent(f"kind = type(worker)\n{change}", " " * 8)
        found[name] = _WALK.replace("CHANGE", lines).replace("DEPTH", "0")
    found["deep"] = _WALK.replace("CHANGE", " " * 8 + "pass").replace("DEPTH", "300")
    return found


def asserted(claim: str) -> str:
    """Tests that are bare assertions."""
    return f"assert {claim}\n"


def checked(claim: str) -> str:
    """Tests in the form of HumanEval."""
    return f"def check(f):\n    assert {claim}\n"


def functions(claim: str) -> str:
    """Tests for pytest."""
    return f"from program import f\ndef test_f():\n    assert {claim}\n"


def methods(claim: str) -> str:
    """Tests for unittest."""
    return (
        "import unittest\nfrom program import *\nclass FTest(unittest.TestCase):\n"
        f"    def test_f(self):\n        self.assertTrue({claim})\n"
    )


def examples(claim: str) -> str:
    """Tests in docstrings."""
    return f'def tests():\n    """\n    >>> bool({claim})\n    True\n    """\n'


FORMS = (asserted, checked, functions, methods, examples)
