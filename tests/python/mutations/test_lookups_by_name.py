"""Code that looks variables up by name: programs that run before and after."""

from __future__ import annotations

import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterlens.mutations import apply_everywhere
from counterlens.mutations.base import NAMES_UNREAD
from tests.python.mutations.results import (
    PRESERVING,
    altered,
    library_of_frames,
    lines,
    made,
    reasons,
    result_of,
)


@pytest.fixture(autouse=True)
def framelib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "framelib", library_of_frames())


LOOKUPS = {
    "eval alias module": """\
e = eval
def f():
    a = 1
    b = e("a + 1")
    return b
result = f()
""",
    "eval alias attr": """\
class C:
    run = staticmethod(eval)
def f():
    a = 1
    b = C.run("a + 1")
    return b
result = f()
""",
    "getattr": """\
class M:
    def __getattr__(self, k):
        setattr(self, k, 1)
        return 1
def f(m):
    a = m.x
    n = sorted(m.__dict__)
    return a, n
result = f(M())
""",
    "from builtins": """\
from builtins import eval as ev
def f():
    a = 1
    b = ev("a + 1")
    return b
result = f()
""",
    "dunder builtins": """\
import builtins
def f():
    a = 1
    b = vars(builtins)["eval"]("a + 1")
    return b
result = f()
""",
    "eval param ns": """\
def f(ns=None):
    a = 1
    b = eval("a + 1", ns)
    return b
result = f()
""",
    "locals order": """\
def f(c):
    x = 1
    y = 2
    if c > 1:
        z = 1
        w = 2
    else:
        w = 3
        z = 4
    return list(locals())
result = f(1), f(2)
""",
    "vars": """\
def f(c):
    x = c
    x = x + 1
    return "%(x)s" % vars()
result = f(1)
""",
    "dir": """\
def f(xs):
    n = 0
    for x in xs:
        n += x
    if n > 1:
        n = 2
    return dir()
result = f([1,2])
""",
    "exec": """\
def f(xs):
    out = []
    n = 3
    exec("out.append(n)")
    return out
result = f([1,2])
""",
    "caller frame": """\
import sys
def look(n):
    return sys._getframe(1).f_locals[n]
def f(xs):
    n = 3
    m = look("n")
    return m
result = f([1,2])
""",
    "caller frame method": """\
import sys
class T:
    def ask(self, n):
        return sys._getframe(1).f_locals[n]
def f(xs):
    t = T()
    n = 3
    m = t.ask("n")
    return m
result = f([1,2])
""",
    "frame given": """\
import sys, framelib
def f(xs):
    n = 3
    m = framelib.peek(sys._getframe(), "n")
    return m
result = f([1,2])
""",
    "gen frame": """\
def f(xs):
    def g():
        n = 3
        m = 4
        yield n + m
    it = g()
    next(it)
    return list(it.gi_frame.f_locals)
result = f([1,2])
""",
    "globals format": """\
counter = 0
def f():
    global counter
    counter = 1
    value = "{counter}".format(**globals())
    return value
result = f()
""",
    "super rebound": """\
class A:
    def m(self): return self.n
class B(A):
    def __init__(self, n): self.n = n
    def m(self, other):
        self = other
        v = super().m()
        return v
result = B(1).m(B(2))
""",
    "traceback locals": """\
import traceback
def f(a):
    n = 3
    k = 4
    try:
        n / 0
    except ZeroDivisionError as e:
        t = traceback.TracebackException.from_exception(e, capture_locals=True)
        return sorted(t.stack[-1].locals)
result = f(1)
""",
    "comprehension eval": """\
def f(a):
    n = 3
    k = [eval("q") for q in a]
    return k
result = f([1])
""",
    "closure eval": """\
def f(a):
    n = 3
    def g():
        n
        return eval("n")
    n = 4
    return g()
result = f([1])
""",
    "default eval": """\
def f(a, e=eval):
    n = 3
    m = e("n")
    return m
result = f([1])
""",
}


@pytest.mark.parametrize("source", LOOKUPS.values(), ids=LOOKUPS)
def test_no_counterfactual_changes_what_is_looked_up(source: str) -> None:
    assert not altered(source)


NOT_LOOKED_UP = {
    "a namespace of its own": lines("n = 1", "m = eval('a', {'a': 2})", "return n, m"),
    "an object's attributes": lines("n = 1", "m = vars(Exception)", "return n, m"),
    "another eval": "def eval(x): return x\n" + lines("n = 1", "m = eval('a')", "return n, m"),
    "a parameter": "def f(dir):\n    n = 1\n    m = dir\n    return n, m\nresult = f(1)\n",
    "a method of that name": lines("n = 1", "m = xs.eval('a') if 0 else 2", "return n, m"),
}


@pytest.mark.parametrize("source", NOT_LOOKED_UP.values(), ids=NOT_LOOKED_UP)
def test_what_looks_like_a_lookup_costs_nothing(source: str) -> None:
    assert made(source, "rename-generic")


def test_a_refusal_says_that_variables_are_looked_up() -> None:
    source = lines("a = 1", "b = 2", "return a, b, locals()")
    for mutation in ("independent-swap", "rename-random", "rename-generic", "rename-shuffle"):
        assert any("look its variables up by name" in reason for reason in reasons(source, mutation)), (
            mutation
        )


statements = st.sampled_from(
    [
        "a = 1", "b = 2", "a = a + 1", "c = a", "b, c = c, b", "log(list(locals()))", "log(eval('a'))",
        "log(dict(locals()))", "log(e('b + 1'))", "log('{c}'.format(**locals()))", "log(vars()['a'])",
        "log(evaluate('a + b'))", "log(sys._getframe().f_locals['b'])", "xs.append(c)", "log(xs[0] == a)",
        "if a < b: c = 3", "if a:\n        b = 4\n    else:\n        c = 5",
        "for i in range(2):\n        b = i",
        "for c in xs:\n        log(c)", "while a < 3:\n        a += 1", "d['k'] = a", "log(d)",
    ]
)  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(statements, min_size=2, max_size=7))
def test_generated_programs_that_look_variables_up_leave_the_same_result(parts: list[str]) -> None:
    source = (
        "import sys\nfrom framelib import evaluate\ne = eval\nresult = []\n"
        "def log(x): result.append(repr(x))\n"
        "def f(xs):\n    a = b = c = 0\n    d = {}\n"
        + "".join(f"    {part}\n" for part in parts)
        + "    return a, b, c, d\nlog(f([3, 1]))\n"
    )
    assert not altered(source, excused={NAMES_UNREAD})
    for name in PRESERVING:
        assert result_of(apply_everywhere(source, name, without=[NAMES_UNREAD])) == result_of(source)
