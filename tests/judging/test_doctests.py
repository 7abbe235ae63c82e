from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.judging.base import Judge, Judgement, Setting
from counterlens.judging.programs import judge_by_itself
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge
from counterlens.python.judging import doctests
from counterlens.python.judging.supplied_tests import FileOfTestsJudge
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

JudgeOf = Callable[..., Judge]
Project = Callable[[Mapping[str, str]], Path]

MEAN = textwrap.dedent('''
    def mean(values):
        """The arithmetic mean.

        >>> mean([1, 2, 3])
        2.0
        >>> mean([])
        Traceback (most recent call last):
            ...
        ValueError: no values
        >>> values = [4]
        >>> mean(values); print("done")
        4.0
        done
        """
        if not values:
            raise ValueError("no values")
        return sum(values) / len(values)
''')


@pytest.fixture(scope="module")
def mean() -> Judge:
    document = Document(MEAN)
    judge = find_judge(
        document,
        find_function(document, "mean"),
        Setting(best_sandbox(), interpreter_for(document.path), Limits(seconds=20, cpu_seconds=1)),
    )
    assert judge is not None
    return judge


def test_the_program_itself_passes(mean: Judge) -> None:
    verdict = mean.judge(MEAN)
    assert verdict.passed
    assert (verdict.evidence.attribution, verdict.evidence.tests, verdict.evidence.message) == (
        "doctest",
        3,
        "",
    )
    assert (mean.attribution, mean.tests) == ("doctest", 3)


def test_a_wrong_value_is_shown_beside_the_expected_one(mean: Judge) -> None:
    verdict = mean.judge(MEAN.replace("sum(values)", "max(values)"))
    assert verdict.judgement is Judgement.FAILED
    assert verdict.evidence.failed == "mean([1, 2, 3])"
    assert verdict.evidence.message == "expected: 2.0\ngot:      1.0"
    assert verdict.evidence.tests == 1


def test_a_wrong_exception_is_shown(mean: Judge) -> None:
    verdict = mean.judge(MEAN.replace("if not values:", "if False:"))
    assert verdict.evidence.failed == "mean([])"
    assert verdict.evidence.message == (
        "expected: ValueError: no values\nraised:   ZeroDivisionError: division by zero"
    )
    silent = mean.judge(MEAN.replace('raise ValueError("no values")', "return 0"))
    assert silent.judgement is Judgement.FAILED
    assert silent.evidence.message.endswith("got:      0")


def test_a_forced_failure_is_seen(mean: Judge) -> None:
    verdict = mean.judge(MEAN.replace("return sum", "raise RuntimeError('forced')\n    return sum"))
    assert verdict.evidence.message == "expected: 2.0\nraised:   RuntimeError: forced"


def test_the_original_docstring_counts(mean: Judge) -> None:
    head, _, tail = MEAN.partition('"""')
    assert mean.judge(head + tail.partition('"""')[2].lstrip()).passed
    assert not mean.judge(MEAN.replace("2.0", "1.0").replace("sum(values)", "max(values)")).passed


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (MEAN.replace("if not values:", "if not values"), "line 16: expected ':'"),
        (MEAN + "    \tx = 1\n\ty = 2\n", None),
        (MEAN + "\nreturn 3\n", "'return' outside function"),
        (MEAN + "\0", "null bytes"),
        (MEAN + "x = '\ud800'", "surrogates not allowed"),
        ("(" * 1000, None),
        ("x = " + "-" * 100_000 + "1", None),
    ],
)
def test_what_does_not_compile_is_invalid(mean: Judge, broken: str, message: str | None) -> None:
    verdict = mean.judge(broken)
    assert verdict.judgement is Judgement.INVALID
    assert (message or "") in verdict.evidence.message
    assert verdict.evidence.message


def test_an_endless_loop_times_out(mean: Judge) -> None:
    verdict = mean.judge(MEAN.replace("return sum", "while True: pass\n    return sum"))
    assert verdict.judgement is Judgement.TIMED_OUT
    assert verdict.evidence.message == "stopped after 1 s of processor time"
    assert verdict.evidence.failed == "mean([1, 2, 3])"


def test_a_program_that_waits_times_out(judge_of: JudgeOf) -> None:
    judge = judge_of(MEAN, "mean", limits=Limits(seconds=1.5))
    verdict = judge.judge("import time; time.sleep(60)\n" + MEAN)
    assert verdict.judgement is Judgement.TIMED_OUT
    assert verdict.evidence.message == "stopped after 1.5 s"
    flood = judge.judge("import os\nwhile True: os.write(1, b'x' * 1000)\n" + MEAN)
    assert flood.evidence.message == "stopped after 1.5 s, writing without end"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "import no_such_module",
            "it cannot be imported: ModuleNotFoundError: No module named 'no_such_module'",
        ),
        ("1 / 0", "it cannot be imported: ZeroDivisionError: division by zero"),
        ("raise SystemExit", "it cannot be imported: ImportError: the program calls sys.exit()"),
        ("raise KeyboardInterrupt", "it cannot be imported: KeyboardInterrupt"),
        ("import os; os._exit(0)", "the program ended before its tests did (exit code 0)"),
        ("import os; os._exit(7)", "the program ended before its tests did (exit code 7)"),
        ("import ctypes; ctypes.string_at(0)", "the interpreter crashed (SIGSEGV)"),
        ("hoard = [0] * 10**12", "MemoryError"),
        ("def f(): f()\nf()", "RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_accidents_are_explained(mean: Judge, line: str, message: str) -> None:
    verdict = mean.judge(f"{line}\n{MEAN}")
    assert verdict.judgement is Judgement.FAILED
    assert message in verdict.evidence.message


def test_a_flood_inside_an_example_is_cut(mean: Judge) -> None:
    verdict = mean.judge(MEAN.replace("return sum", "for _ in range(10**5): print('x' * 99)\n    return sum"))
    assert verdict.judgement is Judgement.FAILED
    assert len(verdict.evidence.message) < 2000


def test_directives_of_doctest_hold(judge_of: JudgeOf) -> None:
    source = '''
    from __future__ import annotations

    def f(x: Undefined):
        """
        >>> f(1)  # doctest: +ELLIPSIS
        [1, ..., 1]
        >>> f(2)  # doctest: +NORMALIZE_WHITESPACE
        [2,   2,
         2]
        >>> f(None)  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        TypeError: other words
        >>> f(3)  # doctest: +SKIP
        wrong
        >>> print("a\\\\n\\\\nb")
        a
        <BLANKLINE>
        b
        >>> def g(y: Unknown): return y
        >>> g(1); _
        1
        1
        """
        return [x + 0] * 3
    '''
    judge = judge_of(source, "f")
    verdict = judge.judge(textwrap.dedent(source))
    assert verdict.passed, verdict
    assert verdict.evidence.tests == 5


def test_packages_are_imported_under_their_real_name(project: Project, judge_of: JudgeOf) -> None:
    folder = project(
        {
            "src/pkg/__init__.py": "from .sub.deep import where",
            "src/pkg/base.py": "OFFSET = 1",
            "src/pkg/sub/__init__.py": "",
            "src/pkg/sub/deep.py": '''
                from ..base import OFFSET

                class Thing:
                    def where(self, n):
                        """
                        >>> Thing().where(1)
                        ('pkg.sub.deep', 2)
                        """
                        return __name__, n + OFFSET

                def where(n):
                    """
                    >>> import pkg
                    >>> pkg.where(1)
                    2
                    """
                    return n + OFFSET
            ''',
            "pyproject.toml": "",
        }
    )
    path = folder / "src/pkg/sub/deep.py"
    for qualname in ("Thing.where", "where"):
        judge = judge_of(path, qualname)
        assert judge.judge(path.read_text()).passed
        changed = judge.judge(path.read_text().replace("n + OFFSET", "n - OFFSET"))
        assert changed.judgement is Judgement.FAILED, qualname
    assert "n + OFFSET" in path.read_text()


@pytest.mark.parametrize(
    ("module", "qualname"),
    [
        ("collections", "Counter.most_common"),  # already loaded when the runner starts
        ("heapq", "merge"),
        ("statistics", "fmean"),
        ("difflib", "get_close_matches"),
        ("fractions", "Fraction.limit_denominator"),
    ],
)
def test_the_standard_library_is_right_and_a_forced_failure_is_seen(
    module: str, qualname: str, bare_python: Path
) -> None:
    origin = importlib.import_module(module).__file__
    assert origin is not None
    document = Document.read(Path(origin))
    function = find_function(document, qualname)
    setting = Setting(best_sandbox(), bare_python, Limits(seconds=30, output_bytes=1 << 20))
    judge = doctests.find(document, function, setting)
    if judge is None:
        pytest.skip(f"this Python has no examples for {qualname}")
    assert judge.judge(document.text).passed
    data = document.data
    forced = data[: function.body] + b"raise RuntimeError('forced')" + data[function.end :]
    verdict = judge.judge(forced.decode())
    assert verdict.judgement is Judgement.FAILED
    assert "forced" in verdict.evidence.message


def test_functions_without_expectations_have_no_judge() -> None:
    for docstring in ("", '"""No examples."""', '""">>> f()\n    """', '""">>>f()\n    1"""'):
        document = Document(f"def f():\n    {docstring}\n    return 1\n")
        function = find_function(document, "f")
        python = Path(sys.executable)
        assert find_judge(document, function, Setting(best_sandbox(), python), fallback=False) is None
    broken = Document('def f():\n    """\n    >>> f()\n    1\n    """\n    return 1\n\ndef g(:\n')
    assert (
        find_judge(broken, find_function(broken, "f"), Setting(best_sandbox(), interpreter_for(broken.path)))
        is None
    )


def test_the_last_definition_and_windows_line_ends(judge_of: JudgeOf, tmp_path: Path) -> None:
    path = tmp_path / "twice.py"
    path.write_bytes(
        b'def f():\r\n    """\r\n    >>> f()\r\n    1\r\n    """\r\n    return 1\r\n\r\n'
        b'def f():\r\n    """\r\n    >>> f()\r\n    2\r\n    """\r\n    return 2\r\n'
    )
    judge = judge_of(path, "f")
    assert judge.judge(path.read_bytes().decode()).passed


LABEL = """
def label(x):
    '''
    >>> label(3)
    'object 3 at ...'
    '''
    if x:
        return f"object {x} at {id(x):#x}"
    return ""
"""
THIRD = """
def third(x):
    '''
    >>> third(1)
    0.333
    '''
    if x:
        return x / 3
    return 0
"""
TOTAL = """
def total(xs):
    '''
    >>> total(m.sqrt(x) for x in (4, 9))
    5.0
    '''
    result = 0
    for x in xs:
        result += x
    return result
"""
INI = "addopts = --doctest-modules\ndoctest_optionflags = ELLIPSIS\n"
NAMES = """
import math, pytest

@pytest.fixture(autouse=True)
def names(doctest_namespace):
    doctest_namespace["m"] = math
"""
OWN_OPTION = """
import doctest

ROUGH, Checker = doctest.register_optionflag("ROUGH"), doctest.OutputChecker

class RoughChecker(Checker):
    def check_output(self, want, got, flags):
        return Checker.check_output(self, want[:4], got[:4], flags)

doctest.OutputChecker = RoughChecker
"""
WRONG = {"label": ("object {x}", "thing {x}"), "third": ("/ 3", "/ 4"), "total": ("result = 0", "result = 1")}


@pytest.mark.parametrize(
    "files",
    [
        {"pytest.ini": "[pytest]\n" + INI, "code.py": LABEL},
        {"tox.ini": "[pytest]\n" + INI, "code.py": LABEL},
        {"setup.cfg": "[tool:pytest]\n" + INI, "src/pkg/__init__.py": "", "src/pkg/code.py": LABEL},
        {
            "pyproject.toml": "[tool.pytest.ini_options]\ndoctest_optionflags = ['ELLIPSIS', 'NUMBER']\n",
            "code.py": LABEL,
        },
        {"pytest.ini": "[pytest]\naddopts = -o doctest_optionflags=ELLIPSIS\n", "code.py": LABEL},
        {
            ".git/HEAD": "",
            "pytest.ini": "[pytest]\n" + INI,
            "packages/a/pyproject.toml": "[project]\nname = 'a'\n",
            "packages/a/code.py": LABEL,
        },
        {"pytest.ini": "[pytest]\n" + INI.replace("ELLIPSIS", "NUMBER"), "code.py": THIRD},
        {"pytest.ini": "[pytest]\n" + INI, "code.py": THIRD.replace("(1)", "(1)  # doctest: +NUMBER")},
        {"conftest.py": OWN_OPTION, "code.py": THIRD.replace("(1)", "(1)  # doctest: +ROUGH")},
        {"conftest.py": NAMES, "code.py": TOTAL},
        {"conftest.py": NAMES, "setup.py": "", "pkg/__init__.py": "", "pkg/code.py": TOTAL},
        {"setup.py": "", "pkg/__init__.py": "", "pkg/conftest.py": NAMES, "pkg/code.py": TOTAL},
    ],
)
def test_the_settings_of_the_project_apply_to_its_examples(
    project: Project, files: Mapping[str, str]
) -> None:
    folder = project(files)
    path = next(folder / name for name in files if name.endswith("code.py"))
    text = path.read_text()
    name = text.partition("def ")[2].partition("(")[0]
    setting = Setting(best_sandbox(), Path(sys.executable), Limits(seconds=30, output_bytes=1 << 20))
    verdict = judge_by_itself(text, path, setting, function=name)
    assert verdict.passed, verdict
    assert (verdict.evidence.attribution, verdict.evidence.tests) == ("doctest", 1)
    assert "pytest ran the examples" in verdict.evidence.message
    wrong = text.replace(*WRONG[name])
    assert wrong != text
    assert judge_by_itself(wrong, path, setting, function=name).judgement is Judgement.FAILED
    document = Document.read(path)
    judge = find_judge(
        document,
        find_function(document, name),
        Setting(best_sandbox(), interpreter_for(document.path), vetted=True),
    )
    assert judge is not None
    assert judge.judge(text).passed
    assert judge.judge(wrong).judgement is Judgement.FAILED


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"pytest.ini": "[pytest]\ndoctest_optionflags = FLOAT_CMP\n", "code.py": THIRD}, "FLOAT_CMP"),
        (
            {"pytest.ini": "[pytest]\n" + INI, "code.py": THIRD.replace("(1)", "(1)  # doctest: +FLOAT_CMP")},
            "FLOAT_CMP",
        ),
        ({"conftest.py": NAMES + "import nowhere", "code.py": TOTAL}, "No module named 'nowhere'"),
        (
            {
                ".git/HEAD": "",
                "conftest.py": NAMES,
                "packages/a/pyproject.toml": "",
                "packages/a/code.py": TOTAL,
            },
            "conftest.py is outside of the project",
        ),
    ],
)
def test_settings_that_cannot_be_used_are_no_failure(
    project: Project, files: Mapping[str, str], reason: str
) -> None:
    folder = project(files)
    path = next(folder / name for name in files if name.endswith("code.py"))
    setting = Setting(best_sandbox(), Path(sys.executable), Limits(seconds=30, output_bytes=1 << 20))
    verdict = judge_by_itself(path.read_text(), path, setting)
    assert verdict.judgement is Judgement.REFUSED, verdict
    assert reason in verdict.evidence.message


def test_settings_of_pytest_need_pytest(project: Project, bare_python: Path) -> None:
    path = project({"pytest.ini": "[pytest]\n" + INI, "code.py": LABEL}) / "code.py"
    setting = Setting(best_sandbox(), bare_python, Limits(seconds=30, output_bytes=1 << 20))
    verdict = judge_by_itself(LABEL, path, setting)
    assert verdict.judgement is Judgement.REFUSED, verdict
    assert "it needs pytest, which this interpreter does not have" in verdict.evidence.message


def test_examples_in_a_file_of_tests_are_not_judged_without_their_settings(project: Project) -> None:
    tests = (
        "from code_ import label\n\ndef test_it():\n    '''\n    >>> label(3)\n    'object ...'\n    '''\n"
    )
    folder = project({"pytest.ini": "[pytest]\n" + INI, "code_.py": LABEL, "test_code.py": tests})
    setting = Setting(best_sandbox(), Path(sys.executable), Limits(seconds=30, output_bytes=1 << 20))
    verdict = FileOfTestsJudge(folder / "code_.py", folder / "test_code.py", setting).judge(LABEL)
    assert verdict.judgement is Judgement.REFUSED, verdict
    assert "settings for examples do not apply" in verdict.evidence.message
