"""Published files, or samples of them; `counterlens data check` runs all of them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from counterlens.datasets import Dataset, TestForm, open_dataset
from counterlens.datasets.base import UNKNOWN
from counterlens.datasets.checking import Finding, check
from counterlens.datasets.registry import VARIABLE, find
from tests.conftest import WHOLE

# What the benchmarks' own documentation says of each file: format, version, records, licence.
# The first number of records is that of the sample.
FILES = {
    "humaneval/HumanEval.jsonl.gz": ("humaneval", "1.0 (2021)", (164, 164), "MIT"),
    "humaneval-x/humaneval_java.jsonl.gz": ("humaneval-x", "Java (2023)", (5, 164), "Apache-2.0"),
    "humaneval-x/humaneval_python.jsonl.gz": ("humaneval-x", "Python (2023)", (5, 164), "Apache-2.0"),
    "humanevalpack/python/humanevalpack.jsonl": ("humanevalpack", "Python (2023)", (4, 164), "MIT"),
    "humanevalpack/java/humanevalpack.jsonl": ("humanevalpack", "Java (2023)", (4, 164), "MIT"),
    "humanevalplus/HumanEvalPlus-Mini.jsonl.gz": ("humanevalplus", "Mini", (5, 164), "Apache-2.0"),
    "mbpp/mbpp.jsonl": ("mbpp", "full (2021)", (10, 974), "CC-BY-4.0"),
    "cruxeval/cruxeval-first-400.jsonl": ("cruxeval", "the first 400 of 800", (12, 400), "MIT"),
    "codenet/codenet-python.tar.gz": (
        "codenet",
        "CodeMind, Python (2024)",
        (5, 1939),
        "NCSA; the programs as in CodeNet",
    ),
    "codecontests/codecontests-graph-python.tar.gz": (
        "codecontests-folders",
        "300 graph problems",
        (3, 300),
        "CC-BY-4.0",
    ),
}
LABELLED = {  # functions without tests
    "core": ("core", "30 Python functions (2025)", (5, 30), "Apache-2.0"),
    "core-java": ("core", "30 Java functions (2025)", (3, 30), "Apache-2.0"),
    "core-c": ("core", "30 C functions (2025)", (3, 30), "Apache-2.0"),
}


@pytest.mark.parametrize("file", {**FILES, **LABELLED})
def test_a_published_file_is_recognised_and_counted(published: Path, file: str) -> None:
    dataset, version, (some, every), licence = {**FILES, **LABELLED}[file]
    if WHOLE is None and some < every:
        version, every = UNKNOWN, some
    origin = open_dataset(published / file).provenance
    assert (origin.dataset, origin.version, origin.records, origin.licence) == (
        dataset,
        version,
        every,
        licence,
    )
    assert len(origin.sha256) == 64


def test_every_dataset_of_a_folder_is_found(published: Path) -> None:
    paths = {dataset.path.relative_to(published).as_posix() for dataset in find(published)}
    assert paths == {*FILES, *LABELLED}


@pytest.mark.parametrize("file", FILES)
def test_ids_are_unique_and_every_problem_has_tests(published: Path, file: str) -> None:
    problems = list(open_dataset(published / file))
    assert len({problem.id for problem in problems}) == len(problems)
    assert all(problem.tests is not None for problem in problems)
    for problem in problems:
        if problem.prompt is not None:
            assert problem.source.startswith(problem.prompt)


@pytest.mark.parametrize("file", FILES)
def test_the_tested_function_is_in_the_program(published: Path, file: str) -> None:
    for problem in open_dataset(published / file):
        if problem.tests is not None and problem.tests.form is not TestForm.STDIO:
            assert problem.function is not None
            assert problem.function.rpartition(".")[2] in problem.source


def test_every_reference_solution_parses_but_those_of_python_2(published: Path) -> None:
    for file in FILES:
        found = check(open_dataset(published / file))
        unparsed = found.counts.get(Finding.DOES_NOT_PARSE, 0)
        assert unparsed == (0 if "codenet" not in file else 88 if WHOLE else 1), file


@pytest.mark.parametrize("folder", ["humaneval", "mbpp", "humanevalpack/python", "cruxeval", "humanevalplus"])
def test_the_tests_of_a_sample_pass_with_the_reference_and_fail_with_the_bug(
    published: Path, folder: str
) -> None:
    (dataset,) = find(published / folder)
    for problem in islice(dataset, 0, None, max(1, dataset.provenance.records // 4)):
        assert problem.tests is not None
        assert _passes(problem.source, problem.tests.text), problem.id
        assert not _passes(f"def {problem.function}(*_): return object()\n", problem.tests.text), problem.id
        if problem.buggy is not None:
            assert not _passes(problem.buggy, problem.tests.text), problem.id


def test_a_folder_of_one_dataset_is_that_dataset(published: Path) -> None:
    dataset = open_dataset(published / "humaneval")
    assert isinstance(dataset, Dataset)
    assert next(iter(dataset)).id == "HumanEval/0"


@pytest.mark.parametrize("name", ["humanevalpack", "humaneval-x"])
def test_of_the_published_languages_python_is_taken(
    published: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(published))
    for spec in (name, str(published / name), f"{name}:{published / name}"):
        assert "python" in open_dataset(spec).provenance.path.as_posix().removeprefix(str(published)), spec


def _passes(program: str, tests: str) -> bool:
    """Reference and hand-made buggy solutions only, so not in the sandbox."""
    space: dict[str, object] = {"__name__": "solution"}
    try:
        exec(compile(program, "<program>", "exec"), space)  # noqa: S102
        exec(compile(tests, "<tests>", "exec"), space)  # noqa: S102
    except Exception:
        return False
    return True
