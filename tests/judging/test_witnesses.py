"""What the original and cheats say about programs that pass their tests."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from counterlens.judging.base import OriginalComparison, OriginalSays, Setting, describe_comparison
from counterlens.judging.languages import behaviour_of
from counterlens.judging.programs import judge_by_file
from counterlens.judging.registry import find_judge
from counterlens.judging.witnesses import WitnessedJudge
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

Project = Callable[[Mapping[str, str]], Path]
PRICE = """
    class Item:
        def __init__(self, price, number):
            self.price, self.number = price, number

    def total(items, discount):
        return sum(item.price * item.number for item in items) - discount(0)
"""
PRICE_TESTS = """
    from functools import partial
    from shop import Item, total

    def test_total():
        assert total([Item(2, 3), Item(5, 1)], lambda value: value) == 11
        assert total((item for item in [Item(4, 2)]), partial(max, 0)) == 8
"""


@pytest.fixture(scope="module")
def setting() -> Setting:
    return Setting(best_sandbox(), Path(sys.executable), Limits(seconds=30.0, output_bytes=16 << 20))


def compared(
    setting: Setting, original: str, program: str, qualname: str, *calls: object
) -> OriginalComparison:
    """What an original says about a program; `calls` are positional arguments of one number each."""
    document = Document(textwrap.dedent(original))
    recorded = [{"v": [call] if not isinstance(call, tuple) else list(call), "w": {}} for call in calls]
    judge = behaviour_of(document, find_function(document, qualname), setting, recorded)
    assert not isinstance(judge, str), judge
    return judge.compare(textwrap.dedent(program))


def test_calls_of_the_tests_are_made_again_with_their_objects_and_functions(
    project: Project, setting: Setting
) -> None:
    folder = project({"shop.py": PRICE, "test_shop.py": PRICE_TESTS})
    document = Document.read(folder / "shop.py")
    judge = find_judge(document, find_function(document, "total"), setting)
    assert isinstance(judge, WitnessedJudge)
    same = judge.judge(document.text.replace("item.price * item.number", "item.number * item.price"))
    assert same.passed
    assert same.evidence.comparison is not None
    assert same.evidence.comparison.agreement is OriginalSays.AGREES
    assert same.evidence.comparison.inputs >= 2
    assert same.evidence.cheats is not None
    assert same.evidence.cheats.failing == same.evidence.cheats.tried
    uncalled = judge.judge(document.text.replace(" - discount(0)", ""))
    assert uncalled.contested
    assert "Item(" in (uncalled.evidence.comparison or OriginalComparison(OriginalSays.AGREES)).call  # type: ignore[operator]
    assert judge.judge(document.text).evidence.comparison is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import os; os.environ['LEFT'] = '1'", "changes the environment"),
        ("import os; os.umask(0)", "changes the file mode mask"),
        ("import sys; sys.excepthook = print", "changes sys"),
        ("import builtins; builtins.left = 1", "changes builtins"),
        ("import os; os.write(1, b'left')", "printed 'left'"),
        ("import sys; sys.stderr.write('left')", "writes to stderr"),
        ("import decimal; decimal.getcontext().prec = 3", "changes the decimal context"),
        ("import threading as t; t.active_count() > 9 or t.Timer(2, len).start()",
         "leaves a thread running"),
        ("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)", "changes signal handlers"),
        ("open('/dev/null').read()", "opens files"),
        ("COUNT.append(1)", "changes the global variable COUNT"),
        ("values.append(1)", "left its arguments as"),
    ],
)  # fmt: skip
def test_what_a_program_does_beside_its_result_is_compared(setting: Setting, body: str, said: str) -> None:
    original = "import decimal\nCOUNT = []\ndef f(values):\n    return len(values)\n"
    original += "def count():\n    return len(COUNT)\n"
    program = original.replace("    return", f"    result = len(values)\n    {body}\n    return")
    program = program.replace("return len(values)", "return result")
    found = compared(setting, original, program, "f", ["l", 1, 2], ["l", 3])
    assert found.agreement is OriginalSays.DIFFERS
    assert said in found.other


SORTED = "def f(values):\n    return sorted(values)\n"
QUICK = """
import random

def f(values):
    if len(values) < 2:
        return list(values)
    pivot = random.choice(values)
    return f([x for x in values if x < pivot]) + [x for x in values if x == pivot] \\
        + f([x for x in values if x > pivot])
"""
FIB = "def f(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\n"
MEMO = """
MEMO = {0: 0, 1: 1}

def f(n):
    if n < 0:
        return 0
    if n not in MEMO:
        MEMO[n] = f(n - 1) + f(n - 2)
    return MEMO[n]
"""
DEEP = """
import sys

def f(n):
    sys.setrecursionlimit(20_000)
    def pair(k):
        if k <= 0:
            return 0, 1
        a, b = pair(k - 1)
        return b, a + b
    return pair(n)[0]
"""
WARNING = FIB.replace("    a, b = 0, 1", "    import warnings\n    warnings.warn('old')\n    a, b = 0, 1")
WAITING = FIB.replace("    a, b = 0, 1", "    import time\n    time.sleep(2)\n    a, b = 0, 1")


@pytest.mark.parametrize(
    ("original", "program", "calls", "trace"),
    [
        (SORTED, QUICK, (["l", 3, 1, 2], ["l", 5, 4], ["l"]), "changes the state of random"),
        (FIB, MEMO, (1, 5, 9), "changes the global variable MEMO"),
        (MEMO, FIB, (1, 5, 9), ""),
        (FIB, DEEP, (1, 5, 9), "changes the recursion limit"),
        (FIB, WARNING, (1, 5, 9), "warns: UserWarning"),
        (FIB, WAITING, (1, 5, 9), "waits 2 s"),
    ],
)
def test_private_traces_are_shown_and_contest_nothing(
    setting: Setting, original: str, program: str, calls: tuple[object, ...], trace: str
) -> None:
    found = compared(setting, original, program, "f", *calls)
    assert found.agreement is OriginalSays.AGREES, found
    assert found.elsewhere is None
    assert found.traces == ((trace,) if trace else ())
    assert (f"by itself, it {trace}" in describe_comparison(found)) == bool(trace)


ROUNDED = "def f(n):\n    return -(-n // 2)\n"
JOINED = "def f(text):\n    return text + text[::-1]\n"
SUMMED = "def f(values):\n    return sum(values)\n"


@st.composite
def other_conditions(draw: st.DrawFn) -> tuple[str, str, tuple[object, ...]]:
    """An original, a condition under which a candidate differs, and calls of tests that do not meet it."""
    number = draw(st.integers(10, 10**18))
    length = draw(st.integers(10, 900))
    numbers = ["n < 0", "n == 0", f"n > {number}", "n < 0 and n % 2"]
    texts = ["not text", "not text.isascii()", f"len(text) > {length}", "text[:1] == ' '"]
    values = ["not values", "min(values, default=1) < 0", "0 in values", f"len(values) > {length}",
              f"max(values, default=0) > {number}"]  # fmt: skip
    return draw(
        st.tuples(st.just(ROUNDED), st.sampled_from(numbers), st.just((3, 4, 7, 10)))
        | st.tuples(st.just(JOINED), st.sampled_from(texts), st.just(("ab", "xyz")))
        | st.tuples(st.just(SUMMED), st.sampled_from(values), st.just((["l", 3, 1], ["l", 5, 4, 9])))
    )


@given(other_conditions())
@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # each example runs programs
    suppress_health_check=[HealthCheck.nested_given],  # inputs are drawn by Hypothesis, too
)
def test_a_candidate_that_differs_on_other_inputs_never_just_agrees(
    case: tuple[str, str, tuple[object, ...]],
) -> None:
    original, condition, calls = case
    program = original.replace("    return", f"    if {condition}: return 'other'\n    return")
    running = Setting(best_sandbox(), Path(sys.executable), Limits(seconds=30.0, output_bytes=16 << 20))
    found = compared(running, original, program, "f", *calls)
    assert found.agreement is OriginalSays.DIFFERS or found.elsewhere is not None, found
    if found.elsewhere is not None:
        assert f"; differs on others: {found.elsewhere.call}" in describe_comparison(found)
        assert found.elsewhere.other == "returned 'other'"


def test_an_agreement_says_on_which_inputs(setting: Setting) -> None:
    found = compared(setting, ROUNDED, ROUNDED, "f", 3, 4, 7, 10)
    assert {"zero", "negative", "larger"} <= set(found.kinds)
    assert describe_comparison(found) == (
        f"agrees with the original on {found.inputs} inputs like those of the tests, "
        f"and on {found.others} others ({', '.join(found.kinds)})"
    )


def test_an_example_of_the_docstring_contests(setting: Setting) -> None:
    documented = ROUNDED.replace(
        "    return", '    """Half of it.\n\n    >>> f(-4)\n    -2\n    """\n    return'
    )
    program = documented.replace("    return", "    if n < 0: return 0\n    return")
    assert compared(setting, documented, program, "f", 3, 4, 7, 10).call == "f(-2)"


def test_a_number_far_beyond_those_of_the_tests_is_tried(setting: Setting) -> None:
    binet = "def f(n):\n    return round(((1 + 5 ** 0.5) / 2) ** n / 5 ** 0.5) if n > 0 else 0\n"
    found = compared(setting, FIB, binet, "f", 1, 2, 5, 9)
    assert found.elsewhere is not None
    assert int(found.elsewhere.call[2:-1]) > 70


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("def f(x, state=[6, 8]):\n    return state.pop(0) if state else 2 * x\n", "returned"),
        ("N = iter(range(6, 99, 2))\ndef f(x):\n    return next(N)\n", "returned"),
        ("def f(x):\n    if x > 4: raise KeyError\n    return 2 * x\n", "raised KeyError"),
        ("def f(x):\n    import os; os._exit(0)\n", "it ended the process"),
        ("def f(x):\n    while x > 4: pass\n    return 2 * x\n", "did not end"),
        ("def g(x):\n    return 2 * x\n", "it does not define f"),
    ],
)
def test_each_input_is_tried_twice_in_another_order(setting: Setting, program: str, said: str) -> None:
    found = compared(setting, "def f(x):\n    return 2 * x\n", program, "f", 3, 4)
    assert found.agreement is OriginalSays.DIFFERS
    assert said in found.other


@pytest.mark.parametrize(
    ("original", "program", "agreement", "reason"),
    [
        ("return x / 3", "return x * (1 / 3)", OriginalSays.AGREES, ""),
        ("return {1, x}", "return set([x, 1])", OriginalSays.AGREES, ""),
        ("return list({x: 1, 0: 2})", "return [0, x] if x else [0]", OriginalSays.DIFFERS, ""),
        ("return [x]", "return (x,)", OriginalSays.DIFFERS, ""),
        ("if x > 6: raise ValueError\n    return x", "return x", OriginalSays.AGREES,
         "differs only where the original refuses, such as f("),
    ],
)  # fmt: skip
def test_what_counts_as_the_same(
    setting: Setting, original: str, program: str, agreement: OriginalSays, reason: str
) -> None:
    texts = [f"def f(x):\n    {body}\n" for body in (original, program)]
    found = compared(setting, texts[0], texts[1], "f", 3, 8)
    assert (found.agreement, found.reason.startswith(reason)) == (agreement, True), found


def test_a_part_of_an_argument_in_the_result_is_seen(setting: Setting) -> None:
    original = "def f(values):\n    return [list(value) for value in values]\n"
    found = compared(
        setting, original, original.replace("list(value)", "value"), "f", ["l", ["l", 1], ["l", 2, 3]]
    )
    assert "returns an argument itself: its result[0] is" in found.other


def test_a_slow_program_differs_only_if_it_is_slow_on_inputs_of_the_tests_size(setting: Setting) -> None:
    original = "def f(n):\n    return n\n"
    cubic = "def f(n):\n    for _ in range(n ** (4 if n < 80 else 9)): pass\n    return n\n"
    slow = compared(setting, original, cubic, "f", 20, 60)
    assert slow.agreement is OriginalSays.AGREES
    assert "larger than those of the tests" in slow.reason
    endless = cubic.replace("pass", "while n > 60: pass")
    assert compared(setting, original, endless, "f", 20, 60).agreement is OriginalSays.DIFFERS


COUNTED = "SEEN = []\ndef f(x):\n    SEEN.append(x)\n    return len(SEEN)\n"
RANDOM = "import random\ndef f(x):\n    return x + random.random()\n"
VIEW = "def f(data):\n    return memoryview(data)[1:]\n"
BYTES = ["m", "bytearray", "616263"]


@pytest.mark.parametrize(
    ("original", "program", "call", "agreement"),
    [
        (COUNTED, COUNTED.replace("len(SEEN)", "sum(1 for _ in SEEN)"), 3, OriginalSays.AGREES),
        (COUNTED, COUNTED.replace("len(SEEN)", "1 + (len(SEEN) > 1)"), 3, OriginalSays.DIFFERS),
        (RANDOM, RANDOM.replace("x + random.random()", "random.random() + x"), 3, OriginalSays.AGREES),
        (RANDOM, RANDOM.replace("random.random()", "random.uniform(0, 2)"), 3, OriginalSays.NOT_COMPARABLE),
        (VIEW, VIEW, BYTES, OriginalSays.AGREES),
        (VIEW, VIEW.replace("memoryview(data)[1:]", "memoryview(data[1:])"), BYTES, OriginalSays.DIFFERS),
        (VIEW, VIEW.replace("1:", "0:"), BYTES, OriginalSays.DIFFERS),
    ],
)
def test_memory_chance_and_views_are_compared(
    setting: Setting, original: str, program: str, call: object, agreement: OriginalSays
) -> None:
    assert compared(setting, original, program, "f", call).agreement is agreement


def test_a_function_whose_tests_only_expect_exceptions_is_called_with_other_values(setting: Setting) -> None:
    original = "def f(xs):\n    if not xs: raise LookupError\n    return xs[0]\n"
    assert compared(setting, original, original, "f", ["l"]).agreement is OriginalSays.AGREES
    other = compared(setting, original, original.replace("xs[0]", "xs[-1]"), "f", ["l"])
    assert other.agreement is OriginalSays.DIFFERS


SHELF = """
class Shelf:
    def __init__(self, room):
        self._room, self._held = room, []

    def put(self, thing):
        if len(self._held) < self._room:
            self._held.append(thing)
        return len(self._held)

    def take(self):
        return self._held.pop() if self._held else None
"""
SHELF_TESTS = """
from shelf import Shelf

def test_shelf():
    shelf = Shelf(2)
    assert shelf.put("a") == 1
    shelf.put("b")
    shelf.put("c")
    assert shelf.take() in ("a", "b")
    assert shelf.take() is not None
"""


@pytest.mark.parametrize(
    ("right", "other", "says"),
    [
        ("._held", "._things", OriginalSays.AGREES),
        ("pop()", "pop(0)", OriginalSays.DIFFERS),  # only after two things were put
        (
            "if self._held else None",
            "if self._held else 0",
            OriginalSays.DIFFERS,
        ),  # only after all were taken
    ],
)
def test_objects_are_compared_by_what_their_methods_give_one_after_another(
    project: Project, setting: Setting, right: str, other: str, says: OriginalSays
) -> None:
    program = SHELF.replace(right, other)
    folder = project({"shelf.py": program, "test_shelf.py": SHELF_TESTS, "before/shelf.py": SHELF})
    place, tests, before = folder / "shelf.py", folder / "test_shelf.py", folder / "before/shelf.py"
    verdict = judge_by_file(program, place, tests, setting, against=before)
    assert verdict.passed
    assert verdict.evidence.comparison is not None
    assert verdict.evidence.comparison.agreement is says, verdict
