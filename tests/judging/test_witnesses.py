"""What the original and cheats say about programs that pass their tests."""

from __future__ import annotations

import ast
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.judging.base import OriginalComparison, OriginalSays, Setting
from counterlens.judging.languages import behaviour_of
from counterlens.judging.programs import judge_by_file
from counterlens.judging.registry import find_judge
from counterlens.judging.witnesses import WitnessedJudge
from counterlens.python.judging.differential.domain import contract_of
from counterlens.python.judging.differential.inputs import Call, Hints
from counterlens.python.judging.differential.sampling import RecordedPlan
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
        ("import sys; sys.setrecursionlimit(9000)", "changes the recursion limit"),
        ("import sys; sys.excepthook = print", "changes sys"),
        ("import builtins; builtins.left = 1", "changes builtins"),
        ("import os; os.write(1, b'left')", "printed 'left'"),
        ("import sys; sys.stderr.write('left')", "writes to stderr"),
        ("import warnings; warnings.warn('left')", "warns: UserWarning"),
        ("import random; random.seed(1); random.random()", "changes the state of random"),
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
    original = "import decimal, random\nCOUNT = []\ndef f(values):\n    return len(values)\n"
    program = original.replace("    return", f"    result = len(values)\n    {body}\n    return")
    program = program.replace("return len(values)", "return result")
    found = compared(setting, original, program, "f", ["l", 1, 2], ["l", 3])
    assert found.agreement is OriginalSays.DIFFERS
    assert said in found.other


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


@pytest.mark.parametrize(
    ("calls", "holds"),
    [
        ([(3,), (8,)], lambda n: n >= 1),
        ([(0,), (8,)], lambda n: n >= 0),
        ([(-3,), (8,)], lambda n: n >= -6),
        ([("()",), ("(())",), ("",)], lambda text: set(text) <= set("()")),
        ([("ab",), ("xyz",)], lambda text: len(text) >= 2),
        ([("12:30",), ("04:55",)], lambda text: len(text) == 5 and text[2] == ":"),
        ([([1, 2, 3],), ([2, 5, 9],), ([4, 6],)], lambda items: items == sorted(items) and len(items) >= 2),
        ([([[1, 2], [3, 4]],), ([[5, 6, 7]],)], lambda rows: len(set(map(len, rows))) == 1),
        ([({"a": 1},), ({"a": 7},)], lambda held: set(held) == {"a"}),
        ([((1, "a"),), ((2, "b"),)], lambda pair: len(pair) == 2 and isinstance(pair[1], str)),
    ],
)
def test_inputs_stay_in_the_domain_of_the_tests(calls: list[tuple], holds: Callable[..., bool]) -> None:  # type: ignore[type-arg]
    plan = RecordedPlan("f", tuple(map(Call, calls)), Hints())
    drawn = plan.draw((), 200, 1)
    assert len(drawn) > 3
    assert drawn == plan.draw((), 200, 1)
    assert all(holds(*call.positional) for call in drawn), [c for c in drawn if not holds(*c.positional)]


@pytest.mark.parametrize(
    ("docstring", "calls", "holds"),
    [
        ("the n-th prime, n > 1", [(3,), (8,)], lambda n: n > 1),
        ("for a positive integer n", [(1,), (8,)], lambda n: n >= 1),
        ("n is between 2 and 9", [(3,), (8,)], lambda n: 2 <= n <= 9),
        ("n numbers are less than 10", [(3,), (8,)], lambda n: n < 10),
        (
            "n consists of letters, in lower case",
            [("ab",), ("xyz",)],
            lambda text: text.isalpha() and text.islower(),
        ),
        ("n has non-negative numbers", [([3, 4],), ([8],)], lambda items: min(items) >= 0),
        (
            "the numbers in n are distinct",
            [([3, 4, 5, 6],), ([8, 9, 1, 2],)],
            lambda items: len(set(items)) == len(items),
        ),
    ],
)
def test_inputs_keep_to_what_the_documentation_says(
    docstring: str,
    calls: list[tuple],  # type: ignore[type-arg]
    holds: Callable[..., bool],
) -> None:
    contract = contract_of(ast.parse(f"def f(n):\n    '''{docstring}'''\n").body[0])

    def drawn(plan: RecordedPlan) -> list[bool]:
        return [holds(*call.positional) for call in plan.draw((), 300, 1)]

    recorded = tuple(map(Call, calls))
    assert all(drawn(RecordedPlan("f", recorded, Hints(), contract)))
    if docstring != "for a positive integer n":
        assert not all(drawn(RecordedPlan("f", recorded, Hints())))


def test_a_number_with_which_the_code_compares_is_tried() -> None:
    contract = contract_of(ast.parse("def f(n):\n    if n == 0: return '0'\n    return str(n)\n").body[0])
    calls = tuple(map(Call, [(3,), (8,)]))
    assert any(
        call.positional == (0,) for call in RecordedPlan("f", calls, Hints(), contract).draw((), 99, 1)
    )


def test_a_counterexample_stays_in_the_domain(setting: Setting) -> None:
    original = "def f(n):\n    '''n is at least 5'''\n    return n\n"
    found = compared(setting, original, original.replace("return n", "return -n"), "f", 7, 30)
    assert found.call == "f(5)"


def test_a_slow_program_differs_only_if_it_is_slow_on_inputs_of_the_tests_size(setting: Setting) -> None:
    original = "def f(n):\n    return n\n"
    cubic = "def f(n):\n    for _ in range(n ** 4): pass\n    return n\n"
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


def test_a_relation_of_arguments_is_kept() -> None:
    calls = tuple(Call((items, k)) for items, k in (([5, 2, 9], 2), ([1], 1), ([4, 4], 1), ([7, 8, 1, 3], 4)))
    assert all(
        call.positional[1] <= len(call.positional[0])
        for call in RecordedPlan("f", calls, Hints()).draw((), 99, 3)
    )


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
