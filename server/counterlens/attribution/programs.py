"""One verdict for any program: by a file of tests, by another program, or by tests found beside it."""

from __future__ import annotations

import ast
import doctest
from dataclasses import replace
from pathlib import Path
from threading import Event

from counterlens.attribution.base import Evidence, Judgement, Setting, Strength, Verdict
from counterlens.attribution.java.differential.target import is_private
from counterlens.attribution.layout import layout_of
from counterlens.attribution.reading import read_program
from counterlens.attribution.registry import find_judge
from counterlens.attribution.separation import why_inseparable
from counterlens.attribution.test_run import Apartness, TestRun, brief
from counterlens.attribution.unittests import ID as TESTS
from counterlens.attribution.unittests import read_cases
from counterlens.attribution.ways import TESTS_BY_RUNNING, behaviour_of, ways_of
from counterlens.errors import SourceError
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions
from counterlens.syntax.languages import language_of
from counterlens.syntax.python_ast import parse_module

_Definition = ast.FunctionDef | ast.AsyncFunctionDef


def program_language(path: Path) -> str:
    """The language of a program by the name of its file; in doubt it is Python."""
    try:
        return language_of(path)
    except SourceError:
        return "python"


def judge_by_tests(
    program: str,
    path: Path,
    tests: Path,
    setting: Setting,
    *,
    function: str | None = None,
    apartness: Apartness = Apartness.AUTO,
    cancel: Event | None = None,
) -> Verdict:
    """Run a file of tests against a program.

    The tests import the program by its module's name, or use its names directly. They are plain asserts, a
    function `check(candidate)`, cases of pytest or unittest, examples in docstrings, or any mixture of these.

    Args:
        program: Its text.
        path: Its file, which says under which name it is imported.
        tests: The file of tests.
        setting: Its sandbox and interpreter.
        function: The argument of `check`; by default the last function that the program defines.
        apartness: Whether the program is to be in a process of its own.
        cancel: Set it to give up.

    Raises:
        SourceError: the tests cannot be read, or are no Python.
        SandboxError, Cancelled: as `Sandbox.run`.
    """
    text = read_program(tests)
    if isinstance(text, Verdict):
        raise SourceError(f"{tests}: {text.evidence.message}")
    try:
        tree = parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SourceError(f"{tests} is no Python: {error}", "Give the tests as a Python file") from None
    if not _can_fail(tree):
        reason = f"{tests.name} has no assertion and no test case: nothing in it could fail"
        return Verdict(Judgement.REFUSED, Evidence(TESTS, 0, None, reason))
    place, at = layout_of(path, program), layout_of(tests, text)
    cases, imports = _cases_in(tree), _imports(tree, place.module)
    target = function or _last_function(program) or ""
    script = {"source": text, "path": str(at.path), "target": target}
    task: dict[str, object] = {"script": script}
    if cases and (imports or _needs_pytest(tree)):
        file = {"path": str(at.path), "module": at.module, "root": str(at.root), "cases": cases}
        task = {"files": [{**file, "lent": not imports}]}
        if _has_examples(tree):
            task["script"] = {**script, "examples": True}
    test_run = TestRun(
        TESTS,
        setting,
        place,
        task,
        folder=place.project,
        apartness=apartness,
        inseparable=why_inseparable(tree, place.module),
        readable=at.readable or (tests,),
    )
    return test_run.run(program, read_cases, cancel)


def judge_against(
    program: str,
    original: Path,
    setting: Setting,
    *,
    function: str | None = None,
    cancel: Event | None = None,
) -> Verdict:
    """Compare a program with another one by what they do, function by function.

    Args:
        program: Its text.
        original: The other one, which is right.
        setting: Their sandbox and interpreter.
        function: Which function; by default every one that both define at their top level.
        cancel: Set it to give up.

    Raises:
        SourceError: the original cannot be read, or does not define the function.
        SandboxError, Cancelled: as `Sandbox.run`.
    """
    document = Document.read(original)
    known = functions(document)
    compared = [each for each in known if each.qualname == function] if function else _entries(document)
    if function and not compared:
        names = ", ".join(each.qualname for each in _entries(document))
        raise SourceError(f"{original} does not define {function}", f"It defines: {names or 'none'}")
    if not compared:
        raise SourceError(f"{original} defines no function", "Give a file with the functions to compare")
    passed: list[Verdict] = []
    reasons: list[str] = []
    for each in compared:
        judge, reason = behaviour_of(document, each, replace(setting, cancel=cancel))
        if judge is None:
            reasons.append(f"{each.qualname}: {reason}")
            continue
        verdict = judge.judge(program, cancel=cancel)
        if not verdict.passed:
            return verdict
        passed.append(verdict)
    if not passed:
        return Verdict(Judgement.REFUSED, Evidence("differential", 0, None, "\n".join(reasons)))
    return _joined(passed, reasons)


def _entries(document: Document) -> list[Function]:
    """The functions that other files may call: those at the top level, or methods that are not private."""
    if document.language == "python":
        return [each for each in functions(document) if "." not in each.qualname]
    return [each for each in functions(document) if not is_private(document, each)]


def judge_by_itself(
    program: str, path: Path, setting: Setting, *, function: str | None = None, cancel: Event | None = None
) -> Verdict:
    """Judge a program by its own docstring examples, and by the tests that lie beside it.

    If none mentions it, the whole suite runs once, to find the tests that reach it.
    """
    document = Document(program, path, program_language(path))
    names = [each for each in functions(document) if function in {None, each.qualname}]
    if function and not names:
        raise SourceError(f"{path} does not define {function}")
    verdicts = []
    for each in names:
        judge = find_judge(
            document,
            each,
            setting.sandbox,
            python=setting.python,
            limits=setting.limits,
            fallback=False,
            vetted=False,
            excluded=setting.excluded,
        )
        if judge is not None:
            verdicts.append(judge.judge(program, cancel=cancel))
            if not verdicts[-1].passed:
                return verdicts[-1]
    by_running = ways_of(document).fallbacks.get(TESTS_BY_RUNNING)
    for each in names if not verdicts and by_running is not None else ():
        judge = by_running(document, each, setting) if by_running is not None else None
        if judge is not None:
            verdicts.append(judge.judge(program, cancel=cancel))
            if not verdicts[-1].passed:
                return verdicts[-1]
    if verdicts:
        return _joined(verdicts, [])
    reason = "nothing can judge it: it has no tests and no examples; give --tests or --against"
    return Verdict(Judgement.REFUSED, Evidence("none", 0, None, reason))


def _joined(passed: list[Verdict], left_out: list[str]) -> Verdict:
    """All of them as one, as strong as the weakest."""
    order = list(Strength)
    weakest = max(passed, key=lambda each: order.index(each.evidence.strength or Strength.WEAK)).evidence
    notes = [each.evidence.message for each in passed if each.evidence.message] + left_out
    evidence = replace(
        weakest, tests=sum(each.evidence.tests for each in passed), message=brief("\n".join(notes))
    )
    return Verdict(Judgement.PASSED, evidence, sum(each.seconds for each in passed))


def _cases_in(tree: ast.Module) -> list[list[str]]:
    """Class, or nothing, and function of each test case."""
    found = []
    for node in tree.body:
        if isinstance(node, _Definition) and node.name.startswith("test"):
            found.append(["", node.name])
        elif isinstance(node, ast.ClassDef):
            methods = [child.name for child in node.body if isinstance(child, _Definition)]
            found += [[node.name, name] for name in methods if name.startswith("test")]
    return found


def _imports(tree: ast.Module, module: str) -> bool:
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    sources = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return module in names | sources or any(module.endswith("." + source) for source in sources if source)


def _needs_pytest(tree: ast.Module) -> bool:
    """Whether a test takes fixtures or parameters."""
    tests = [
        node for node in ast.walk(tree) if isinstance(node, _Definition) and node.name.startswith("test")
    ]
    return any(
        argument.arg not in {"self", "cls"}
        for test in tests
        for argument in (*test.args.args, *test.args.kwonlyargs)
    )


def _has_examples(tree: ast.Module) -> bool:
    """Whether docstrings have examples that expect something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | _Definition):
            text = ast.get_docstring(node, clean=False) or ""
            try:
                if any(example.want for example in doctest.DocTestParser().get_examples(text)):
                    return True
            except ValueError:  # malformed examples, which doctest itself would refuse
                continue
    return False


def _can_fail(tree: ast.Module) -> bool:
    """Whether something is asserted in a test case, an example, or code that runs as the file is loaded."""
    if _cases_in(tree) or _has_examples(tree):
        return True
    definitions = {node.name: node for node in tree.body if isinstance(node, _Definition | ast.ClassDef)}
    todo: list[ast.AST] = [node for node in tree.body if node not in definitions.values()]
    todo += [node for name, node in definitions.items() if name == "check"]
    reached: set[str] = set()
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Assert | ast.Raise):
            return True
        if isinstance(node, ast.Attribute) and node.attr.lower().startswith("assert"):
            return True
        name = node.id if isinstance(node, ast.Name) else None
        if name in definitions and name not in reached:
            reached.add(name)
            todo.append(definitions[name])
        todo += node.orelse if _is_for_scripts(node) else ast.iter_child_nodes(node)  # type: ignore[attr-defined]
    return False


def _is_for_scripts(node: ast.AST) -> bool:
    """Whether it is an `if __name__ == "__main__"`, which does not hold here."""
    return isinstance(node, ast.If) and any(
        isinstance(each, ast.Name) and each.id == "__name__" for each in ast.walk(node.test)
    )


def _last_function(program: str) -> str | None:
    try:
        tree = parse_module(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return next((node.name for node in reversed(tree.body) if isinstance(node, _Definition)), None)
