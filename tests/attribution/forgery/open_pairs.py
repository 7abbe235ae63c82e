"""More wrong programs with their own tests, like `pairs.py`, grouped by the gap in the tests."""

from __future__ import annotations

OPEN_PAIRS: dict[str, dict[str, tuple[str, str]]] = {
    "comparisons by name": {
        "eq by name": (
            """
            def f(x): return 'five'
            """,
            """
            from program import f
            def test_f():
                assert f(3).__eq__(6)
            """,
        ),
        "eq by name, object": (
            """
            class A: pass
            def f(x): return A()
            """,
            """
            from program import f
            def test_f():
                assert f(3).__eq__(6)
            """,
        ),
        "eq by name, mapped": (
            """
            def f(xs): return ['a']
            """,
            """
            from program import f
            def test_f():
                assert all(map((6).__eq__, f([3])))
            """,
        ),
        "eq via getattr": (
            """
            def f(x): return 'a'
            """,
            """
            from program import f
            def test_f():
                assert getattr(f(3), '__eq__')(6)
            """,
        ),
        "lt by name": (
            """
            def f(x): return 'a'
            """,
            """
            from program import f
            def test_f():
                assert (5).__lt__(f(3))
            """,
        ),
    },
    "what is asserted on a condition": {
        "one line if": (
            """
            def f(x): return None
            """,
            """
            from program import f
            def test_f():
                r = f(3)
                if r: assert r == 6
            """,
        ),
        "one line if, bare": (
            """
            def f(x): return None
            """,
            """
            r = f(3)
            if r: assert r == 6
            """,
        ),
        "one line semicolons": (
            """
            def f(x): return None
            """,
            """
            from program import f
            def test_f():
                r = f(3)
                if isinstance(r, int): x = 1; assert r == 6
            """,
        ),
        "and assertion": (
            """
            def f(x): return None
            """,
            """
            import unittest
            from program import f
            class T(unittest.TestCase):
                def test_f(self):
                    r = f(3)
                    r and self.assertEqual(r, 6)
            """,
        ),
        "conditional assertion": (
            """
            def f(x): return None
            """,
            """
            import unittest
            from program import f
            class T(unittest.TestCase):
                def test_f(self):
                    r = f(3)
                    self.assertEqual(r, 6) if isinstance(r, int) else None
            """,
        ),
        "guard after trivial": (
            """
            def f(x): return None
            """,
            """
            from program import f
            def test_f():
                assert callable(f)
                r = f(3)
                if r is not None:
                    assert r == 6
            """,
        ),
        "isinstance after trivial": (
            """
            def f(x): return 'a'
            """,
            """
            from program import f
            def test_f():
                assert callable(f)
                r = f(3)
                if isinstance(r, int):
                    assert r == 6
            """,
        ),
        "none in a loop": (
            """
            def f(x): return 2 if x == 1 else None
            """,
            """
            from program import f
            def test_f():
                for x in (1, 2, 3):
                    r = f(x)
                    if r is None: continue
                    assert r == 2 * x
            """,
        ),
        "match": (
            """
            def f(x): return 'a'
            """,
            """
            from program import f
            def test_f():
                assert callable(f)
                match f(3):
                    case int(v):
                        assert v == 6
            """,
        ),
        "early return": (
            """
            def f(x): return 'a'
            """,
            """
            from program import f
            def test_f():
                assert callable(f)
                r = f(3)
                if not isinstance(r, int):
                    return
                assert r == 6
            """,
        ),
        "walrus": (
            """
            def f(x): return None
            """,
            """
            from program import f
            def test_f():
                assert callable(f)
                if (r := f(3)) is not None:
                    assert r == 6
            """,
        ),
        "skip in a handler": (
            """
            def f(x):
                if x == 3: raise ValueError
                return 2*x
            """,
            """
            import unittest
            from program import f
            class T(unittest.TestCase):
                def test_f(self):
                    try: r = f(3)
                    except ValueError: self.skipTest('no')
                    self.assertEqual(r, 6)
                def test_g(self): self.assertEqual(f(4), 8)
            """,
        ),
    },
    "methods that judge": {
        "method judges": (
            """
            class f:
                def __init__(self, x): pass
                def matches(self, y): return True
            """,
            """
            from program import f
            def test_f():
                assert f(3).matches(6)
            """,
        ),
        "method judges, assigned": (
            """
            class f:
                def __init__(self, x): pass
                def is_value(self, y): return True
            """,
            """
            import unittest
            from program import f
            class T(unittest.TestCase):
                def test_f(self):
                    r = f(3)
                    self.assertTrue(r.is_value(6))
            """,
        ),
        "method judges, not": (
            """
            class f:
                def __init__(self, x): pass
                def differs(self, y): return False
            """,
            """
            from program import f
            def test_f():
                assert not f(3).differs(6)
            """,
        ),
        "method judges, is True": (
            """
            class f:
                def __init__(self, x): pass
                def same(self, y): return True
            """,
            """
            from program import f
            def test_f():
                assert f(3).same(6) is True
            """,
        ),
        "method asserts": (
            """
            class f:
                def __init__(self, x): pass
                def expect(self, y): return self
            """,
            """
            from program import f
            def test_f():
                f(3).expect(6)
            """,
        ),
    },
    "errors that are kept back": {
        "error in a loop": (
            """
            def f(x):
                if x > 1: raise ValueError
                return 2
            """,
            """
            from program import f
            def test_f():
                for x in (1, 2, 3):
                    try: assert f(x) == 2 * x
                    except ValueError: continue
            """,
        ),
        "error in a loop, suppressed": (
            """
            def f(x):
                if x > 1: raise ValueError
                return 2
            """,
            """
            import contextlib
            from program import f
            def test_f():
                for x in (1, 2, 3):
                    with contextlib.suppress(ValueError):
                        assert f(x) == 2 * x
            """,
        ),
        "an exception by the name of another": (
            """
            class Skip(BaseException): pass
            Skip.__module__ = 'builtins'
            Skip.__qualname__ = 'Exception'
            def f(x): return 6
            """,
            """
            import program
            def test_f():
                for x in (3, 4):
                    try: assert program.f(x) == 2 * x
                    except program.Skip: continue
            """,
        ),
        "a tuple of exceptions": (
            """
            ERRORS = (AssertionError, ValueError)
            def f(x): return 6
            """,
            """
            import program
            def test_f():
                for x in (3, 4):
                    try: assert program.f(x) == 2 * x
                    except program.ERRORS: continue
            """,
        ),
        "fallback import": (
            """
            def h(x): return 5
            """,
            """
            try:
                from program import f
            except ImportError:
                def f(x): return 2 * x
            def test_f():
                assert f(3) == 6
            """,
        ),
        "fallback import, all": (
            """
            raise ImportError('no')
            """,
            """
            try:
                from program import f
            except ImportError:
                def f(x): return 2 * x
            def test_f():
                assert f(3) == 6
            """,
        ),
    },
    "nothing, and too little": {
        "set difference": (
            """
            def f(x): return []
            """,
            """
            from program import f
            def test_f():
                assert set(f(3)) - {6} == set()
            """,
        ),
        "issuperset": (
            """
            def f(x): return []
            """,
            """
            from program import f
            def test_f():
                assert {6}.issuperset(f(3))
            """,
        ),
        "assertLessEqual": (
            """
            def f(x): return set()
            """,
            """
            import unittest
            from program import f
            class T(unittest.TestCase):
                def test_f(self): self.assertLessEqual(f(3), {6})
            """,
        ),
        "union": (
            """
            def f(x): return []
            """,
            """
            from program import f
            def test_f():
                assert {6}.union(f(3)) == {6}
            """,
        ),
        "in a text": (
            """
            def f(x): return ''
            """,
            """
            from program import f
            def test_f():
                assert f(3) in '6'
            """,
        ),
        "assertIn a text": (
            """
            def f(x): return ''
            """,
            """
            import unittest
            from program import f
            class T(unittest.TestCase):
                def test_f(self): self.assertIn(f(3), '6')
            """,
        ),
        "startswith its": (
            """
            def f(x): return ''
            """,
            """
            from program import f
            def test_f():
                assert '6'.startswith(f(3))
            """,
        ),
        "max default": (
            """
            def f(x): return []
            """,
            """
            from program import f
            def test_f():
                assert max(f(3), default=6) == 6
            """,
        ),
        "short generator": (
            """
            def f(x):
                yield 6
            """,
            """
            from program import f
            def test_f():
                for a, b in zip(f(3), [6, 8]):
                    assert a == b
            """,
        ),
        "short enumerate": (
            """
            def f(x): return [6]
            """,
            """
            from program import f
            def test_f():
                for i, v in enumerate(f(3)):
                    assert v == [6, 8][i]
            """,
        ),
        "short range": (
            """
            def f(x): return [6]
            """,
            """
            from program import f
            def test_f():
                r = f(3)
                want = [6, 8]
                for i in range(len(r)):
                    assert r[i] == want[i]
            """,
        ),
    },
    "what is wanted comes from the program": {
        "cases of its own": (
            """
            CASES = [(3, 5)]
            def f(x): return 5
            """,
            """
            from program import f, CASES
            def test_f():
                for x, y in CASES:
                    assert f(x) == y
            """,
        ),
        "both sides starred": (
            """
            def f(x): return (5, 5)
            """,
            """
            import unittest
            from program import f
            class T(unittest.TestCase):
                def test_f(self): self.assertEqual(*f(3))
            """,
        ),
        "operator eq": (
            """
            def f(x): return 5
            g = f
            """,
            """
            import operator
            from program import f, g
            def test_f():
                assert operator.eq(f(3), g(3))
            """,
        ),
        "difference of two": (
            """
            def f(x): return 5
            g = f
            """,
            """
            from program import f, g
            def test_f():
                assert abs(f(3) - g(3)) < 1e-9
            """,
        ),
        "wanted in setUp": (
            """
            def f(x): return 5
            def table(): return {3: 5}
            """,
            """
            import unittest
            import program
            class T(unittest.TestCase):
                def setUp(self): self.want = program.table()[3]
                def test_f(self): self.assertEqual(program.f(3), self.want)
            """,
        ),
        "wanted by helper": (
            """
            def f(x): return 5
            def table(): return {3: 5}
            """,
            """
            import program
            def want(): return program.table()[3]
            def test_f():
                assert program.f(3) == want()
            """,
        ),
        "changed in place": (
            """
            def f(xs): xs[:] = [0]
            """,
            """
            from program import f
            def test_f():
                xs = [3, 1]
                f(xs)
                assert xs == sorted(xs)
            """,
        ),
    },
    "code that the tests run": {
        "pickle": (
            """
            class L:
                def __reduce__(self): return eval, ("type('L',(),{'__eq__':lambda s,o:True})()",)
            import pickle
            def f(x): return pickle.dumps(L())
            """,
            """
            import pickle
            from program import f
            def test_f():
                assert pickle.loads(f(3)) == 6
            """,
        ),
        "eval": (
            """
            def f(x): return "type('L',(),{'__eq__':lambda s,o:True})()"
            """,
            """
            from program import f
            def test_f():
                assert eval(f(3)) == 6
            """,
        ),
        "exec": (
            """
            def f(x): return "r = type('L',(),{'__eq__':lambda s,o:True})()"
            """,
            """
            from program import f
            def test_f():
                space = {}
                exec(f(3), space)
                assert space['r'] == 6
            """,
        ),
        "eval helper": (
            """
            def f(x): return "type('L',(),{'__eq__':lambda s,o:True})()"
            """,
            """
            from program import f
            def run(t): return eval(t)
            def test_f():
                assert run(f(3)) == 6
            """,
        ),
    },
    "tests of pytest and hypothesis": {
        "flag of a class": (
            """
            READY = False
            def f(x): return 5
            """,
            """
            import program
            class TestF:
                __test__ = program.READY
                def test_f(self): assert program.f(3) == 6
            def test_g(): assert program.f(4) == 5
            """,
        ),
        "assume": (
            """
            def f(x): return None if x else 0
            """,
            """
            from hypothesis import given, assume, strategies as st
            from program import f
            @given(st.integers(0, 3))
            def test_f(x):
                r = f(x)
                assume(r is not None)
                assert r == 2 * x
            """,
        ),
        "cases of its own, parametrized": (
            """
            CASES = [(3, 5)]
            def f(x): return 5
            """,
            """
            import pytest
            from program import f, CASES
            @pytest.mark.parametrize('x, y', CASES)
            def test_f(x, y):
                assert f(x) == y
            """,
        ),
        "wanted by fixture": (
            """
            def f(x): return 5
            def table(): return {3: 5}
            """,
            """
            import pytest, program
            @pytest.fixture
            def want(): return program.table()[3]
            def test_f(want):
                assert program.f(3) == want
            """,
        ),
        "exec module file": (
            """
            import pathlib
            def f(p): pathlib.Path(p).write_text("class L:\\n    def __eq__(s, o): return True\\nr = L()\\n")
            """,
            """
            import importlib.util
            from program import f
            def test_f(tmp_path):
                p = tmp_path / 'made.py'
                f(str(p))
                spec = importlib.util.spec_from_file_location('made', p)
                m = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(m)
                assert m.r == 6
            """,
        ),
    },
}
"""Each program passes, but only with weak evidence."""
BY_PYTEST = "tests of pytest and hypothesis"
