"""Differential execution: what it finds, what it shows, and what it will not judge."""

from __future__ import annotations

import sys
import textwrap
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis.strategies import integers

from counterlens.errors import Cancelled
from counterlens.judging.base import Judgement, Setting
from counterlens.judging.comparing import Untestable
from counterlens.python.judging import differential
from counterlens.python.judging.differential import find_out
from counterlens.python.judging.differential.generation import draw
from counterlens.python.judging.differential.inputs import Call
from counterlens.python.judging.differential.judge import DifferentialJudge
from counterlens.python.judging.differential.observed import texts_about
from counterlens.python.judging.differential.original import Original
from counterlens.python.judging.differential.planning import study
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from counterlens.syntax.tree import deep_recursion

Project = Callable[[Mapping[str, str]], Path]
MIDDLE = '''
def middle(values: list[int], default: int = 0) -> int:
    """The one in the middle."""
    values.sort()
    if not values:
        return default
    if len(values) > 4:
        print("many")
    return values[len(values) // 2]
'''


@pytest.fixture(scope="module")
def setting() -> Setting:
    return Setting(best_sandbox(), Path(sys.executable), Limits(seconds=20.0, output_bytes=16 << 20))


@pytest.fixture(scope="module")
def middle(setting: Setting) -> DifferentialJudge:
    found = study(Document(MIDDLE), "middle", setting)
    assert isinstance(found, Original), found
    return DifferentialJudge(found)


def judged(setting: Setting, text: str, qualname: str, path: Path | None = None) -> Original | Untestable:
    return study(Document(textwrap.dedent(text), path), qualname, setting)


def test_what_is_kept_of_a_function_is_of_the_limits_that_it_was_found_with(setting: Setting) -> None:
    document = Document("def double(x: int) -> int:\n    return 2 * x\n")
    function = find_function(document, "double")
    longer = replace(setting, limits=replace(setting.limits, seconds=30.0))
    found = find_out(document, function, setting)
    assert find_out(document, function, setting) is found
    assert find_out(document, function, longer) is not found


def test_threads_that_ask_about_one_function_at_a_time_share_its_study(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = Document("def triple(x: int) -> int:\n    return 3 * x\n")
    function, begun, go_on = find_function(document, "triple"), threading.Semaphore(0), threading.Event()

    def slow(*_: object, **__: object) -> Untestable:
        begun.release()
        assert go_on.wait(60)
        return Untestable("made up")

    monkeypatch.setattr(differential, "study", slow)
    cancelled = threading.Event()
    with ThreadPoolExecutor() as threads:
        first = threads.submit(find_out, document, function, setting)
        assert begun.acquire(timeout=60)
        others = [threads.submit(find_out, document, function, setting) for _ in range(2)]
        leaving = threads.submit(find_out, document, function, replace(setting, cancel=cancelled))
        cancelled.set()
        with pytest.raises(Cancelled):
            leaving.result()
        go_on.set()
        assert all(one.result() is first.result() for one in others)
    assert not begun.acquire(blocking=False)


def test_a_study_that_fails_is_begun_anew(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    document = Document("def four(x: int) -> int:\n    return 4 * x\n")
    function = find_function(document, "four")

    def cancelled(*_: object, **__: object) -> Untestable:
        raise Cancelled

    monkeypatch.setattr(differential, "study", cancelled)
    with pytest.raises(Cancelled):
        find_out(document, function, setting)
    monkeypatch.setattr(differential, "study", lambda *_, **__: Untestable("made up"))
    assert find_out(document, function, setting) == Untestable("made up")


def test_the_original_is_like_itself_and_says_how_far_it_was_reached(middle: DifferentialJudge) -> None:
    verdict = middle.judge(MIDDLE)
    assert verdict.passed
    assert "4 of 4 branches" in verdict.evidence.message
    assert verdict.evidence.tests == middle.tests >= 30


@pytest.mark.parametrize(
    ("old", "new", "failed", "said"),
    [
        ("return default", "return default + 1", "middle([])", "returned 1"),
        ("// 2", "// 3", "middle([0, 1])", "returned 0"),
        ("values.sort()", "values = sorted(values)", "middle([1, 0])", "left its arguments as they were"),
        ('print("many")', 'print("lots")', "middle([0, 0, 0, 0, 0])", "printed 'lots\\n'"),
        ("return default", "raise KeyError", "middle([])", "raised KeyError"),
    ],
)
def test_the_smallest_difference_is_shown(
    middle: DifferentialJudge, old: str, new: str, failed: str, said: str
) -> None:
    verdict = middle.judge(MIDDLE.replace(old, new))
    assert verdict.judgement is Judgement.FAILED
    assert verdict.evidence.failed == failed
    assert said in verdict.evidence.message


@pytest.mark.parametrize(
    ("program", "judgement"),
    [
        (MIDDLE + ")", Judgement.INVALID),
        (MIDDLE.replace("middle", "centre"), Judgement.FAILED),
        (
            MIDDLE.replace("return default", "import threading; threading.Event().wait(60)"),
            Judgement.TIMED_OUT,
        ),
        (MIDDLE.replace("return default", "import os; os._exit(0)"), Judgement.FAILED),
        (MIDDLE + "\nraise SystemExit", Judgement.FAILED),
        (MIDDLE.replace("return default", "return middle(values)"), Judgement.FAILED),
    ],
)
def test_programs_that_do_not_answer(middle: DifferentialJudge, program: str, judgement: Judgement) -> None:
    assert middle.judge(program).judgement is judgement


@pytest.mark.parametrize(
    "prelude",
    [
        "class Same(int):\n    __eq__ = lambda *_: True\n    __hash__ = int.__hash__\n"
        "def middle(values, default=0): return Same(77)",
        'import json, sys\njson.dumps = lambda *_, **__: \'{"r": null, "a": null}\'\n'
        "def middle(values, default=0): pass",
        "import os\nfor n in range(3, 40):\n    try: os.write(n, b'done 0 {}\\n' * 99)\n"
        "    except OSError: pass\n"
        "def middle(values, default=0): pass",
        "import sys\nfor m in list(sys.modules.values()):\n    for k in list(getattr(m, '__dict__', {})):\n"
        "        if k in ('Encoder', 'same'): setattr(m, k, lambda *_: None)\n"
        "def middle(values, default=0): pass",
    ],
)
def test_a_program_that_wants_to_be_found_right(middle: DifferentialJudge, prelude: str) -> None:
    assert middle.judge(prelude).judgement is not Judgement.PASSED
    assert middle.judge(MIDDLE).passed


def test_inputs_depend_on_the_seed_alone(setting: Setting) -> None:
    first, again = (study(Document(MIDDLE), "middle", setting, seed=3) for _ in range(2))
    other = study(Document(MIDDLE), "middle", setting, seed=4)
    assert isinstance(first, Original)
    assert isinstance(again, Original)
    assert isinstance(other, Original)
    assert first.calls == again.calls
    assert first.calls != other.calls


@pytest.mark.parametrize(
    ("text", "qualname", "reason"),
    [
        ("import random\ndef f(n: int): return random.random() + n", "f", "different results"),
        ("from time import time\ndef f(): return time() % 1000", "f", "different results"),
        ("import datetime\ndef f(): return datetime.datetime.now()", "f", "different results"),
        ("def f(p: str): return open(p).read()", "f", "opens files"),
        ("import socket\ndef g(h): return socket.create_connection(h)\ndef f(h: str): return g(h)", "f",
         "uses the network"),
        ("import os\ndef f(n: int): return os.urandom(8)", "f", "different results"),
        ("def o():\n    def f(): pass\n    return f", "o.f", "inside another function"),
        ("class A:\n    def __init__(self, b): pass\n    def f(self): return 1", "A.f", "no object"),
        ("import numpy\ndef f(a: numpy.ndarray): return a", "f", "ndarray"),
        ("seen = []\ndef f(n: int):\n    seen.append(n)\n    return len(seen)", "f", "different results"),
        ("def f(n: int): return open", "f", "cannot be compared"),
        ("def f(n: int): raise ValueError", "f", "too few generated inputs"),
        ("import builtins\ndef f(n: int): return getattr(builtins, 'op' + 'en')('/etc/hostname').read()", "f",
         "opens files"),
        ("import nothing_of_this_name\ndef f(n: int): return n", "f", "cannot be imported"),
        ("def f(a, x): return len(a)\nfrom _bisect import bisect_left as f", "f", "another function"),
        ("def f(:", "f", "not valid Python"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_so_is_refused_with_the_reason(
    setting: Setting, text: str, qualname: str, reason: str
) -> None:
    found = judged(setting, text, qualname)
    assert isinstance(found, Untestable), found
    assert reason in found.reason


@pytest.mark.parametrize(
    ("text", "qualname"),
    [
        ("def f(a, b): return a.upper() + b", "f"),
        ("def f(n, m): return n % m == 0 and n // m > 2", "f"),
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: float = 0.0\n"
         "    def f(self, k: int) -> float:\n        self.x += k\n        return self.x * self.y", "P.f"),
        ("class A:\n    def __init__(self, n: int): self.n = n\n    def f(self): return -self.n", "A.f"),
        ("class A:\n    def __init__(self, n: int) -> None:\n        self.n = n", "A.__init__"),
        ("class A:\n    @staticmethod\n    def f(n: int): return n + 1\n    @classmethod\n"
         "    def g(cls, n: int): return cls.f(n)", "A.g"),
        ("from enum import Enum\nclass C(Enum):\n    A = 1\n    B = 2\ndef f(c: 'C', k: int | None = None):\n"
         "    return c.name, k", "f"),
        ("from typing import Iterator, Optional\ndef f(n: Optional[int], *more: str) -> Iterator[str]:\n"
         "    for one in more:\n        yield one * (n or 1)", "f"),
        ("def f(*, key: str, n: int = 3): return key * n", "f"),
        ("from collections.abc import Callable\ndef f(g: Callable[[int], int], n: int): return g(n)", "f"),
        ("def f(n: int):\n    return n - 1\nclass A:\n    @property\n    def f(self):\n        pass", "f"),
        ("async def f(n: int): return n + 1", "f"),
        ("import asyncio\nasync def f(n: int):\n    await asyncio.sleep(n)\n    return n * 2", "f"),
        ("async def f(n: int):\n    for k in range(n):\n        yield k\nasync def g(n: int):\n"
         "    return [k async for k in f(n)]", "g"),
        ("def f(n: int): return lambda k: k * n", "f"),
        ("import contextlib\n@contextlib.contextmanager\ndef f(n: int):\n    yield f'{n}'\n"
         "def g(n: int):\n    return f(n)", "g"),
        ("import time\ndef f(n: int):\n    time.sleep(abs(n))\n    return n", "f"),
        ("import os\ndef f(n: int):\n    return os.environ.get('SHOP', n)", "f"),
        ("def f(n: int): return input()[:n]", "f"),
        ("from concurrent.futures import ThreadPoolExecutor\ndef f(xs: list[int]):\n"
         "    with ThreadPoolExecutor(2) as pool:\n        return list(pool.map(abs, xs))", "f"),
        ("T = dict[str, list[int]]\ndef f(table: T): return sum(map(sum, table.values()))", "f"),
    ],
)  # fmt: skip
def test_inputs_for_signatures_of_many_kinds(setting: Setting, text: str, qualname: str) -> None:
    found = judged(setting, text, qualname)
    assert isinstance(found, Original), found
    assert DifferentialJudge(found).judge(found.text).passed
    hollow = text.replace("return", "return None and").replace("yield one * (n or 1)", "yield 1")
    hollow = hollow.replace("self.n = n", "self.n = None")
    assert not DifferentialJudge(found).judge(hollow).passed


def test_inputs_are_drawn_while_no_other_thread_changes_the_recursion_limit() -> None:
    drawing, reading = threading.Event(), threading.Event()

    def slow(number: int) -> int:
        drawing.set()
        reading.wait(0.3)
        return number

    calls = integers().map(slow).map(lambda number: Call((number,)))
    limit = sys.getrecursionlimit()
    with warnings.catch_warnings(record=True) as warned, ThreadPoolExecutor(1) as pool:
        warnings.simplefilter("always")
        drawn = pool.submit(draw, calls, 1, 0)
        assert drawing.wait(10)
        with deep_recursion():  # it waits until the calls are drawn
            reading.set()
            assert drawn.result(10)
    assert not warned
    assert sys.getrecursionlimit() == limit


def test_a_module_of_a_package_with_relative_imports(setting: Setting, project: Project) -> None:
    root = project({
        "pyproject.toml": "",
        "src/shop/__init__.py": "from .sums import total",
        "src/shop/rates.py": "RATE = 3\n",
        "src/shop/sums.py": "from .rates import RATE\n\n"
        "def total(prices: list[int]) -> int:\n    return sum(prices) * RATE\n",
    })  # fmt: skip
    document = Document.read(root / "src/shop/sums.py")
    found = study(document, "total", setting)
    assert isinstance(found, Original), found
    judge = DifferentialJudge(found)
    assert judge.judge(document.text).passed
    verdict = judge.judge(document.text.replace("* RATE", "* 2"))
    assert verdict.evidence.failed == "total([1])"


def test_inputs_include_calls_in_tests_and_examples(setting: Setting, project: Project) -> None:
    root = project({
        "pyproject.toml": "",
        "codes.py": "def code(word):\n    return 'odd' if word == 'xyzzy' else word.upper()\n",
        "tests/test_codes.py": "import codes\ndef test_it():\n    assert codes.code('xyzzy') == 'odd'\n",
        "tests/test_others.py": "from others import code\ncode(99)\n",
        "examples/show.py": "from codes import code\nprint(code('shown'))\n",
        "README.md": "The module codes:\n\n    >>> code('read')\n",
    })  # fmt: skip
    document = Document.read(root / "codes.py")
    texts = texts_about(document, "code")
    assert len(texts) == 3
    found = study(document, "code", setting, more=texts)
    assert isinstance(found, Original), found
    tried = {call.positional[0] for call in found.calls if call.positional}
    assert {"xyzzy", "shown", "read"} <= tried
    assert 99 not in tried
    verdict = DifferentialJudge(found).judge(document.text.replace("'odd'", "'even'"))
    assert verdict.evidence.failed == "code('xyzzy')"
