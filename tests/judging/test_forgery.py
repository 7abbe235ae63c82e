"""Programs that want to be found right without being right."""

from __future__ import annotations

import py_compile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.judging.base import Judge, Judgement

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
    "frames": """
import sys
FORGED = [
    {"kind": "cases", "results": [("x", "passed", "")], "expected": 1, "problem": None},
    {"kind": "examples", "results": [("1\\n", None)]},
]
def g():
    frame = sys._getframe()
    while frame is not None:
        for value in [*frame.f_locals.values()]:
            for thing in (value, getattr(value, "cases", None), getattr(value, "_cases", None)):
                for name, forged in (("results", [("x", "passed", "")]), ("expected", 1), ("problem", None),
                                     ("add", lambda *_: None), ("_announce", lambda *_: None)):
                    try: setattr(thing, name, forged)
                    except Exception: pass
            own = getattr(value, "__module__", None)
            if callable(value) and type(own) is str and own.startswith("sandboxed"):
                for forged in FORGED:
                    try: value(forged)
                    except Exception: pass
        frame = frame.f_back
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


def of_a_wrong_program(prelude: str) -> Judgement:
    """It is failed; refused if it writes to the packages, which a plain run could."""
    return Judgement.REFUSED if prelude == PRELUDES["files"] else Judgement.FAILED


@pytest.mark.parametrize("prelude", PRELUDES.values(), ids=PRELUDES.keys())
def test_examples(judge_of: JudgeOf, prelude: str) -> None:
    judge = judge_of(RIGHT, "f")
    assert judge.judge(RIGHT).passed
    body = WRONG.replace("return 2", "g() if 'g' in globals() else 0\n    return 2")
    verdict = judge.judge(f"{prelude}\n{body}")
    assert verdict.judgement is of_a_wrong_program(prelude)
    assert verdict.evidence.message


@pytest.mark.parametrize("prelude", PRELUDES.values(), ids=PRELUDES.keys())
def test_cases(project: Project, judge_of: JudgeOf, bare_python: Path, prelude: str) -> None:
    path = project({"program.py": "def f():\n    return 1\n", "test_program.py": TESTS}) / "program.py"
    judge = judge_of(path, "f", python=bare_python)
    for late in (False, True):  # as it is imported, or as it is called
        body = "    g() if 'g' in globals() else 0\n    return 2\n"
        hidden = f"def f():\n    exec({prelude!r}, globals())\n{body}"
        verdict = judge.judge(hidden if late else f"{prelude}\ndef f():\n{body}")
        assert verdict.judgement is of_a_wrong_program(prelude), late
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
    verdict = judge_of(path, "f", python=python_with_pytest).judge(prelude + "\n")
    assert verdict.judgement is Judgement.FAILED
    assert message in verdict.evidence.message


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
