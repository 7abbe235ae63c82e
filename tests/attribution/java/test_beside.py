"""Tests of Java that are found by the names of their files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from counterlens.attribution.base import LIMITS, Setting
from counterlens.attribution.java.beside import files_beside, find
from counterlens.attribution.java.judge import JavaTestsJudge
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

PROGRAM = "class Sum { static int of(int a, int b) { return a + b; } static int other() { return 1; } }\n"
MAIN = "class SumTest { public static void main(String[] a) { if (Sum.of(1, 2) != 3) throw new Error(); } }\n"


def judge_of(path: Path, name: str = "of", excluded: tuple[str, ...] = ()) -> JavaTestsJudge | None:
    document = Document.read(path)
    setting = Setting(best_sandbox(), Path(sys.executable), LIMITS, excluded=excluded)
    return find(document, find_function(document, name), setting)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "src" / "main" / "java" / "a"
    folder.mkdir(parents=True)
    path = folder / "Sum.java"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize("name", ["SumTest", "SumTests", "TestSum", "TestMain"])
def test_tests_in_the_same_folder_are_found(name: str, program: Path) -> None:
    assert judge_of(program) is None
    program.with_name(f"{name}.java").write_text(MAIN)
    judge = judge_of(program)
    assert judge is not None
    assert judge.judge(PROGRAM).passed
    assert not judge.judge(PROGRAM.replace("a + b", "a - b")).passed
    assert judge_of(program, "other") is None, "it is not named"
    assert judge_of(program, excluded=("*Test*",)) is None


def test_tests_in_the_folder_of_tests_are_found(program: Path, tmp_path: Path) -> None:
    there = tmp_path / "src" / "test" / "java" / "a"
    there.mkdir(parents=True)
    (there / "SumTest.java").write_text(MAIN)
    assert list(files_beside(program)) == [there / "SumTest.java"]
    assert judge_of(program) is not None


@pytest.mark.parametrize("text", ["class SumTest { void of() { } }", "import org.junit.Test;\n" + MAIN, "\0"])
def test_what_cannot_fail_or_be_run_is_no_test(text: str, program: Path) -> None:
    program.with_name("SumTest.java").write_text(text)
    assert judge_of(program) is None
