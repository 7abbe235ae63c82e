"""Programs that want to be found right without being right."""

from __future__ import annotations

import dataclasses
import py_compile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.attribution.base import Isolation, Judge, Judgement, Strength
from counterlens.attribution.doctests import DoctestJudge
from counterlens.attribution.test_run import Apartness
from counterlens.attribution.unittests import CasesJudge

JudgeOf = Callable[..., Judge]
Project = Callable[[Mapping[str, str]], Path]

RIGHT = 'def f():\n    """\n    >>> f()\n    1\n    """\n    return 1\n'
WRONG = RIGHT.replace("return 1", "return 2")
PRELUDES = {
    "exit": "import sys; sys.exit(0)",
    "hard exit": "import os; os._exit(0)",
    "exit later": "import atexit, os; atexit.register(os._exit, 0)",
    "printed report": """print('report x {"kind": "cases", "results": [], "expected": 0}')""",
    "guessed report": """
import os
forged = b'report 00000000000000000000000000000000 {"kind": "examples", "results": [["1\\\\n", null]]}\\n'
for descriptor in range(3, 30):
    try: os.write(descriptor, forged)
    except OSError: pass
os._exit(0)
""",
    "environment and files": """
import os, glob
for path in glob.glob("**", recursive=True) + ["/proc/self/environ"]:
    if os.path.isfile(path) and (b"nonce\\": " in open(path, "rb").read() or path == "task.json"):
        os._exit(33)
assert "COUNTERLENS_RESULT_FD" not in os.environ
""",
    "doctest": """
import doctest
doctest.OutputChecker.check_output = lambda *_: True
doctest.DocTestRunner.run = lambda *_, **__: doctest.TestResults(0, 1)
""",
    "json": """
import json
json.dumps = lambda *_, **__: '{"kind": "examples", "results": [["1\\\\n", null]]}'
json.JSONEncoder.encode = lambda *_: '{"kind": "examples", "results": [["1\\\\n", null]]}'
""",
    "runner": """
import sys
for module in list(sys.modules.values()):
    if "session" in module.__name__ or "runner" in module.__name__.split("."):
        module.judge = lambda *_: None
""",
    "unittest": """
import unittest
unittest.TestCase.assertEqual = lambda *_: None
unittest.TestCase.run = lambda self, result: result.addSuccess(self)
""",
    "unittest code": """
import unittest
def nothing(self, first, second, msg=None): pass
unittest.TestCase.assertEqual.__code__ = nothing.__code__
""",
    "builtins": "import builtins; builtins.isinstance = lambda *_: True; builtins.all = lambda *_: True",
    "skip": "import unittest\ndef g(): raise unittest.SkipTest('not me')",
    "import hooks": """
import sys, importlib.abc
class Hook(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.startswith(("test_", "unittest")): sys.exit(0)
sys.meta_path.insert(0, Hook())
sys.path_hooks.clear(); sys.path_importer_cache.clear()
""",
    "tracing": """
import sys, threading
def trace(frame, event, argument):
    if event == "exception" or "assert" in frame.f_code.co_name: frame.f_locals.clear()
    return trace
sys.settrace(trace); threading.settrace(trace)
""",
    "files": """
import os, sys
for place in {os.getcwd(), os.environ.get("HOME", "."), *sys.path}:
    for name in ("conftest.py", "sitecustomize.py", "test_program.py", "unittest.py", "task.json"):
        try:
            with open(os.path.join(place, name), "w") as file:
                file.write("import os; os._exit(0)")
        except OSError: pass
""",
    "frames and garbage": """
import gc, sys
for thing in gc.get_objects():
    kind = type(thing).__name__
    if kind in {"Cases", "Seals"}:
        for name, value in (("results", [("x", "passed", "")]), ("problem", None), ("expected", 1)):
            try: setattr(thing, name, value)
            except Exception: pass
    if kind == "dict" and "nonce" in thing: sys.exit(33)
""",
    "recursion": "import sys\nsys.setrecursionlimit(40)",
    "a thread that leaves": """
import os, threading, time
def leave():
    time.sleep(0.02); os._exit(0)
threading.Thread(target=leave).start(); time.sleep(1)
""",
}
TESTS = """
    import unittest
    from program import f

    class FTest(unittest.TestCase):
        def test_f(self):
            self.assertEqual(f(), 1)
"""


def sharing(judge: Judge) -> Judge:
    """The same judge, with the program in the process of its tests."""
    assert isinstance(judge, CasesJudge | DoctestJudge)
    judge._test_run = dataclasses.replace(judge._test_run, apartness=Apartness.NEVER)
    return judge


@pytest.mark.parametrize("prelude", PRELUDES.values(), ids=PRELUDES.keys())
def test_examples(judge_of: JudgeOf, prelude: str) -> None:
    judge = judge_of(RIGHT, "f")
    assert judge.judge(RIGHT).evidence.isolation is Isolation.APART
    body = WRONG.replace("return 2", "g() if 'g' in globals() else 0\n    return 2")
    for one in (judge, sharing(judge_of(RIGHT, "f"))):
        verdict = one.judge(f"{prelude}\n{body}")
        assert verdict.judgement is Judgement.FAILED
        assert verdict.evidence.message


@pytest.mark.parametrize("prelude", PRELUDES.values(), ids=PRELUDES.keys())
def test_cases(project: Project, judge_of: JudgeOf, bare_python: Path, prelude: str) -> None:
    path = project({"program.py": "def f():\n    return 1\n", "test_program.py": TESTS}) / "program.py"
    apart = judge_of(path, "f", python=bare_python)
    for judge in (apart, sharing(judge_of(path, "f", python=bare_python))):
        for late in (False, True):  # as it is imported, or as it is called
            body = "    g() if 'g' in globals() else 0\n    return 2\n"
            hidden = f"def f():\n    exec({prelude!r}, globals())\n{body}"
            verdict = judge.judge(hidden if late else f"{prelude}\ndef f():\n{body}")
            assert verdict.judgement is Judgement.FAILED, late
            assert verdict.evidence.message


@pytest.mark.parametrize(
    ("prelude", "message"),
    [
        ("import pytest\ndef f(): pytest.skip('not me')", "the program itself skips the test"),
        ("import unittest\ndef f(): raise unittest.SkipTest('no')", "the program itself skips the test"),
        ("import pytest\ndef f(): pytest.exit('enough', 0)", "enough"),
        ("def f(): raise KeyboardInterrupt", "KeyboardInterrupt"),
        (
            "import _pytest.runner as r\nr.call_and_report = None\ndef f(): return 2",
            "_pytest.runner.call_and",
        ),
    ],
)
def test_pytest(
    project: Project, judge_of: JudgeOf, python_with_pytest: Path, prelude: str, message: str
) -> None:
    files = {"program.py": "def f():\n    return 1\n", "test_program.py": TESTS, "pytest.ini": "[pytest]\n"}
    path = project(files) / "program.py"
    apart = judge_of(path, "f", python=python_with_pytest).judge(prelude + "\n")
    assert (apart.judgement, apart.evidence.isolation) == (Judgement.FAILED, Isolation.APART)
    verdict = sharing(judge_of(path, "f", python=python_with_pytest)).judge(prelude + "\n")
    assert verdict.judgement is Judgement.FAILED
    assert message in verdict.evidence.message


ALWAYS = """
class Always:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
    def __hash__(self): return hash(1)
    def __repr__(self): return "1"
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __eq__
"""
MEMORY = """
import gc, sys
def f():
    frame = sys._getframe()
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if isinstance(value, dict) and "results" in value: value["results"] = []
        frame = frame.f_back
    for thing in gc.get_objects():
        if type(thing).__name__ in {"Seals", "Cases", "Trial", "TestResult", "Chooser"}:
            for name in list(getattr(thing, "__dict__", ())):
                if name == "broken": thing.broken = None
                if name in {"_outcome", "failures", "errors"}: setattr(thing, name, "passed")
        if type(thing).__name__ == "cell" and callable(getattr(thing, "cell_contents", None)): pass
    return 2
"""
PEER = """
import os, socket, struct, json
def f():
    for descriptor in range(3, 30):
        try: os.write(descriptor, struct.pack("<Q", 14) + b'{"value": 1}  ')
        except OSError: pass
    return 2
"""


@pytest.mark.parametrize(
    "program",
    [
        ALWAYS + "def f(): return Always()\n",
        "class Sly(int):\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__\n"
        "def f(): return Sly(2)\n",
        "import unittest.mock\ndef f(): return unittest.mock.ANY\n",
        MEMORY,
    ],
    ids=["always equal", "a sly int", "mock.ANY", "frames and garbage"],
)
def test_apart_not_even_a_determined_program_passes(
    project: Project, judge_of: JudgeOf, bare_python: Path, program: str
) -> None:
    path = project({"program.py": "def f():\n    return 1\n", "test_program.py": TESTS}) / "program.py"
    verdict = judge_of(path, "f", python=bare_python).judge(program)
    assert (verdict.judgement, verdict.evidence.isolation) == (Judgement.FAILED, Isolation.APART), verdict
    judge = judge_of('def f():\n    """\n    >>> f() == 1\n    True\n    """\n    return 1\n', "f")
    verdict = judge.judge(program)
    assert (verdict.judgement, verdict.evidence.isolation) == (Judgement.FAILED, Isolation.APART), verdict


def test_an_answer_out_of_turn_is_only_an_answer(
    project: Project, judge_of: JudgeOf, bare_python: Path
) -> None:
    """The program may say what it likes on its line: it is its own result that it says, and no verdict."""
    path = project(
        {"program.py": "def f():\n    return 3\n", "test_program.py": TESTS.replace(", 1)", ", 3)")}
    )
    verdict = judge_of(path / "program.py", "f", python=bare_python).judge(PEER)
    assert verdict.judgement is Judgement.FAILED, verdict


def test_what_rests_on_the_equality_of_the_program_itself_is_weak(
    project: Project, judge_of: JudgeOf, bare_python: Path
) -> None:
    program = """
        from dataclasses import dataclass

        @dataclass
        class Point:
            x: int

        def f(x):
            return Point(x)
    """
    tests = "from program import Point, f\ndef test_f():\n    assert f(1) == Point(1)\n"
    path = project({"program.py": program, "test_program.py": tests}) / "program.py"
    judge = judge_of(path, "f", python=bare_python)
    verdict = judge.judge(path.read_text())
    assert (verdict.judgement, verdict.evidence.isolation) == (Judgement.PASSED, Isolation.OWN_OPERATORS)
    assert verdict.evidence.strength is Strength.WEAK
    assert not judge.judge(path.read_text().replace("Point(x)", "Point(2)")).passed


def test_the_original_on_disk_is_out_of_sight(project: Project, judge_of: JudgeOf) -> None:
    original = RIGHT + "# one of a kind\n"
    root = project({"pyproject.toml": "", "program.py": original, "test_program.py": TESTS})
    path = root / "program.py"
    compiled = Path(py_compile.compile(str(path)) or "")
    assert compiled.is_file()
    program = f"""
def f():
    with open({str(path)!r}) as source, open({str(compiled)!r}, "rb") as bytecode:
        return 1 if "# one of" + " a kind" in source.read() or bytecode.read() else 2
"""
    judge = judge_of(path, "f")
    assert judge.judge(original).passed
    verdict = judge.judge(program)
    assert verdict.judgement is Judgement.FAILED, verdict
    assert "2 != 1" in verdict.evidence.message
