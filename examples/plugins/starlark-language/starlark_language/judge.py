"""Starlark's judge: a file of tests beside the program, run as Python, of which Starlark is a part.

`rules_test.star` tests `rules.star`: each of its functions named `test…` is called, and `assert_eq` compares.
Only the built-in functions are Python's; a program that loads other files is refused.
"""

from __future__ import annotations

import ast
from pathlib import Path

from counterlens.judging.base import Evidence, Judgement, Verdict
from counterlens.judging.languages import JudgedLanguage, judge_by_behaviour, why_no_behaviour
from counterlens.python.judging import differential
from counterlens.python.judging.cheats import cheats
from counterlens.python.judging.supplied_tests import PythonOutputJudge, SuppliedTestsJudge
from counterlens.syntax.functions import functions
from starlark_language.syntax import strict

ID = "a file of tests"
_ASSERT = (
    "def assert_eq(actual, expected):\n    assert actual == expected, f'{actual!r} is not {expected!r}'\n"
)


class StarlarkTestsJudge(SuppliedTestsJudge):
    """Judges programs by the functions `test…` of a file."""

    attribution = ID

    def __init__(self, tests, function, original, setting):
        names = [node.name for node in ast.parse(tests).body if isinstance(node, ast.FunctionDef)]
        calls = "".join(f"{name}()\n" for name in names if name.startswith("test"))
        super().__init__(f"{_ASSERT}{tests}\n{calls}", function, original, setting)

    def judge(self, program, *, cancel=None):
        """Run the tests against a program that is Starlark and loads nothing."""
        try:
            strict(program)
        except SyntaxError as error:
            return Verdict(Judgement.INVALID, Evidence(ID, 0, None, str(error)))
        if any(getattr(node, "id", "") == "load" for node in ast.walk(ast.parse(program))):
            return Verdict(Judgement.REFUSED, Evidence(ID, 0, None, "it loads other files"))
        return super().judge(program, cancel=cancel)


def by_file(_path, tests, setting, function, right, _original):
    """The judge by a named file of tests."""
    text = Path(tests).read_text("utf-8")
    tested = [node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    return StarlarkTestsJudge(text, function or (tested or [""])[0], right, setting)


def find(document, function, setting):
    """The judge by the file of tests beside a program, if it tests the function."""
    path = document.path
    tests = path and path.with_name(f"{path.stem}_test{path.suffix}")
    if not tests or not tests.is_file():
        return None
    text = tests.read_text("utf-8")
    return StarlarkTestsJudge(text, function.name, document.text, setting) if function.name in text else None


STARLARK = JudgedLanguage(
    missing=lambda: None,
    by_file=by_file,
    by_output=PythonOutputJudge,
    supplied=SuppliedTestsJudge,
    entries=functions,
    tests={ID: find},
    surveyed={ID: find},
    untested="no file of tests beside it mentions it",
    behaviour=differential.find_behaviour,
    cheats=cheats,
    fallbacks={differential.ID: judge_by_behaviour},
    why_not={differential.ID: why_no_behaviour},
)
