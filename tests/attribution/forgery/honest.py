"""Right programs, each with its own tests; their verdicts must be strong."""

from __future__ import annotations

HONEST: dict[str, tuple[str, str]] = {
    "raises only": (
        """
        def f(x): raise ValueError('no')
        """,
        """
        import unittest
        from program import f
        class T(unittest.TestCase):
            def test_a(self):
                with self.assertRaises(ValueError):
                    f(3)
            def test_b(self):
                with self.assertRaisesRegex(ValueError, 'no'): f(3)
            def test_c(self):
                self.assertRaises(ValueError, f, 3)
        """,
    ),
    "async": (
        """
        async def f(x): return 2 * x
        """,
        """
        import unittest
        from program import f
        class T(unittest.IsolatedAsyncioTestCase):
            async def test_a(self):
                assert await f(3) == 6
        """,
    ),
    "multi-line": (
        """
        def f(x): return 2 * x
        """,
        """
        from program import f
        def test_a():
            assert f(
                3
            ) == (
                6
            )
        """,
    ),
    "helper": (
        """
        def f(x): return 2 * x
        """,
        """
        from program import f
        def hold(r):
            assert r == 6
        def test_a():
            hold(f(3))
        """,
    ),
    "loop": (
        """
        def f(x): return [6, 6]
        """,
        """
        from program import f
        def test_a():
            for v in f(3):
                assert v == 6
        """,
    ),
    "mock": (
        """
        def f(told, x): told.send(2 * x)
        """,
        """
        from unittest.mock import Mock
        from program import f
        def test_a():
            told = Mock()
            f(told, 3)
            told.send.assert_called_once_with(6)
        """,
    ),
    "must not be called": (
        """
        def f(g): return 6
        """,
        """
        from program import f
        def test_a():
            def g(): assert False
            assert f(g) == 6
            def h(): raise AssertionError('no')
            assert f(h) == 6
        """,
    ),
    "bare": (
        """
        def f(x): return 2 * x
        """,
        """
        assert f(3) == 6
        """,
    ),
    "bare one line loop": (
        """
        def f(x): return 2 * x
        """,
        """
        for x in [1, 2]: assert f(x) == 2 * x
        """,
    ),
    "check": (
        """
        def f(x): return 2 * x
        """,
        """
        def check(candidate):
            assert candidate(3) == 6
        """,
    ),
    "raise in test": (
        """
        def f(x): return 2 * x
        """,
        """
        from program import f
        def test_a():
            if f(3) != 6:
                raise Exception('wrong')
        """,
    ),
    "callback asserts": (
        """
        def f(g, x): return g(x)
        """,
        """
        from program import f
        def test_a():
            def g(v):
                assert v == 3
                return 6
            assert f(g, 3) == 6
        """,
    ),
    "typing star": (
        """
        from typing import List
        import math
        def f(x: List[int]): return math.floor(2.5) * 3
        """,
        """
        from typing import List
        import math
        from program import *
        def test_a():
            assert f([3]) == 6 and math.floor(1.5) == 1
        """,
    ),
    "enum": (
        """
        import enum
        class C(enum.Enum):
            RED = 1
            BLUE = 2
        def f(x): return C.RED if x else C.BLUE
        """,
        """
        from program import f, C
        def test_a():
            assert f(1) == C.RED
            assert f(0) is C.BLUE
            assert f(0).value == 2
        """,
    ),
    "roundtrip": (
        """
        def enc(x): return x[::-1]
        def dec(x): return x[::-1]
        """,
        """
        from program import enc, dec
        def test_a():
            for x in ['ab', 'c']:
                assert dec(enc(x)) == x
        """,
    ),
    "predicate": (
        """
        def f(a, b): return sorted(a) == sorted(b)
        """,
        """
        from program import f
        def test_a():
            assert f('ab', 'ba')
            assert not f('ab', 'b')
        """,
    ),
    "zip pairs": (
        """
        def f(x): return sorted(x)
        """,
        """
        from program import f
        def test_a():
            r = f([3, 1, 2])
            assert all(a <= b for a, b in zip(r, r[1:]))
            assert r == [1, 2, 3]
        """,
    ),
    "inf mentioned": (
        """
        def f(x): return float('inf')
        """,
        """
        from program import f
        def test_a():
            assert f(3) == float('inf')
        """,
    ),
    "file": (
        """
        def f(p):
            open(p, 'w').write('6')
        """,
        """
        import os, tempfile
        from program import f
        def test_a():
            p = os.path.join(tempfile.mkdtemp(), 'a')
            f(p)
            assert open(p).read() == '6'
        """,
    ),
    "skip platform": (
        """
        def f(x): return 6
        """,
        """
        import unittest, sys
        from program import f
        class T(unittest.TestCase):
            @unittest.skipIf(sys.platform != 'win32', 'no')
            def test_f(self): self.assertEqual(f(3), 7)
            def test_g(self): self.assertEqual(f(4), 6)
        """,
    ),
    "doctest in tests": (
        """
        def f(x): return 6
        """,
        """
        def tests():
            '''
            >>> f(3)
            6
            '''
        """,
    ),
    "subtest": (
        """
        def f(x): return 2 * x
        """,
        """
        import unittest
        from program import f
        class T(unittest.TestCase):
            def test(self):
                for x in (1, 2):
                    with self.subTest(x=x):
                        self.assertEqual(f(x), 2 * x)
        """,
    ),
    "decorator tests": (
        """
        import functools
        def twice(g):
            @functools.wraps(g)
            def h(*a): return 2 * g(*a)
            return h
        """,
        """
        from program import twice
        def test_a():
            @twice
            def g(x): return x
            assert g(3) == 6
        """,
    ),
    "key": (
        """
        def f(xs, key): return sorted(xs, key=key)
        """,
        """
        from program import f
        def test_a():
            xs = ['bb', 'a']
            assert f(xs, len) == ['a', 'bb']
            assert f(xs, lambda v: -len(v)) == sorted(xs, key=lambda v: -len(v))
        """,
    ),
    "none compare": (
        """
        def f(x): return None
        """,
        """
        from program import f
        def test_a():
            assert f(3) is None
        """,
    ),
    "empty order": (
        """
        def f(x): return 0
        """,
        """
        from program import f
        def test_a():
            assert f(3) <= 1
            assert f(3) == 0
        """,
    ),
    "time": (
        """
        def f(x): return x
        """,
        """
        import unittest
        from program import f
        class T(unittest.TestCase):
            def setUp(self): self.x = 3
            def test(self): self.assertTrue(f(self.x))
        """,
    ),
    "a method says both": (
        """
        class Bag:
            def __init__(self, xs): self._xs = xs
            def has(self, x): return x in self._xs
        """,
        """
        from program import Bag
        def test_a():
            bag = Bag([3])
            assert bag.has(3)
            assert not bag.has(4)
        """,
    ),
    "a text's method": (
        """
        def f(x): return 'a' + x
        """,
        """
        from program import f
        def test_a():
            assert f('b').startswith('a')
            assert f('b').endswith('b')
        """,
    ),
    "one line if": (
        """
        def f(x): return 2 * x
        """,
        """
        from program import f
        def test_a():
            for x in (0, 1, 2):
                if f(x) > 1: assert f(x) == 2 * x
                if x: assert f(x) == 2 * x
        """,
    ),
    "one line else": (
        """
        def f(x): return 2 * x
        """,
        """
        from program import f
        def test_a():
            if f(3) > 5: assert f(3) == 6
            else: assert False
        """,
    ),
    "a version": (
        """
        def f(x): return 2 * x
        """,
        """
        import sys
        from program import f
        def test_a():
            assert f(3) == 6
            if sys.version_info < (3, 0):
                assert f(3) == 7
        """,
    ),
    "both sides": (
        """
        def f(x): return None if x < 0 else 2 * x
        """,
        """
        from program import f
        def test_a():
            for x in (-1, 3):
                r = f(x)
                if r is None:
                    assert x < 0
                else:
                    assert r == 2 * x
        """,
    ),
    "expected error": (
        """
        def f(x):
            if x < 0: raise ValueError('no')
            return x
        """,
        """
        from program import f
        def test_a():
            try:
                f(-1)
                assert False
            except ValueError:
                pass
            try:
                f(-1)
            except ValueError as error:
                assert str(error) == 'no'
            assert f(3) == 3
        """,
    ),
    "a number of items": (
        """
        def f(x): return [0, 2]
        """,
        """
        from program import f
        def test_a():
            want = [0, 2]
            r = f(2)
            assert len(r) == 2
            for i, v in enumerate(r):
                assert v == want[i]
        """,
    ),
    "a whole generator": (
        """
        def f(x):
            yield from range(x)
        """,
        """
        from program import f
        def test_a():
            for a, b in zip(f(3), [0, 1, 2]):
                assert a == b
        """,
    ),
    "sets": (
        """
        def f(x): return {6, 8}
        """,
        """
        from program import f
        def test_a():
            assert f(3) - {6} == {8}
            assert f(3) | {1} == {1, 6, 8}
            assert {6, 8, 9}.issuperset(f(3))
        """,
    ),
    "code of the tests": (
        """
        def f(x): return 2 * x
        """,
        """
        from program import f
        def test_a():
            assert f(eval('3')) == 6
            space = {}
            exec('x = 3', space)
            assert f(space['x']) == 6
        """,
    ),
    "differences": (
        """
        def f(x): return [x, x + 1]
        """,
        """
        from program import f
        def test_a():
            r = f(3)
            assert r[1] - r[0] == 1
            assert abs(r[0] - 3) < 1e-9
        """,
    ),
    "in a text": (
        """
        def f(x): return 'a' * x
        """,
        """
        from program import f
        def test_a():
            assert 'aa' in f(3)
            assert f(1) in 'abc'
        """,
    ),
    "match": (
        """
        def f(x): return 2 * x
        """,
        """
        from program import f
        def test_a():
            match f(3):
                case int(v):
                    assert v == 6
                case _:
                    raise AssertionError('no')
        """,
    ),
    "and": (
        """
        def f(x): return 2 * x
        """,
        """
        import unittest
        from program import f
        class T(unittest.TestCase):
            def test_a(self):
                r = f(3)
                r and self.assertEqual(r, 6)
                self.assertIs(isinstance(r, int), True)
        """,
    ),
    "enumerate by number": (
        """
        def f(x): return [0, 1, 2]
        """,
        """
        from program import f
        def test_a():
            for i, v in enumerate(f(3)):
                assert v == i
        """,
    ),
    "optional": (
        """
        def f(x): return 2 * x
        """,
        """
        try:
            from program import f
        except ImportError:
            f = None
        def test_a():
            assert f(3) == 6
        """,
    ),
    "a round trip by helper": (
        """
        def enc(x): return x[::-1]
        def dec(x): return x[::-1]
        """,
        """
        import random
        from program import enc, dec
        def some(): return ['ab', 'c']
        def test_a():
            for x in some():
                assert dec(enc(x)) == x
            y = str(random.random())
            assert dec(enc(y)) == y
        """,
    ),
}
HONEST_BY_PYTEST: dict[str, tuple[str, str]] = {
    "wanted of the tests": (
        """
        def f(x): return 2 * x
        """,
        """
        import pytest
        from program import f
        @pytest.fixture
        def want(): return 6
        def test_a(want):
            assert f(3) == want
        @pytest.mark.parametrize('x, y', [(3, 6)])
        def test_b(x, y):
            assert f(x) == y
        """,
    ),
    "assume": (
        """
        def f(x): return 2 * x
        """,
        """
        from hypothesis import given, assume, settings, strategies as st
        from program import f
        @settings(max_examples=5, database=None)
        @given(st.integers())
        def test_a(x):
            assume(x > 0)
            assert f(x) == x + x
        """,
    ),
}
"""Right programs with tests that use pytest and hypothesis."""
