"""The standard library: every function is analysed; pairs of names differ from beniget's for a reason.

`benchmarks/dependence.py --errors` analyses all of it, `benchmarks/dependence_differential.py` compares more.
"""

from __future__ import annotations

import ast
import heapq
import inspect
import json
import platform
import posixpath
import shutil
import subprocess
import sys
import timeit
import zipimport
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterlens.dependence import MODULE, dependences
from counterlens.python.dependence.program import Program
from counterlens.text import decode
from tests.standard_library import library_files

ROOT = Path(__file__).parents[3]
FILES = library_files({"site-packages", "lib2to3"})
SAMPLE = [path for path in FILES[3::60] if "bad" not in path.name]
LEAVE = (ast.Return, ast.Raise, ast.Continue, ast.Break)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.stem)
def test_every_function_is_analysed(path: Path) -> None:
    source = decode(path.read_bytes()).text
    program = Program(source)
    lines = [node.lineno for node in ast.walk(ast.parse(source)) if isinstance(node, FUNCTIONS)]
    found = [one for one in program.all() if one.function != MODULE]
    assert sorted(one.statements[0].line for one in found) == sorted(lines)
    for one in found:
        ids = set(range(len(one.statements)))
        assert {edge.source for edge in one.edges} | {edge.target for edge in one.edges} <= ids
        assert all(statement.text for statement in one.statements)
        assert {statement.id for statement in one.statements} == ids


def test_what_follows_an_endless_loop_in_a_try_depends_on_neither() -> None:
    merge = dependences(inspect.getsource(heapq.merge), "merge")
    text = {statement.line: statement.text for statement in merge.statements}
    deciders: dict[str, list[set[str]]] = {}
    for line, said in text.items():
        deciders.setdefault(said, []).append({text[source] for source, to in merge.control if to == line})
    key, loop = "if key is None:", "while len(h) > 1:"
    assert deciders["if h:"] == [{key}, {key}]
    assert deciders[loop] == [{key, loop}, {key, loop}]
    assert deciders["_heappop(h)"] == [{"except StopIteration:"}] * 2
    assert deciders["_heapreplace(h, s)"] == [{"while True:"}] * 2


def test_clauses_that_leave_decide_about_nothing_behind_the_try_and_else_is_decided() -> None:
    """What stands behind a `try` whose every clause leaves, and `else` bodies, in the standard library."""
    behind = others = 0
    for module in (platform, posixpath, shutil, timeit, zipimport):  # which have many of them
        path = Path(module.__file__ or "")
        source = decode(path.read_bytes()).text
        found = {one.statements[0].line: one for one in Program(source).all() if one.function != MODULE}
        for function in (node for node in ast.walk(ast.parse(source)) if isinstance(node, FUNCTIONS)):
            deciders: dict[int, set[int]] = {}
            for decides, line in found[function.lineno].control:
                deciders.setdefault(line, set()).add(decides)
            for body in _bodies(function):
                for at, one in enumerate(body):
                    if not (isinstance(one, ast.Try) and one.handlers):
                        continue
                    if all(isinstance(clause.body[-1], LEAVE) for clause in one.handlers):
                        clauses = {clause.lineno for clause in one.handlers}
                        behind += len(body) - at - 1
                        for after in body[at + 1 :]:
                            assert not deciders.get(after.lineno, set()) & clauses, (path, after.lineno)
                    if one.orelse:
                        others += 1
                        assert deciders.get(one.orelse[0].lineno), (path, one.orelse[0].lineno)
    assert behind > 100
    assert others > 10


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements in a function, those of nested functions and classes aside."""
    for name in ("body", "orelse", "finalbody"):
        if body := [one for one in getattr(node, name, ()) if isinstance(one, ast.stmt)]:
            yield body
            for one in body:
                if not isinstance(one, (*FUNCTIONS, ast.ClassDef)):
                    yield from _bodies(one)
    for clause in getattr(node, "handlers", ()):
        yield from _bodies(clause)


def test_differences_from_beniget_are_explained() -> None:
    script = ROOT / "benchmarks" / "dependence_differential.py"
    command = [sys.executable, str(script), "--every", "25"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["both"] > 20 * sum(found["differences"].values())


def test_the_benchmark_runs_and_leaves_nothing_out() -> None:
    # How fast is for the benchmark to say: a busy machine is no failure.
    script = ROOT / "benchmarks" / "dependence.py"
    command = [sys.executable, str(script), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["files"], found["left_out"]) == (20, 0), done.stderr[-2000:]
    assert found["functions"] > 200
    assert set(found["ratios"]) == {"over_beniget", "growth"}
