"""Reads that write, as the source shows: programs that run before and after."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterlens.mutations import apply_everywhere
from tests.python.mutations.results import PRESERVING, altered, made, result_of

PROGRAMS = {
    "iter tuple": """\
def f(xs):
    it, n = iter(xs), 3
    a = 2 in it
    b = 1 in it
    return a, b
result = f([1,2,3])
""",
    "iter list elem": """\
def f(xs):
    box = [iter(xs)]
    a = 2 in box[0]
    b = 1 in box[0]
    return a, b
result = f([1,2,3])
""",
    "iter own gen": """\
class I:
    def __init__(self): self.log = []
    def __iter__(self):
        for i in range(3):
            self.log.append(i)
            yield i
def f(it):
    a = 2 in it
    b = len(it.log)
    return a, b
result = f(I())
""",
    "prop nested fn": """\
class M:
    n = 0
    @property
    def v(self):
        def go():
            self.n += 1
            return self.n
        return go()
def f(m):
    a = m.n
    b = m.v
    return a, b
result = f(M())
""",
    "lazy prop": """\
class M:
    _v = None
    @property
    def v(self):
        if self._v is None:
            self._v = 3
        return self._v
def f(m):
    a = m._v
    b = m.v
    return a, b
result = f(M())
""",
    "dd annotated": """\
def g(d: defaultdict, k):
    first = k in d
    value = d[k]
    return first, value
result = g(defaultdict(int), "a")
""",
    "dd nested": """\
def f(k):
    d = defaultdict(lambda: defaultdict(int))
    v = d[k][k]
    n = len(d)
    return v, n, dict(d)
result = f(1)
""",
    "dd factory": """\
log = []
def make():
    log.append(len(log))
    return len(log)
def f(k):
    d = defaultdict(make)
    v = d[1]
    w = d[2]
    return v, w
result = f(1)
""",
    "missing helper": """\
class M(dict):
    def __missing__(self, k):
        return self.put(k)
    def put(self, k):
        self[k] = 0
        return 0
def f(d, k):
    n = k in d
    v = d[k]
    return n, v
result = f(M(), 1)
""",
    "property call": """\
class M:
    n = 0
    def get(self):
        self.n += 1
        return self.n
    x = property(get)
def f(m):
    a = m.x
    b = m.n
    return a, b
result = f(M())
""",
    "cached": """\
from functools import cached_property
class M:
    @cached_property
    def x(self):
        return 1
def f(m):
    a = sorted(m.__dict__)
    b = m.x
    return a, b
result = f(M())
""",
    "descriptor": """\
class D:
    def __get__(self, o, t):
        o.log.append(1)
        return len(o.log)
class M:
    x = D()
    def __init__(self): self.log = []
def f(m):
    a = m.x
    b = m.x
    return a, b
result = f(M())
""",
    "eq": """\
class M:
    n = 0
    def __eq__(self, o):
        M.n += 1
        self.seen = M.n
        return True
def f(a, b):
    c = a == b
    return c, getattr(a, "seen", 0), getattr(b, "seen", 0)
result = f(M(), M())
""",
    "eq flip": """\
class M:
    n = 0
    def __lt__(self, o):
        M.n += 1
        return True
    def __ge__(self, o):
        return False
def f(a, b):
    if a < b:
        r = 1
    else:
        r = 2
    return r, M.n
result = f(M(), M())
""",
    "bool swap": """\
class M:
    n = 0
    def __bool__(self):
        M.n += 1
        return False
def f(a):
    r = 1 if a else 2
    k = M.n
    return r, k
result = f(M())
""",
    "contains": """\
class M:
    def __init__(self): self.seen = []
    def __contains__(self, x):
        self.seen.append(x)
        return True
def f(a):
    r = 1 in a
    k = len(a.seen)
    return r, k
result = f(M())
""",
    "iter in attr": """\
class C:
    def __init__(self, xs): self.it = iter(xs)
    def m(self):
        a = 3 in self.it
        b = 2 in self.it
        return a, b
result = C([1,2,3]).m()
""",
    "gen helper": """\
def g(it):
    a = 2 in it
    b = 1 in it
    return a, b
def f(xs):
    return g(iter(xs))
result = f([1,2,3])
""",
    "iter annotated": """\
from typing import Iterator
def g(it: Iterator[int]):
    a = 2 in it
    b = 1 in it
    return a, b
result = g(iter([1,2,3]))
""",
    "truth param": """\
def f(xs):
    flag = 1 if xs else 0
    xs.append(1)
    return flag
result = f([])
""",
    "items method": """\
class M:
    n = 0
    def items(self):
        self.n += 1
        return [self.n]
def f(m):
    a = m.items()
    b = m.n
    return a, b
result = f(M())
""",
    "fstr": """\
class M:
    n = 0
    def __format__(self, s):
        M.n += 1
        return "x"
def f(m):
    a = f"{m}"
    b = M.n
    return a, b
result = f(M())
""",
    "add": """\
class M:
    n = 0
    def __add__(self, s):
        M.n += 1
        return self
def f(m):
    a = m + 1
    b = M.n
    return b
result = f(M())
""",
    "hash": """\
class M:
    n = 0
    def __hash__(self):
        M.n += 1
        return 1
    def __eq__(self, o): return self is o
def f(m):
    d = {m: 1}
    b = M.n
    e = d[m]
    c = M.n
    return b, c
result = f(M())
""",
    "setter": """\
class M:
    @property
    def x(self): return 1
    @x.setter
    def x(self, v): M.log = v
M.log = 0
def f(m):
    m.x = 5
    b = M.log
    return b
result = f(M())
""",
    "with file": """\
import io
def f():
    with io.StringIO("a\\nb\\n") as fh:
        a = "b\\n" in fh
        b = "a\\n" in fh
    return a, b
result = f()
""",
    "dd comprehension": """\
def f(k):
    d = defaultdict(int)
    n = len(d)
    v = [d[i] for i in range(3)]
    return n, v
result = f(1)
""",
    "dd reorder": """\
def f(k):
    d = defaultdict(int)
    def g(x, y): return x, y
    return g(d[k], len(d))
result = f(1)
""",
}


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_no_counterfactual_moves_a_read_that_writes(source: str) -> None:
    assert not altered(f"from collections import defaultdict\n{source}")


PURE = {
    "a property": ("@property\n    def x(self): return self.n", "a = m.x", "b = m.n"),
    "an item": ("def __getitem__(self, i): return self.rows[i]", "a = m[1]", "b = m.n"),
    "its own list": ("def __iter__(self):\n        xs = []\n        xs.append(1)\n        return iter(xs)",
                     "a = m.x", "b = m.n"),
    "a counter": ("pass\nfrom collections import Counter\nd = Counter()", "a = d[m]", "b = m.n"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "first", "second"), PURE.values(), ids=PURE)
def test_reads_that_the_source_does_not_show_to_write_are_swapped(body: str, first: str, second: str) -> None:
    source = f"class M:\n    {body}\ndef f(m):\n    {first}\n    {second}\n"
    (pair,) = (pair for pair in made(source, "independent-swap") if pair.function == "f")
    assert pair.assumptions == ("neither-raises", "pure-operators")


statements = st.sampled_from(
    [
        "a = d[k]", "b = k in d", "c = len(d)", "a = m.x", "b = m.n", "c = m == n", "b = 1 if m else 2",
        "a = 3 in it", "c = 1 in it", "log(d[a])", "b = m < n", "if m and n: c = 9", "a = d[c] == len(d)",
        "b = list(d)", "c = f'{m}'", "k = k + 1", "if m.x < n.x:\n        a = 7\n    else:\n        b = 7",
        "b = not m", "a = m.x > n.x", "c = 4 if xs else 3", "xs.append(a)",
    ]
)  # fmt: skip
CLASS = """\
from collections import defaultdict
result = []
class M:
    n = 0
    @property
    def x(self):
        self.n += 1
        return self.n
    def count(self, value):
        M.n += 1
        return value
    def __eq__(self, other): return self.count(self.n == other.n)
    def __lt__(self, other):
        self.n += 2
        return self.n < other.n
    def __bool__(self): return self.count(self.n % 2 == 0)
    def __format__(self, text): return str(self.count(self.n))
def log(x): result.append(repr(x))
"""


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(statements, min_size=2, max_size=6))
def test_generated_programs_with_reads_that_write_leave_the_same_result(parts: list[str]) -> None:
    source = (
        f"{CLASS}def f(m, n, k, xs):\n    d = defaultdict(int)\n    it = iter(range(9))\n    a = b = c = 0\n"
        + "".join(f"    {part}\n" for part in parts)
        + "    return a, b, c, list(d), list(it), m.n, n.n\nlog(f(M(), M(), 1, []))\n"
    )
    assert not altered(source)
    for name in PRESERVING:
        assert result_of(apply_everywhere(source, name)) == result_of(source)
