"""The published files themselves, where they are; `counterlens data check` runs all of them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from counterlens.datasets import Dataset, TestForm, open_dataset
from counterlens.datasets.checking import Finding, check
from counterlens.datasets.registry import VARIABLE, find

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the datasets are not in {DATA}")

# What ../shared/data's own documentation says of each file: format, version, records, licence.
FILES = {
    "humaneval/HumanEval.jsonl.gz": ("humaneval", "1.0 (2021)", 164, "MIT"),
    "humaneval-x/humaneval_java.jsonl.gz": ("humaneval-x", "Java (2023)", 164, "Apache-2.0"),
    "humaneval-x/humaneval_python.jsonl.gz": ("humaneval-x", "Python (2023)", 164, "Apache-2.0"),
    "humanevalpack/python/humanevalpack.jsonl": ("humanevalpack", "Python (2023)", 164, "MIT"),
    "humanevalpack/java/humanevalpack.jsonl": ("humanevalpack", "Java (2023)", 164, "MIT"),
    "humanevalplus/HumanEvalPlus-Mini.jsonl.gz": ("humanevalplus", "Mini", 164, "Apache-2.0"),
    "mbpp/mbpp.jsonl": ("mbpp", "full (2021)", 974, "CC-BY-4.0"),
    "cruxeval/cruxeval-first-400.jsonl": ("cruxeval", "the first 400 of 800", 400, "MIT"),
    "codenet/codenet-python.tar.gz": (
        "codenet",
        "CodeMind, Python (2024)",
        1939,
        "NCSA; the programs as in CodeNet",
    ),
    "codecontests/codecontests-graph-python.tar.gz": (
        "codecontests-folders",
        "300 graph problems",
        300,
        "CC-BY-4.0",
    ),
}
LABELLED = {  # functions without tests
    "core": ("core", "30 Python functions (2025)", 30, "Apache-2.0"),
    "core-java": ("core", "30 Java functions (2025)", 30, "Apache-2.0"),
}


@pytest.mark.parametrize("file", {**FILES, **LABELLED})
def test_a_published_file_is_recognised_and_counted(file: str) -> None:
    origin = open_dataset(DATA / file).provenance
    assert (origin.dataset, origin.version, origin.records, origin.licence) == {**FILES, **LABELLED}[file]
    assert len(origin.sha256) == 64


def test_every_dataset_of_a_folder_is_found() -> None:
    found = {dataset.path.relative_to(DATA).as_posix() for dataset in find(DATA)}
    assert found == {*FILES, *LABELLED}


@pytest.mark.parametrize("file", FILES)
def test_ids_are_unique_and_every_problem_has_tests(file: str) -> None:
    problems = list(open_dataset(DATA / file))
    assert len({problem.id for problem in problems}) == len(problems)
    assert all(problem.tests is not None for problem in problems)
    for problem in problems:
        if problem.prompt is not None:
            assert problem.source.startswith(problem.prompt)


@pytest.mark.parametrize("file", FILES)
def test_the_tested_function_is_in_the_program(file: str) -> None:
    for problem in open_dataset(DATA / file):
        if problem.tests is not None and problem.tests.form is not TestForm.STDIO:
            assert problem.function is not None
            assert problem.function.rpartition(".")[2] in problem.source


def test_every_reference_solution_parses_but_those_of_python_2() -> None:
    for file in FILES:
        found = check(open_dataset(DATA / file))
        unparsed = found.counts.get(Finding.DOES_NOT_PARSE, 0)
        assert unparsed == (88 if "codenet" in file else 0), file


@pytest.mark.parametrize("folder", ["humaneval", "mbpp", "humanevalpack/python", "cruxeval", "humanevalplus"])
def test_the_tests_of_a_sample_pass_with_the_reference_and_fail_with_the_bug(folder: str) -> None:
    (dataset,) = find(DATA / folder)
    for problem in islice(dataset, 0, None, 41 if dataset.id != "mbpp" else 200):
        assert problem.tests is not None
        assert _passes(problem.source, problem.tests.text), problem.id
        assert not _passes(f"def {problem.function}(*_): return object()\n", problem.tests.text), problem.id
        if problem.buggy is not None:
            assert not _passes(problem.buggy, problem.tests.text), problem.id


def test_a_folder_of_one_dataset_is_that_dataset() -> None:
    dataset = open_dataset(DATA / "humaneval")
    assert isinstance(dataset, Dataset)
    assert next(iter(dataset)).id == "HumanEval/0"


@pytest.mark.parametrize("name", ["humanevalpack", "humaneval-x"])
def test_of_the_published_languages_python_is_taken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(DATA))
    for spec in (name, str(DATA / name), f"{name}:{DATA / name}"):
        origin = open_dataset(spec).provenance
        assert (origin.version, origin.records) == ("Python (2023)", 164), spec


def _passes(program: str, tests: str) -> bool:
    """Reference and hand-made buggy solutions only, so not in the sandbox."""
    space: dict[str, object] = {"__name__": "solution"}
    try:
        exec(compile(program, "<program>", "exec"), space)  # noqa: S102
        exec(compile(tests, "<tests>", "exec"), space)  # noqa: S102
    except Exception:
        return False
    return True
