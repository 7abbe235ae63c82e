"""Hand-written programs with the constructs that mutations are easily wrong about, run before and after.

Each one leaves what it found in `result`. Every preserving counterfactual, and every mutation at all sites at
once, has to leave the same.
"""

from __future__ import annotations

import pytest

from counterlens.mutations import apply_everywhere, counterfactuals, refusals, survey
from counterlens.mutations.base import EQ_NE_CONSISTENT, NEITHER_RAISES, TOTAL_ORDER
from counterlens.python.mutations.language import MUTATIONS
from tests.python.mutations.results import altered

PROGRAMS = {
    "closures": """
        def counter(start):
            count = start
            step = 1
            def up():
                nonlocal count
                count = count + step
                return count
            step = 2
            return up
        up = counter(3)
        result = [up(), up()]
    """,
    "late binding": """
        def build():
            made = []
            for i in range(3):
                made.append(lambda: i)
            return [f() for f in made]
        result = build()
    """,
    "loop variables live on": """
        def last(n, xs):
            i = j = None
            for i in range(n):
                pass
            for j, k in xs:
                if j > 1:
                    break
            else:
                k = "none"
            return i, j, k
        result = [last(0, [(1, 2)]), last(3, [(1, 2), (5, 6), (7, 8)])]
    """,
    "loops that jump": """
        def odd(n):
            seen = []
            for i in range(n):
                if i % 2:
                    continue
                for j in range(i):
                    if j == 2:
                        break
                    seen.append((i, j))
                else:
                    seen.append(i)
            return seen
        result = odd(7)
    """,
    "a range is evaluated once": """
        def grow(xs):
            for i in range(len(xs)):
                xs.append(i)
            n = 2
            for i in range(n):
                n = 10
                i = i * 2
                xs.append(i)
            return xs
        result = grow([1, 2])
    """,
    "counting whiles": """
        def count(n):
            seen = []
            i = 0
            while i < n:
                seen.append(i)
                i += 2
            k = 9
            while k >= 3:
                if k == 5:
                    break
                seen.append(k)
                k -= 1
            else:
                seen.append("end")
            return seen
        result = [count(5), count(0)]
    """,
    "short circuits": """
        def f(a, calls):
            def note(x):
                calls.append(x)
                return x
            if a is not None and note(a > 1) or note(a == 0):
                return "yes", calls
            elif not (a is None or note(a) != 1):
                return "one", calls
            else:
                return "no", calls
        result = [f(x, []) for x in (0, 1, 2, -1)]
    """,
    "evaluation order": """
        def f(log):
            def a():
                log.append("a")
                return 1
            def b():
                log.append("b")
                return 2
            less = a() < b()
            x = a()
            y = b()
            return less, x, y, log
        result = f([])
    """,
    "aliases": """
        def f(xs):
            ys = xs
            ys.append(len(xs))
            zs = xs[:]
            first = xs[0]
            ys[0] = 9
            n = sum(xs)
            return xs, zs, first, n
        result = f([1, 2])
    """,
    "iterators are used up": """
        def f(it):
            head = list(it)
            tail = list(it)
            return head, tail, next(it, "end")
        result = f(iter([1, 2, 3]))
    """,
    "what an except sees": """
        def f(xs):
            done = "nothing"
            try:
                done = "first"
                value = xs[3]
                done = "second"
            except IndexError as error:
                return done, str(error)
            finally:
                done = "last"
            return done, value
        result = [f([]), f([1, 2, 3, 4])]
    """,
    "sets are ordered in part": """
        def f(a, b):
            if {1, 2} < a:
                return "inside"
            else:
                return "not inside"
        result = [f({1, 2, 3}, 0), f({4}, 0)]
    """,
    "names in comprehensions": """
        def f(rows):
            x = 10
            squares = [x * x for x in range(3)]
            total = sum(y for row in rows for y in row if y < x)
            best = {k: v for k, v in zip("ab", rows)}
            last = [z := n for n in range(4)]
            return x, squares, total, best, z, last
        result = f([[1, 20], [3]])
    """,
    "class bodies and mangling": """
        x = "module"
        def f():
            x = "function"
            class A:
                x = x
                y = [x for _ in range(1)]
                def __init__(self):
                    __hidden = 3
                    self.__kept = __hidden
                    __hidden = __hidden + 1
                    self.more = __hidden
            a = A()
            return A.x, A.y, sorted(vars(a).items())
        result = f()
    """,
    "globals": """
        total = 0
        def add(n):
            global total
            total = total + n
            here = total
            total = here * 2
            return here
        result = [add(1), add(2), total]
    """,
    "looked up by name": """
        def f(a):
            first = a + 1
            second = first * 2
            text = "{first}-{second}".format(**locals())
            return text, eval("first"), f"{second=}"
        result = f(2)
    """,
    "deleted and unbound": """
        def f(a):
            x = a
            del x
            try:
                y = x
            except UnboundLocalError:
                y = "unbound"
            x = y
            return x
        result = f(1)
    """,
    "match": """
        def f(v):
            match v:
                case {"kind": kind, **rest}:
                    found = kind, rest
                case [first, *others] if others:
                    found = first, others
                case (int() | str()) as plain:
                    found = plain
                case _:
                    found = None
            return found
        result = [f({"kind": 1, "b": 2}), f([1, 2, 3]), f(4), f([1])]
    """,
    "generators and sends": """
        def g(n):
            got = 0
            for i in range(n):
                sent = yield i + got
                if sent is not None:
                    got = sent
                else:
                    got = 1
            last = got
            return last
        it = g(3)
        result = [next(it), it.send(5), next(it)]
    """,
    "coroutines": """
        import asyncio
        async def f(n):
            total = 0
            for i in range(n):
                if await g(i) > 1:
                    total += i
                else:
                    total -= 1
            return total
        async def g(x):
            await asyncio.sleep(0)
            return x
        result = asyncio.run(f(4))
    """,
    "with and decorators": """
        import contextlib
        def twice(f):
            def inner(*args, **kwargs):
                got = f(*args, **kwargs)
                return got, got
            return inner
        @twice
        def f(a, b=1):
            with contextlib.suppress(ZeroDivisionError) as nothing:
                kept = 1
                kept = a // b
                kept = kept + 1
            return kept, nothing
        result = [f(4, b=2), f(1, b=0)]
    """,
    "keyword arguments": """
        def f():
            def join(left, right):
                both = left + right
                return both
            left = "a"
            return join(left, "b") + join(right="c", left=left)
        result = f()
    """,
    "strings over lines": '''
        def f(a):
            if not a:
                return "none"
            text = """one
        two
            three"""
            more = f"""{text}
          {a}"""
            return more
        result = [f(0), f(1)]
    ''',
    "guards in loops": """
        def f(xs):
            kept = []
            for x in xs:
                if x < 0:
                    continue
                # only those
                if x > 5:
                    break
                kept.append(x)
            return kept
        result = f([1, -2, 3, 9, 4])
    """,
    "hidden builtins": """
        def f(xs):
            def len(x):
                return 99
            def range(n):
                return [n, n]
            def bool(x):
                return False
            seen = [len(xs)]
            for i in range(3):
                seen.append(i)
            if xs:
                seen.append("full")
            return seen
        result = f([1])
    """,
    "a value that tests itself once": """
        def f():
            class Fickle:
                asked = 0
                def __bool__(self):
                    Fickle.asked += 1
                    return Fickle.asked == 1
            one = Fickle()
            if one:
                return "first", Fickle.asked
            return "second", Fickle.asked
        result = f()
    """,
    "other alphabets": """
        def f(größe):
            maß = größe + 1
            ﬁne = maß * 2
            fine = fine + 1
            return maß, ﬁne
        result = f(1)
    """,
}


def program(name: str) -> str:
    lines = PROGRAMS[name].strip("\n").splitlines()
    return "\n".join(line[8:] for line in lines) + "\n"


def outcome(source: str) -> object:
    space: dict[str, object] = {"__name__": "program"}
    exec(compile(source, "<program>", "exec"), space)  # noqa: S102
    return space["result"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_preserving_mutation_keeps_the_result(name: str) -> None:
    source = program(name)
    expected = outcome(source)
    for mutation in (name for name, known in MUTATIONS.items() if known.preserving):
        for pair in counterfactuals(source, mutations=[mutation]):
            assert outcome(pair.source) == expected, f"{mutation}: {pair.description}\n{pair.source}"
        everywhere = apply_everywhere(source, mutation)
        assert outcome(everywhere) == expected, f"{mutation} everywhere\n{everywhere}"


@pytest.mark.parametrize(
    ("mutation", "source", "reason"),
    [
        ("rename-random", "def f():\n    x = 1\n    return vars()['x']\n", "by name"),
        ("rename-random", "def f():\n    x = 1\n    def g(): return eval('x')\n    return g\n", "by name"),
        ("rename-random", "import sys\ndef f():\n    x = 1\n    return sys._getframe()\n", "by name"),
        (
            "independent-swap",
            "def f():\n    a = g()\n    b = h()\n    return a, b\n",
            "both call unknown code",
        ),
        ("independent-swap", "def f(x):\n    x.a = 1\n    y = x.b\n    return y\n", "changes an object"),
        ("operand-swap", "def f(a):\n    return g(a) < a.b\n", "unknown code"),
        ("def-use-break", "def f(x):\n    while x:\n        x = g(x)\n    return x\n", "not always"),
        ("reorder-parameters", "class A:\n    def f(self, a, b): pass\n", "method"),
        ("annotate-strip", "@dispatch\ndef f(a: int): pass\n", "decorator"),
        ("refactor-condition", "class A:\n    if a:\n        b = 1\n", "visible from outside"),
        ("for-while-convert", "async def f(xs):\n    async for x in xs:\n        g(x)\n", "asynchronous"),
    ],
)
def test_what_cannot_be_shown_is_refused(mutation: str, source: str, reason: str) -> None:
    assert any(reason in refusal.reason for refusal in refusals(source, mutations=[mutation]))


def test_what_is_assumed_is_recorded() -> None:
    source = "def f(a, b):\n    if a < b and a == 1:\n        return 1\n    else:\n        return 2\n"
    (flip,) = counterfactuals(source, mutations=["if-else-flip"])
    assert flip.assumptions == (EQ_NE_CONSISTENT, TOTAL_ORDER)
    exact = source.replace("a < b and a == 1", "a is b or a in b")
    (flip,) = counterfactuals(exact, mutations=["if-else-flip"])
    assert not flip.assumptions
    assert "needs to assume total-order" in refusals_without(source, TOTAL_ORDER)
    assert apply_everywhere(source, "if-else-flip", without=[TOTAL_ORDER]) == source


def refusals_without(source: str, assumption: str) -> str:
    found = survey(source, mutations=["if-else-flip"], without=[assumption])
    assert not found.counterfactuals
    return found.refusals[0].reason


def test_a_file_that_minds_nan_has_no_complement_of_an_order() -> None:
    source = "import math\ndef f(a):\n    if a < 0:\n        return 1\n    return math.nan\n"
    (flip,) = counterfactuals(source, mutations=["if-else-flip"])
    assert "if not (a < 0):" in flip.source
    assert not flip.assumptions


@pytest.mark.parametrize("root", ["x = x**0.5", "x **= 0.5"])
def test_a_power_may_be_complex_so_comparing_it_may_raise(root: str) -> None:
    program = (
        f"total = 0\ndef f():\n    global total\n    x = -8\n    {root}\n    small = x < 3\n    total = 1\n"
        "    return small\ntry:\n    f()\nexcept TypeError:\n    pass\nresult = total\n"
    )
    assert altered(program, {NEITHER_RAISES}) == []
