"""What an author can change in tests: an assertion that an input suggests, and weak assertions.

Weak ones accept nearly any result of a function. They are recognised by their shape; nothing is run. A probe
is refused where the tests pass although `return 42` or nothing replaces the code. Most such tests state only
that a result is true, or not even that; a reader can be told so before any program runs. Tests of any other
shape say nothing here.
"""

from __future__ import annotations

import ast
import builtins
import doctest
import re
from collections.abc import Container, Iterator
from functools import lru_cache
from itertools import chain, count
from pathlib import Path
from threading import Event

from counterlens.judging.base import Judgement, Setting, WeakAssertion
from counterlens.judging.comparison import Form, same
from counterlens.judging.pace import pace
from counterlens.python.judging.differential import DifferentialJudge, find_behaviour
from counterlens.python.judging.differential.inputs import Built, write
from counterlens.python.judging.differential.judge import Counterexample
from counterlens.python.judging.differential.observed import find_node
from counterlens.python.judging.discovery import MOST_PARSED, Imports, files_with_tests
from counterlens.python.judging.layout import Layout, layout_of
from counterlens.python.judging.sandboxed import plain
from counterlens.python.judging.test_run import TestRun
from counterlens.python.judging.unittests import ID as TESTS
from counterlens.python.judging.unittests import read_cases
from counterlens.python.syntax.parsing import parse_module
from counterlens.regular_file import read_bytes
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

_LARGEST = 1 << 18  # bytes of a test file that is read while somebody types
_LONGEST_ASSERTION = 60  # characters of a shown assertion
_TRUE, _FALSE = frozenset({"assertTrue", "assert_", "failUnless"}), frozenset({"assertFalse", "failIf"})
_QUESTIONS = ("is_", "has_", "can_", "should_", "needs_", "does_", "was_", "are_")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef
_QUOTES = {'"' * 3, "'" * 3}
_LONGEST = 400
"""Maximum characters of a call or a result: nobody pastes a longer one."""
_MAKERS = {"l": list, "t": tuple, "s": set, "z": frozenset}
_FROM = {"Decimal": "decimal", "Fraction": "fractions", "UUID": "uuid"} | dict.fromkeys(
    ("PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath"), "pathlib"
)
_WHOLE = {"contextlib", "datetime", "io"}


def weak_assertion(document: Document, function: Function) -> WeakAssertion | None:
    """The assertion for which a probe will be refused; None if the tests have another shape."""
    try:
        node, _ = find_node(parse_module(document.text), function.qualname)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if node is None or document.path is None or _has_example(node):
        return None
    true: list[str] = []
    false: list[str] = []
    unseen: list[str] = []
    place = layout_of(document.path, document.text)
    holder = function.qualname.partition(".")[0]
    for file in files_with_tests(place)[:MOST_PARSED]:
        tree = _read(file)
        if tree is None:
            continue
        imports = Imports(tree, holder, place.module)
        if not imports.direct and not imports.modules:
            continue
        for use in _uses(tree, function.name):
            kept = {_Use.TRUE: true, _Use.FALSE: false, _Use.UNSEEN: unseen}.get(use.kind)
            if kept is None:
                return None
            kept.append(use.text)
    decides = _decides(node, function.name)
    if true and not false:
        return WeakAssertion(true[0], "42", "is True" if decides else "")
    if false and not true:
        return WeakAssertion(false[0], "None", "is False" if decides else "")
    return WeakAssertion(unseen[0], "None", "") if unseen and not true else None


class _Use:
    """A use of a function in a test."""

    TRUE, FALSE, UNSEEN, OTHER = "true", "false", "unseen", "other"

    def __init__(self, kind: str, node: ast.AST | None = None) -> None:
        self.kind = kind
        self.text = " ".join(ast.unparse(node).split()) if node is not None else ""
        if len(self.text) > _LONGEST_ASSERTION:
            self.text = self.text[: _LONGEST_ASSERTION - 1] + "…"


def _uses(tree: ast.Module, name: str) -> Iterator[_Use]:
    """The uses of a name in a file, apart from its imports."""
    for node, above in _with_parents(tree, ()):
        named = isinstance(node, ast.Name) and node.id == name
        if not named and not (isinstance(node, ast.Attribute) and node.attr == name):
            continue
        call = above[-1] if above else None
        if not (isinstance(call, ast.Call) and call.func is node):
            yield _Use(_Use.OTHER)
            continue
        around = [inner.value if isinstance(inner, ast.Await) else inner for inner in above[:-1][::-1]]
        yield _use_of(call, around, guarded=any(isinstance(inner, ast.With | ast.Try) for inner in around))


def _use_of(call: ast.Call, around: list[ast.AST], *, guarded: bool) -> _Use:
    parent = around[0] if around else None
    if isinstance(parent, ast.Assert) and parent.test is call:
        return _Use(_Use.TRUE, ast.Assert(call))
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
        outer = around[1] if len(around) > 1 else None
        if isinstance(outer, ast.Assert) and outer.test is parent:
            return _Use(_Use.FALSE, ast.Assert(parent))
    if isinstance(parent, ast.Call) and parent.args[:1] == [call]:
        method = getattr(parent.func, "attr", "")
        if method in _TRUE | _FALSE:
            return _Use(_Use.TRUE if method in _TRUE else _Use.FALSE, parent)
    if isinstance(parent, ast.Expr) and not guarded:
        return _Use(_Use.UNSEEN, call)
    return _Use(_Use.OTHER)


def _with_parents(node: ast.AST, above: tuple[ast.AST, ...]) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    for child in ast.iter_child_nodes(node):
        yield child, (*above, node)
        yield from _with_parents(child, (*above, node))


def _has_example(node: _Definition) -> bool:
    """Whether a docstring has an example with a result."""
    try:
        return any(
            example.want for example in doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
        )
    except ValueError:
        return True  # nobody knows


def _decides(node: _Definition, name: str) -> bool:
    """Whether a function returns True or False, as far as its text tells."""
    if isinstance(node.returns, ast.Name):
        return node.returns.id == "bool"
    returned = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return) and inner.value]
    return name.startswith(_QUESTIONS) or (
        bool(returned)
        and all(
            isinstance(value, ast.Compare)
            or (isinstance(value, ast.Constant) and isinstance(value.value, bool))
            or (isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not))
            for value in returned
        )
    )


def _read(file: Path) -> ast.Module | None:
    try:
        state = file.stat()
    except OSError:
        return None
    return _parsed(file, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=256)
def _parsed(file: Path, _changed: int, _size: int) -> ast.Module | None:
    try:
        return parse_module(read_bytes(file, _LARGEST))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class PythonTestProposer:
    """Proposes tests of a Python function; see `TestProposer`.

    Args:
        document: The original file.
        setting: Its sandbox and interpreter.
        behaviour: Its judge by differential execution.
    """

    def __init__(
        self, document: Document, function: Function, setting: Setting, behaviour: DifferentialJudge
    ) -> None:
        self._document, self._function, self._setting = document, function, setting
        self.first_counterexample = behaviour.first_counterexample
        self.smallest_counterexample = behaviour.smallest_counterexample
        self._target = behaviour.original.recorder.target

    def written(self, example: Counterexample) -> str:
        """The call of a counterexample, as text."""
        return example.call.written(self._target)

    def proposed_test(
        self,
        example: Counterexample,
        program: str,
        line: int,
        names: set[str],
        *,
        cancel: Event | None = None,
    ) -> str | None:
        """The text of a file with a test that passes on the original and fails on a mutant."""
        if example.mutant.limit == "time":
            return None  # the test would not end there
        document = self._document
        place = layout_of(document.path or Path("program.py"), document.text)
        name = name_of_test(self._function.qualname, line, names | _names_of_tests(place))
        text = propose(place.module, self._target, name, example)
        if text is None:
            return None
        script = {"source": f"{text}\n{name}()\n", "path": str(place.project / f"{name}.py"), "check": False}
        run = TestRun(TESTS, self._setting, place, {"script": script}, place.project, document.text)
        original = run.run(document.text, read_cases, cancel)
        if not original.passed:
            return None
        with pace(original):
            failed = run.run(program, read_cases, cancel).judgement is Judgement.FAILED  # and has ended
        if not failed:
            return None
        names.add(name)
        return text


def find_proposer(document: Document, function: Function, setting: Setting) -> PythonTestProposer | str:
    """The proposer of tests of a function, or the reason why there is none."""
    behaviour = find_behaviour(document, function, setting, ())
    if isinstance(behaviour, str):
        return behaviour
    return PythonTestProposer(document, function, setting, behaviour)


class UnwritableError(Exception):
    """A value cannot be written as an expression that equals it."""


def propose(module: str, target: str, name: str, example: Counterexample) -> str | None:
    """A test function that fails on the mutant and, as far as is known, passes on the original.

    Args:
        module: The dotted name of the module to import from.
        target: The callee, as an expression over the names of its module.
        example: The input, and both results.

    Returns:
        The text of a file with the test; None if no assertion can be written.
    """
    call = example.call.written(target)
    try:
        body = _assertion(call, target, example)
    except (UnwritableError, ValueError, TypeError, KeyError, IndexError):
        return None
    if len(call) > _LONGEST or any(len(line) > 2 * _LONGEST for line in body):
        return None
    imports = _imports(module, "\n".join(body))
    lines = [*imports, "", "", f"def {name}():", *(f"    {line}" for line in body)]
    return "\n".join(lines) + "\n"


def name_of_test(qualname: str, line: int, taken: Container[str]) -> str:
    """The name of the test of a function for a mutant at a line, with a number if it is taken."""
    name = f"test_{re.sub(r'[^0-9a-zA-Z]+', '_', qualname).strip('_').lower()}_line_{line}"
    numbered = (f"{name}_{number}" for number in count(2))
    return next(each for each in chain([name], numbered) if each not in taken)


def _names_of_tests(place: Layout) -> set[str]:
    """The names of the functions in the project's test files: a pasted test must not replace another."""
    trees = filter(None, map(_read, files_with_tests(place)[:MOST_PARSED]))
    return {
        node.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _assertion(call: str, target: str, example: Counterexample) -> list[str]:
    """The statements of the test."""
    original, other = example.original, example.mutant
    if original.exception is not None:
        return [f"with pytest.raises({original.exception}):", f"    {call}"]
    if other.exception is not None or other.limit is not None or not same(original.result, other.result):
        return [_equal(call, original.result)]
    if original.output != other.output:
        printing = ["with contextlib.redirect_stdout(io.StringIO()) as output:", f"    {call}"]
        return [*printing, f"assert output.getvalue() == {original.output!r}"]
    return _changed_arguments(target, example)


def _equal(expression: str, form: Form) -> str:
    """An assertion that an expression has a value."""
    if form is None or isinstance(form, bool):
        return f"assert {expression} is {form}"
    if isinstance(form, list) and form[0] == "g":
        return f"assert list({expression}) == {_write(['l', *form[1:]])}"
    if isinstance(form, list) and form[0] == "o" and form[2] is None:
        fields = {name: _value(value) for name, value in form[3]}
        return f"assert vars({expression}) == {write(fields)}"
    return f"assert {expression} == {_write(form)}"


def _changed_arguments(target: str, example: Counterexample) -> list[str]:
    """Statements that check an argument after the call."""
    original, other = example.original, example.mutant
    if example.call.named:
        raise UnwritableError
    texts = [write(value) for value in example.call.positional]
    call = [f"arguments = [{', '.join(texts)}]", f"{target}(*arguments)"]
    for number, text in enumerate(texts):
        left = None if original.after is None else original.after[1][1 + number]
        if left is None:
            call.append(f"assert arguments[{number}] == {text}")
        elif other.after is None or not same(left, other.after[1][1 + number]):
            call.append(_equal(f"arguments[{number}]", left))
    return call


def _write(form: Form) -> str:
    return write(_value(form))


def _value(form: Form) -> object:
    """The value of a form, as `write` takes it."""
    if not isinstance(form, list) or form[0] in plain.DECODERS:
        value = plain.decode(form)
        if value != value or isinstance(value, slice):  # NaN equals nothing
            raise UnwritableError
        return value
    head, rest = form[0], form[1:]
    if head in _MAKERS:
        return _MAKERS[head](_value(item) for item in rest)
    if head == "d":
        return {_value(key): _value(item) for key, item in rest}
    if head == "e":
        return Built(f"{rest[0]}.{rest[1]}")
    if head == "o" and rest[1] is not None and not rest[2]:
        return _value(rest[1])  # of a class derived from a built-in one, which compares like it
    raise UnwritableError


def _imports(module: str, body: str) -> list[str]:
    """The imports of the names that statements use: groups of lines, as formatters write them."""
    used = {node.id for node in ast.walk(parse_module(body)) if isinstance(node, ast.Name)}
    names = {name for name in used if not hasattr(builtins, name)} - {"arguments", "output"}
    standard = [f"import {name}" for name in sorted(names & _WHOLE)]
    standard += [f"from {_FROM[name]} import {name}" for name in sorted(names & _FROM.keys())]
    own = sorted(names - _WHOLE - _FROM.keys() - {"pytest"})
    groups = [
        standard,
        ["import pytest"] if "pytest" in names else [],
        [f"from {module} import {', '.join(own)}"] if own else [],
    ]
    return "\n\n".join("\n".join(group) for group in groups if group).split("\n")


def added_example(
    document: Document, function: Function, call: str, value: str
) -> tuple[int, int, str] | None:
    """The edit that adds an interactive example at the end of a docstring; see `JudgedLanguage`."""
    try:
        node, _ = find_node(parse_module(document.text), function.qualname)
        shown = repr(ast.literal_eval(value)) == value and value != "None"  # prompts do not show None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    words = node.body[0].value if node is not None and isinstance(node.body[0], ast.Expr) else None
    if not shown or not isinstance(words, ast.Constant) or ast.get_docstring(node) is None:  # type: ignore[arg-type]
        return None
    lines = document.data.splitlines(keepends=True)
    start = sum(map(len, lines[: words.lineno - 1])) + words.col_offset
    end = sum(map(len, lines[: (words.end_lineno or words.lineno) - 1])) + (words.end_col_offset or 0)
    quotes = document.data[end - 3 : end].decode()
    margin = document.data[start - words.col_offset : start].decode()
    if quotes not in _QUOTES or margin.strip() or any(part in call + value for part in (quotes, "\\", "\n")):
        return None
    newline = "\r\n" if b"\r\n" in document.data else "\n"
    text = document.data[start : end - 3].decode().rstrip()
    paragraph = text.replace("\r\n", "\n").rpartition("\n\n")[2]
    gap = newline if paragraph.lstrip().startswith(">>>") else 2 * newline
    example = f"{gap}{margin}>>> {call}{newline}{margin}{value}{newline}{margin}"
    return start + len(text.encode()), end - 3, example
