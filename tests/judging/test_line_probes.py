"""Probes before statements: they tell what a tracer tells, and change nothing else of the code."""

from __future__ import annotations

import ast
import difflib
import fractions
import importlib.util
import inspect
import sys
import sysconfig
import textwrap
import types
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest

from counterlens.python.judging.sandboxed.recorder.line_probes import LineProbes

LIBRARY = Path(sysconfig.get_path("stdlib"))
USES: list[tuple[types.ModuleType, Callable[[Any], object]]] = [
    (textwrap, lambda module: module.fill("some words, and more of them\tthan fit\n\n on a line", 11)),
    (textwrap, lambda module: module.dedent("  a\n\n    b\n   c\n")),
    (difflib, lambda module: list(module.ndiff(["one\n", "two\n"], ["ore\n", "tree\n", "emu\n"]))),
    (difflib, lambda module: module.get_close_matches("appel", ["ape", "apple", "peach", "puppy"])),
    (fractions, lambda module: module.Fraction("3.5") ** 2 + module.Fraction(1, 3).limit_denominator(2)),
]


@pytest.mark.parametrize(("module", "use"), USES)
def test_as_a_tracer_tells(module: types.ModuleType, use: Callable[[Any], object]) -> None:
    path = str(module.__file__)
    probes = LineProbes(str(Path(path).parent), [])
    code = probes.compiled(Path(path).read_bytes(), path)
    assert code is not None
    probed = types.ModuleType(module.__name__)
    probed.__file__ = path
    exec(code, vars(probed))  # noqa: S102 - the standard library
    probes.clear()
    use(probed)
    found = {line for _, line in probes.run_since()}
    plain = types.ModuleType(module.__name__)
    exec(compile(Path(path).read_bytes(), path, "exec", dont_inherit=True), vars(plain))  # noqa: S102
    assert found == traced(path, lambda: use(plain)) & set(statements(path))
    assert len(found) >= 10
    assert set(vars(probed)) - {"__file__"} == set(vars(plain))


def traced(path: str, run: Callable[[], object]) -> set[int]:
    lines: set[int] = set()

    def tracer(frame: Any, event: str, _argument: object) -> Any:
        if frame.f_code.co_filename != path:
            return None
        if event == "line":
            lines.add(frame.f_lineno)
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        run()
    finally:
        sys.settrace(before)
    return lines


def statements(path: str) -> Iterator[int]:
    for node in ast.walk(ast.parse(Path(path).read_bytes())):
        if isinstance(node, ast.stmt):
            yield node.lineno


def test_nothing_else_of_the_code_changes() -> None:
    probes = LineProbes(str(LIBRARY), [])
    checked = 0
    for path in sorted(LIBRARY.glob("*.py"))[::6]:
        probed, plain = (
            probes.compiled(path.read_bytes(), str(path)),
            compile(path.read_bytes(), path, "exec", dont_inherit=True),
        )
        assert probed is not None
        for one, other in zip(codes(probed), codes(plain), strict=True):
            assert (one.co_name, one.co_varnames, one.co_names) == (
                other.co_name, other.co_varnames, other.co_names,
            )  # fmt: skip
            assert (one.co_firstlineno, one.co_flags, docstring(one)) == (
                other.co_firstlineno, other.co_flags, docstring(other),
            )  # fmt: skip
            checked += 1
    assert checked > 1000


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from codes(one)


def docstring(code: types.CodeType) -> str | None:
    """Of a function; the first constant of other code may be anything."""
    is_function = code.co_flags & inspect.CO_OPTIMIZED and not code.co_freevars
    return types.FunctionType(code, {}).__doc__ if is_function else None


def test_only_modules_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SourceFileLoader, "get_code", SourceFileLoader.get_code)
    text = '"""Doc."""\nfrom __future__ import annotations\n\n\ndef one():\n    """Only this."""\n\n\none()\n'
    for name in ("mine.py", "test_it.py", "conftest.py", "site-packages/theirs.py", "broken.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("def broken(:\n" if name == "broken.py" else text)
    probes = LineProbes(str(tmp_path), [str(tmp_path / "test_it.py")])
    probes.install()
    for name in ("mine", "test_it", "conftest", "site-packages/theirs"):
        load(tmp_path / f"{name}.py")
    assert list(probes.run_since()) == [(str(tmp_path / "mine.py"), line) for line in (5, 9, 6)]
    with pytest.raises(SyntaxError):
        load(tmp_path / "broken.py")


def load(path: Path) -> None:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
