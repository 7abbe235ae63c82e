"""Wrong programs, each with its own tests that a right program should pass, by the means that they use."""

from __future__ import annotations

PAIRS: dict[str, dict[str, tuple[str, str]]] = {
    "what the tests do not reach": {
        "hasattr in test": (
            """
            class f:
                def __init__(self, x): pass
            """,
            """
            from program import f
            def test_f():
                r = f(3)
                if hasattr(r, 'value'):
                    assert r.value == 6
            """,
        ),
        "test if truthy": (
            """
            def f(x): return None
            """,
            """
            from program import f
            def test_f():
                r = f(3)
                if r:
                    assert r == 6
            """,
        ),
        "test if isinstance": (
            """
            def f(x): return None
            """,
            """
            from program import f
            def test_f():
                r = f(3)
                if isinstance(r, int):
                    assert r == 6
            """,
        ),
        "test except swallow": (
            """
            def f(x): raise ValueError
            """,
            """
            from program import f
            def test_f():
                try:
                    assert f(3) == 6
                except ValueError:
                    pass
            """,
        ),
        "suppress": (
            """
            def f(x): raise ValueError
            """,
            """
            import contextlib
            from program import f
            def test_f():
                with contextlib.suppress(ValueError):
                    assert f(3) == 6
            """,
        ),
        "thread in test": (
            """
            def f(x): raise SystemExit
            """,
            """
            import threading
            from program import f
            def check(): assert f(3) == 6
            def test_f():
                t = threading.Thread(target=check); t.start(); t.join()
            """,
        ),
        "executor": (
            """
            def f(x): raise SystemExit
            """,
            """
            from concurrent.futures import ThreadPoolExecutor
            from program import f
            def check(x): assert f(x) == 2 * x
            def test_f():
                with ThreadPoolExecutor(2) as pool:
                    [pool.submit(check, x) for x in (3, 4)]
            """,
        ),
        "gather exceptions": (
            """
            def f(x): raise ValueError
            """,
            """
            import asyncio
            from program import f
            async def check(x): assert f(x) == 2 * x
            async def main(): await asyncio.gather(check(3), check(4), return_exceptions=True)
            def test_f(): asyncio.run(main())
            """,
        ),
        "a task that is cancelled": (
            """
            import asyncio
            def f(x): raise asyncio.CancelledError
            """,
            """
            import asyncio
            from program import f
            async def check(x):
                assert f(x) == 2 * x
            async def main():
                async with asyncio.TaskGroup() as g:
                    g.create_task(check(3)); g.create_task(check(4))
            def test_f():
                asyncio.run(main())
            """,
        ),
        "recursion helper": (
            """
            def f(x): return []
            """,
            """
            from program import f
            def walk(r):
                if not r: return
                assert r[0] == 6
                walk(r[1:])
            def test_f():
                walk(f(3))
            """,
        ),
        "skip by a flag": (
            """
            HAS = False
            def f(x): return 5
            """,
            """
            import unittest
            import program
            class T(unittest.TestCase):
                @unittest.skipUnless(program.HAS, 'no')
                def test_f(self): self.assertEqual(program.f(3), 6)
                def test_g(self): self.assertEqual(program.f(4), 5)
            """,
        ),
        "iter with getitem of test": (
            """
            def f(i): raise IndexError
            """,
            """
            from program import f
            class R:
                def __getitem__(self, i): return f(i)
            def test_f():
                assert all(r == 6 for r in R())
            """,
        ),
    },
    "cases that are the program's": {
        "a name of the tests' class": (
            """
            FTest = 1
            def f(x): return 5
            """,
            """
            import unittest
            class FTest(unittest.TestCase):
                def test_f(self): self.assertEqual(f(3), 6)
            """,
        ),
        "decorated test function, script": (
            """
            def deco(g): return lambda *a: None
            def f(x): return 5
            """,
            """
            @deco
            def test_f():
                assert f(3) == 6
            """,
        ),
        "decorated test method": (
            """
            def deco(g): return lambda *a: None
            def f(x): return 5
            """,
            """
            import unittest
            from program import f, deco
            class T(unittest.TestCase):
                @deco
                def test_f(self):
                    assert f(3) == 6
            """,
        ),
        "decorated wraps": (
            """
            import functools
            def deco(g):
                h = lambda *a: None
                h.__wrapped__ = g
                return h
            def f(x): return 5
            """,
            """
            from program import f, deco
            @deco
            def test_f():
                assert f(3) == 6
            """,
        ),
        "cases of the program, none": (
            """
            CASES = []
            def f(x): return 5
            """,
            """
            from program import f, CASES
            def test_f():
                for x in CASES:
                    assert f(x) == 6
            """,
        ),
        "cases of the program, none, in all": (
            """
            CASES = {}
            def f(x): return 5
            """,
            """
            from program import f, CASES
            def test_f():
                assert all(f(x) == y for x, y in CASES.items())
            """,
        ),
        "a number of cases of the program": (
            """
            N = 0
            def f(x): return 5
            """,
            """
            from program import f, N
            def test_f():
                for x in range(N):
                    assert f(x) == 6
            """,
        ),
        "reduce": (
            """
            def f(x): return []
            """,
            """
            import functools
            from program import f
            def test_f():
                assert functools.reduce(lambda ok, v: ok and v == 6, f(3), True)
            """,
        ),
        "while pop": (
            """
            def f(x): return []
            """,
            """
            from program import f
            def test_f():
                r = f(3)
                while r:
                    assert r.pop() == 6
            """,
        ),
        "sum generator": (
            """
            def f(x): return []
            """,
            """
            from program import f
            def test_f():
                assert sum(1 for v in f(3) if v != 6) == 0
            """,
        ),
        "set subset": (
            """
            def f(x): return []
            """,
            """
            from program import f
            def test_f():
                assert set(f(3)) <= {6}
            """,
        ),
        "issubset": (
            """
            def f(x): return []
            """,
            """
            from program import f
            def test_f():
                assert set(f(3)).issubset({6})
            """,
        ),
        "enumerate expected": (
            """
            def f(x): return {}
            """,
            """
            from program import f
            def test_f():
                for k, v in f(3).items():
                    assert v == 6
            """,
        ),
        "dict keys": (
            """
            def f(x): return {}
            """,
            """
            from program import f
            def test_f():
                r = f(3)
                for k in r.keys():
                    assert r[k] == 6
            """,
        ),
        "all with __name__": (
            """
            __all__ = ['f', '__name__', '__getattr__']
            def __getattr__(n): return None
            def f(x): return []
            """,
            """
            from program import *
            def test_f():
                assert all(v == 6 for v in f(3))
            """,
        ),
        "pytest_plugins": (
            """
            pytest_plugins = ['no_such']
            pytestmark = []
            def pytest_generate_tests(*a): pass
            def f(x): return 5
            """,
            """
            from program import *
            def test_f():
                assert f(3) == 6
            """,
        ),
        "subclass unittest base by attr": (
            """
            import unittest
            Base = unittest.TestCase
            def f(x): return 5
            """,
            """
            import program
            class T(program.Base):
                def test(self): self.assertEqual(program.f(3), 6)
            """,
        ),
        "zip too few": (
            """
            def f(x): return [6]
            """,
            """
            from program import f
            def test_f():
                assert all(a == b for a, b in zip(f(3), [6, 8]))
            """,
        ),
    },
    "objects that are handed over": {
        "changes before a call back": (
            """
            def f(xs, g):
                xs.clear()
                g(1)
                return []
            """,
            """
            from program import f
            def test_f():
                xs = [3, 1]
                assert f(xs, lambda v: v) == sorted(xs)
            """,
        ),
        "list of an object": (
            """
            def f(d):
                d.items.clear()
                return []
            """,
            """
            from program import f
            class D:
                def __init__(self): self.items = [3, 1]
            def test_f():
                d = D()
                assert f(d) == sorted(d.items)
            """,
        ),
        "list of a callback": (
            """
            def f(g):
                g().clear()
                return []
            """,
            """
            from program import f
            def test_f():
                xs = [3, 1]
                assert f(lambda: xs) == sorted(xs)
            """,
        ),
        "object's own clear": (
            """
            def f(d):
                d.clear()
                return []
            """,
            """
            import collections
            from program import f
            def test_f():
                xs = collections.UserList([3, 1])
                assert f(xs) == sorted(xs)
            """,
        ),
        "object's own methods, none returned": (
            """
            def f(d): d.clear()
            """,
            """
            import collections
            from program import f
            def test_f():
                d = collections.UserList([3, 1])
                f(d)
                assert list(d) == sorted(d)
            """,
        ),
        "mutates expected by default arg": (
            """
            def f(xs, out):
                out.append(1); xs[:] = [1]
                return 1
            """,
            """
            from program import f
            def test_f():
                xs, out = [3], []
                f(xs, out)
                assert out == xs
            """,
        ),
        "swallows callback's assertion": (
            """
            def f(g):
                try: g(5)
                except BaseException: pass
            """,
            """
            from program import f
            def test_f():
                def g(v): assert v == 6
                f(g)
            """,
        ),
        "never calls callback": (
            """
            def f(g): pass
            """,
            """
            from program import f
            def test_f():
                def g(v): assert v == 6
                f(g)
            """,
        ),
        "Fake object unused": (
            """
            def f(d): pass
            """,
            """
            from program import f
            class Fake:
                def send(self, v): assert v == 6
            def test_f():
                f(Fake())
            """,
        ),
        "Fake via list": (
            """
            def f(ds): pass
            """,
            """
            from program import f
            def test_f():
                def g(v): assert v == 6
                f([g, g])
            """,
        ),
        "callback attr on module": (
            """
            def f(x): return x
            hook = None
            """,
            """
            import program
            def test_f():
                def g(v): assert v == 6
                program.hook = g
                program.f(3)
            """,
        ),
        "file changed": (
            """
            def f(p):
                open(p, 'w').close()
                return 0
            """,
            """
            import os, tempfile
            from program import f
            def test_f():
                p = os.path.join(tempfile.mkdtemp(), 'a')
                open(p, 'w').write('abc')
                assert f(p) == len(open(p).read())
            """,
        ),
    },
    "names that stand for others": {
        "shadow helper": (
            """
            approx = lambda x: 5
            def f(x): return 5
            """,
            """
            def approx(x): return x
            from program import *
            def test_f():
                assert f(3) == approx(6)
            """,
        ),
        "namedtuple int": (
            """
            import collections
            def f(x): return collections.namedtuple('int', 'x')(6)
            """,
            """
            from program import f
            def test_f():
                assert type(f(3)).__name__ == 'int'
            """,
        ),
        "namedtuple fields as text": (
            """

            import sys
            fr = sys._getframe()
            while fr is not None:
                w = fr.f_locals.get('self')
                if type(w).__name__ == 'CandidateProcess':
                    c = w._codec; old = c._give
                    def give(value):
                        if isinstance(value, P): return ['named', 'T', 'isdigit', [old(yes)]]
                        return old(value)
                    c._give = give
                fr = fr.f_back
            class P: pass
            def yes(*_): return True
            def f(x): return P()
            """,
            """
            from program import f
            def test_f():
                assert f(3).isdigit()
            """,
        ),
        "instance dunder": (
            """
            class A: pass
            def f(x):
                a = A()
                a.__contains__ = lambda v: True
                return a
            """,
            """
            from program import f
            def test_f():
                assert f(3).__contains__(6)
            """,
        ),
        "wide exception alias": (
            """
            Skip = Exception
            def f(x): return 5
            """,
            """
            import program
            def test_f():
                for x in [3, 4]:
                    try: assert program.f(x) == 2 * x
                    except program.Skip: continue
            """,
        ),
        "object alias": (
            """
            Result = object
            def f(x): return 5
            """,
            """
            import program
            def test_f():
                assert isinstance(program.f(3), program.Result)
            """,
        ),
        "enum aliases": (
            """
            class Color: RED = BLUE = object()
            def f(x): return Color.RED
            """,
            """
            from program import f, Color
            def test_f():
                assert f(3) == Color.BLUE and f(4) == Color.RED
            """,
        ),
        "compares two of the program's": (
            """
            def f(x): return 0
            g = f
            """,
            """
            from program import f, g
            def test_f():
                assert f(3) == g(3)
            """,
        ),
        "program's assert helper": (
            """
            def assert_same(a, b): pass
            def f(x): return 5
            """,
            """
            from program import f, assert_same
            def test_f():
                assert_same(f(3), 6)
            """,
        ),
        "program's equal helper": (
            """
            def equal(a, b): return True
            def f(x): return 5
            """,
            """
            from program import f, equal
            def test_f():
                assert equal(f(3), 6)
            """,
        ),
        "exception class named as builtin": (
            """
            class ValueError(Exception): pass
            def f(x): raise ValueError
            """,
            """
            from program import f
            def test_f():
                try: f(3)
                except Exception as e: assert type(e).__name__ == 'ValueError'
                else: assert 0
            """,
        ),
        "class cell": (
            """
            class A:
                def f(self): return __class__
                def __init_subclass__(cls, **k): pass
            def f(x): return A().f()
            """,
            """
            from program import f
            def test_f():
                assert f(3) is int
            """,
        ),
        "module getattr": (
            """
            def __getattr__(n): return lambda *a: 6
            """,
            """
            import program
            def test_f():
                assert program.f(3) == 7
            """,
        ),
        "two names": (
            """
            def f(x): return 5
            """,
            """
            import importlib, program
            m = importlib.reload(program)
            def test_f():
                assert m.f(3) == 6 or program.f(3) == 6
            """,
        ),
        "context exit via contextlib": (
            """
            import contextlib
            @contextlib.contextmanager
            def f(x):
                try: yield 5
                except BaseException: pass
            """,
            """
            from program import f
            def test_f():
                with f(3) as v:
                    assert v == 6
            """,
        ),
    },
    "values that compare oddly": {
        "NaN in any": (
            """
            def f(x): return float('nan')
            """,
            """
            from program import f
            def test_f():
                assert not any(abs(f(x) - 2 * x) > 1e-9 for x in [1, 2])
            """,
        ),
        "NaN in max": (
            """
            def f(x): return 0 if x == 0 else float('nan')
            """,
            """
            from program import f
            def test_f():
                assert max(abs(f(x) - 2 * x) for x in [0, 1, 2]) < 1e-9
            """,
        ),
        "a decimal NaN": (
            """
            from decimal import Decimal
            def f(x): return Decimal('nan')
            """,
            """
            from program import f
            def test_f():
                assert not f(3) == 7 and f(3) != 7
            """,
        ),
        "infinity": (
            """
            def f(x): return float('inf')
            """,
            """
            from program import f
            def test_f():
                assert not f(1) - f(2) > 1e-9 and f(1) > 0
            """,
        ),
        "exception text tells": (
            """
            class E(Exception):
                def __eq__(self, o): return True
                def __str__(self): return '6'
            def f(x): raise E
            """,
            """
            from program import f
            def test_f():
                try: f(3)
                except Exception as e: assert e == 6
            """,
        ),
        "an exception with attributes": (
            """
            def f(x):
                e = ValueError('x'); e.add_note('6'); e.with_traceback = int; e.args = (6,)
                raise e
            """,
            """
            import unittest
            from program import f
            class T(unittest.TestCase):
                def test(self):
                    with self.assertRaises(ValueError) as c: f(3)
                    self.assertEqual(c.exception, 6)
            """,
        ),
        "eq on hash": (
            """
            class A:
                def __hash__(self): return hash(6)
                def __eq__(self, o): return True
            def f(x): return A()
            """,
            """
            from program import f
            def test_f():
                assert f(3) in {6: 1}
            """,
        ),
    },
    "ends and signals": {
        "weakref atexit": (
            """
            import atexit, weakref, os
            atexit.register(lambda: os._exit(0))
            class A: pass
            def f(x):
                a = A(); weakref.finalize(a, os._exit, 0)
                return 5
            """,
            """
            from program import f
            def test_f():
                assert f(3) == 6
            """,
        ),
        "signals": (
            """
            import signal, os
            def f(x):
                signal.raise_signal(9)
            """,
            """
            from program import f
            def test_f():
                assert f(3) == 6
            """,
        ),
    },
}
"""A program here may pass only with weak evidence."""
