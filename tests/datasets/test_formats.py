"""Every format in small, whole and broken; and how data is found."""

from __future__ import annotations

import gzip
import importlib.util
import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from counterlens.datasets import LOADERS, TestForm, files, open_dataset
from counterlens.datasets.checking import Finding, check
from counterlens.datasets.evalplus import shape
from counterlens.datasets.registry import VARIABLE, find, installed_data
from counterlens.errors import Cancelled, DataError
from counterlens.probes.dataset_subjects import not_drawn, targets_of
from counterlens.regular_file import numbered_lines

ADD = "def add(a, b):\n    return a + b\n"
JAVA = "class Solution {\n    int add(int a, int b) {\n"
PLUS = {
    "contract": "",
    "base_input": [[1, 2]],
    "plus_input": [[3, float("inf")]],
    "atol": 0,
}
RECORDS: dict[str, dict[str, Any]] = {
    "humaneval": {
        "task_id": "HumanEval/0",
        "prompt": "def add(a, b):\n",
        "entry_point": "add",
        "canonical_solution": "    return a + b\n",
        "test": "def check(f):\n    assert f(1, 2) == 3\n",
    },
    "humanevalplus": {
        "task_id": "HumanEval/0",
        "prompt": "def add(a, b):\n",
        "entry_point": "add",
        "canonical_solution": "\n    return a + b\n",
        **PLUS,
    },
    "humanevalpack": {
        "task_id": "Java/0",
        "prompt": JAVA,
        "declaration": JAVA,
        "canonical_solution": "        return a + b;\n    }\n}\n",
        "buggy_solution": "        return a - b;\n    }\n}\n",
        "bug_type": "operator misuse",
        "failure_symptoms": "incorrect output",
        "entry_point": "add",
        "test": "public class Main {}",
        "docstring": "Add.",
    },
    "humaneval-x": {
        "task_id": "Java/0",
        "prompt": JAVA,
        "declaration": JAVA,
        "canonical_solution": "        return a + b;\n    }\n}\n",
        "test": "public class Main {}",
        "example_test": "",
        "text": "Add.",
    },
    "mbpp": {
        "task_id": 7,
        "text": "Write a function to add.",
        "code": "def twice(a):\r\n  return 2*a\r\n\r\n" + ADD,
        "test_setup_code": "import math",
        "test_list": ["assert add(1, 2) == 3"],
        "challenge_test_list": ["assert add(0, 0) == 0"],
    },
    "mbppplus": {
        "task_id": "Mbpp/2",
        "prompt": '"""\nAdd.\n"""\n',
        "entry_point": "both",
        "canonical_solution": "\ndef both(a, b):\n    return a + b\n",
        "assertion": "assert both((1, 2), (3,)) == (1, 2, 3)",
        **PLUS,
        "base_input": [[[1, 2], [3]]],
        "plus_input": [[[], [5, 6, 7]]],
    },
    "mbppplus-hub": {
        "task_id": 2,
        "code": ADD,
        "prompt": "Add.",
        "test_imports": [],
        "test_list": ["assert add(1, 2) == 3"],
        "test": "assert add(1, 2) == 3",
    },
    "cruxeval": {"id": "sample_0", "code": "def f(a):\n    return a * 2", "input": "[1]", "output": "[1, 1]"},
    "codecontests": {
        "name": "1_A. Sum",
        "description": "Print the sum.",
        "public_tests": {"input": ["1 2\n"], "output": ["3\n"]},
        "private_tests": {"input": [], "output": []},
        "generated_tests": {"input": ["0 0\n"], "output": ["0\n"]},
        "solutions": {
            "language": [2, 3],
            "solution": ["int main() {}", "print(sum(map(int, input().split())))"],
        },
        "incorrect_solutions": {"language": [3], "solution": ["print(0)"]},
    },
    "codesearchnet": {
        "repo": "someone/something",
        "path": "a/b.py",
        "func_name": "Sum.add",
        "language": "python",
        "original_string": ADD,
        "docstring": "Add.",
        "sha": "0" * 40,
    },
    "galeras": {
        "id": 1,
        "repo": "something",
        "path": "a/b.py",
        "fun_name": "add",
        "code": ADD,
        "language": "Python",
        "documentation": {"docstring": "Add."},
        "n_ast_nodes": 12,
        "ast_levels": 5,
        "complexity": 1,
        "nloc": 2,
    },
}
FUNCTIONS = {
    "humanevalpack": "Solution.add",
    "humaneval-x": "Solution.add",
    "cruxeval": "f",
    "mbppplus": "both",
}


def written(folder: Path, records: list[Any], name: str = "data.jsonl") -> Path:
    path = folder / name
    text = "".join(json.dumps(record) + "\n" for record in records).encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return path


def program_folder(root: Path, name: str, files: dict[str, str]) -> None:
    for file, text in files.items():
        path = root / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("file", ["data.jsonl", "data.jsonl.gz"])
def test_a_format_is_recognised_by_its_fields(name: str, file: str, tmp_path: Path) -> None:
    dataset = open_dataset(written(tmp_path, [RECORDS[name]], file))
    assert dataset.id == name
    (problem,) = dataset
    assert problem.dataset == name
    if name == "codecontests":
        assert problem.function is None
    else:
        assert problem.function == FUNCTIONS.get(name, "add")
    assert dataset.provenance.records == 1
    assert dataset.provenance.version == "unknown"


@pytest.mark.parametrize(
    "name", sorted(RECORDS.keys() - {"humanevalplus", "mbppplus"})
)  # inputs of several types
def test_the_same_columns_in_parquet_are_the_same_problems(name: str, tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "data" / "test-00000-of-00001.parquet"
    path.parent.mkdir()
    parquet.write_table(arrow.Table.from_pylist([RECORDS[name]] * 70), path)
    (tmp_path / "data" / "README.md").write_text("the hub's")
    alike = list(LOADERS[name].problems(written(tmp_path, [RECORDS[name]] * 70)))
    for spec in (path, path.parent, f"{name}:{path}"):
        dataset = open_dataset(spec)
        assert dataset.id == name
        assert list(dataset) == alike
        assert dataset.provenance.records == 70


def test_parquet_that_cannot_be_read_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "two.parquet"
    path.write_bytes(b"PAR1 and no more")
    pytest.importorskip("pyarrow")
    with pytest.raises(DataError, match=r"two\.parquet is not valid Parquet"):
        list(open_dataset(f"humaneval:{path}"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    for spec in (path, tmp_path, f"humaneval:{path}"):
        with pytest.raises(DataError, match="is a Parquet file, which needs pyarrow") as error:
            list(open_dataset(spec))
        assert "counterlens[data]" in (error.value.hint or "")


def test_every_loader_of_records_is_among_the_examples() -> None:
    others = {"codenet", "avatar", "codecontests-folders", "core", "mbpp-test"}
    assert {*RECORDS, *others} == set(LOADERS)


@pytest.mark.parametrize("file", ["mbpp.jsonl", "data/mbpp.jsonl.gz"])
def test_the_test_split_of_mbpp_is_chosen_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    numbers = [1, 10, 11, 300, 510, 511, 974]
    (tmp_path / file).parent.mkdir(exist_ok=True)
    path = written(tmp_path, [{**RECORDS["mbpp"], "task_id": number} for number in numbers], file)
    assert open_dataset(path).id == "mbpp"
    monkeypatch.setenv("COUNTERLENS_DATA", str(tmp_path))
    for spec in ("mbpp-test", f"mbpp-test:{path}", f"mbpp-test:{tmp_path}"):
        split = open_dataset(spec)
        assert [problem.id for problem in split] == ["MBPP/11", "MBPP/300", "MBPP/510"]
        assert (split.provenance.dataset, split.provenance.records) == ("mbpp-test", 3)
    assert len(list(open_dataset("mbpp"))) == len(numbers)


@pytest.mark.parametrize("name", [name for name in RECORDS if name not in {"codesearchnet", "galeras"}])
def test_python_tests_judge_the_reference(name: str, tmp_path: Path) -> None:
    (problem,) = open_dataset(written(tmp_path, [RECORDS[name]]))
    assert problem.tests is not None
    if problem.tests.form is not TestForm.PYTHON:
        return
    space: dict[str, object] = {}
    exec(problem.source + "\n" + problem.tests.text, space)  # noqa: S102
    with pytest.raises((AssertionError, TypeError)):
        exec(f"def {problem.function}(*_): return None\n{problem.tests.text}", {})  # noqa: S102


@pytest.mark.parametrize("name", RECORDS)
def test_a_missing_field_is_named_with_its_line(name: str, tmp_path: Path) -> None:
    loader, whole = LOADERS[name], RECORDS[name]
    needed = [entry for entry in loader.fields if "|" not in entry and entry in whole]  # type: ignore[attr-defined]
    text = next(field for field in needed if isinstance(whole[field], str) and field != "contract")
    broken = {field: value for field, value in whole.items() if field != text}
    path = written(tmp_path, [whole, broken])
    with pytest.raises(DataError, match=rf"data\.jsonl, line 2: .*{text}"):
        list(loader.problems(path))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 2: not JSON"),
        ("[1]", "line 2: expected an object, found a list"),
        ('{"id": "x", "code": 3, "input": "1", "output": "1"}', "line 2: `code` is a number, not a string"),
        ('{"id": "x", "code": null, "input": "1", "output": "1"}', "line 2: `code` is null, not a string"),
    ],
)
def test_a_malformed_line_is_named(line: str, says: str, tmp_path: Path) -> None:
    path = written(tmp_path, [RECORDS["cruxeval"]])
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(DataError, match=says.replace("`", "`")):
        list(open_dataset(path))


def test_problems_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, [RECORDS["cruxeval"]])
    path.write_text(path.read_text() + "broken\n")
    problems = iter(open_dataset(path))
    assert next(problems).id == "sample_0"
    with pytest.raises(DataError):
        next(problems)


def test_a_truncated_archive_and_bad_bytes_are_errors_for_people(tmp_path: Path) -> None:
    path = written(tmp_path, [RECORDS["cruxeval"]] * 50, "data.jsonl.gz")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="cannot be read"):
        list(LOADERS["cruxeval"].problems(path))
    other = tmp_path / "other.jsonl"
    other.write_bytes(b'{"id": "\xff"}\n')
    with pytest.raises(DataError, match=r"line 1: not (valid UTF-8|JSON)"):
        list(LOADERS["cruxeval"].problems(other))


def test_arrays_and_objects_by_id_are_records_too(tmp_path: Path) -> None:
    array = tmp_path / "a.json"
    array.write_text(json.dumps([RECORDS["mbpp"], RECORDS["mbpp"]]))
    assert len(list(open_dataset(array))) == 2
    by_id = tmp_path / "b.json"
    by_id.write_text(json.dumps({"sample_9": {k: v for k, v in RECORDS["cruxeval"].items() if k != "id"}}))
    assert [problem.id for problem in open_dataset(by_id)] == ["sample_9"]


def test_crlf_in_a_program_survives(tmp_path: Path) -> None:
    (problem,) = open_dataset(written(tmp_path, [RECORDS["mbpp"]]))
    assert "\r\n" in problem.source
    assert problem.tests is not None
    assert problem.tests.text == "import math\nassert add(1, 2) == 3\nassert add(0, 0) == 0\n"


def test_codecontests_takes_the_first_python_3_solution_and_all_tests(tmp_path: Path) -> None:
    (problem,) = open_dataset(written(tmp_path, [RECORDS["codecontests"]]))
    assert problem.source.startswith("print(sum")
    assert problem.buggy == "print(0)"
    assert problem.tests is not None
    assert [case.output for case in problem.tests.cases] == ["3\n", "0\n"]
    none = {**RECORDS["codecontests"], "solutions": {"language": [], "solution": []}}
    (problem,) = open_dataset(written(tmp_path, [none]))
    assert problem.source == ""


@pytest.mark.parametrize("packed", [False, True])
def test_folders_of_programs(packed: bool, tmp_path: Path) -> None:
    for name, data in (("codenet", tmp_path / "cn"), ("avatar", tmp_path / "Avatar-Python")):
        program_folder(
            data, "p1_s2", {"main.py": "print(input())\n", "input.txt": "x\n", "output.txt": "x\n"}
        )
        program_folder(data, "p1", {"main.py": "print(1)\n", "input.txt": "", "output.txt": "1\n"})
        dataset = open_dataset(_packed(data) if packed else data)
        assert dataset.id == name
        problems = {problem.id: problem for problem in dataset}
        assert list(problems) == ["p1", "p1_s2"]
        assert problems["p1"].tests is not None
        assert problems["p1"].tests.cases[0].output == "1\n"


@pytest.mark.parametrize("packed", [False, True])
def test_contest_folders_read_their_tests_in_order(packed: bool, tmp_path: Path) -> None:
    files = {f"tests/{kind}_{n}.txt": f"{kind}{n}\n" for n in (1, 2, 10) for kind in ("input", "output")}
    program_folder(
        tmp_path / "cc", "a/1_sum", {"main.py": "", "PROBLEM.md": "# Sum", "tags.txt": "math", **files}
    )
    (problem,) = open_dataset(_packed(tmp_path / "cc") if packed else tmp_path / "cc")
    assert (problem.dataset, problem.id, problem.details) == (
        "codecontests-folders",
        "1_sum",
        {"tags": "math"},
    )
    assert problem.tests is not None
    assert [case.input for case in problem.tests.cases] == ["input1\n", "input2\n", "input10\n"]


def test_a_folder_without_its_output_is_named(tmp_path: Path) -> None:
    program_folder(tmp_path, "p1", {"main.py": "", "input.txt": "", "output.txt": ""})
    program_folder(tmp_path, "p2", {"main.py": "", "input.txt": ""})
    with pytest.raises(DataError, match=r"p2: output\.txt is missing"):
        list(open_dataset(tmp_path))


def test_tuples_and_sets_of_the_assertions_come_back() -> None:
    assert shape([[1, 2], [3, 4]], [(1, 2)]) == [(1, 2), (3, 4)]
    assert shape([1, [2, 3]], (0, [1])) == (1, [2, 3])
    assert shape([1, 2], {3}) == {1, 2}
    assert shape("ab", ("x",)) == "ab"


def test_names_are_found_in_the_places_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nothing"))
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(DataError, match="not on this machine") as error:
        open_dataset("galeras")
    assert VARIABLE in (error.value.hint or "")
    (tmp_path / "data" / "deep").mkdir(parents=True)
    written(tmp_path / "data" / "deep", [RECORDS["galeras"]])
    monkeypatch.setenv(VARIABLE, str(tmp_path / "data"))
    assert next(iter(open_dataset("galeras"))).function == "add"
    assert "galeras" in [dataset.id for dataset in installed_data()]
    program_folder(tmp_path / "data", "cc/1_sum", {"main.py": "", "PROBLEM.md": ""})
    assert open_dataset("codecontests").id == "codecontests-folders"


def test_two_commits_of_a_function_of_galeras_are_two_problems(tmp_path: Path) -> None:
    one = RECORDS["galeras"] | {"commit_id": "0123456789abcdef"}
    other = one | {"commit_id": "fedcba9876543210", "code": ADD.replace("a + b", "b + a")}
    names = [problem.id for problem in open_dataset(written(tmp_path, [one, other, other | {"id": 3}]))]
    place = "something/a/b.py::add"
    assert names == [f"{place}@0123456789ab", f"{place}@fedcba987654", f"{place}@fedcba987654#2"]


def test_a_format_can_be_forced_and_what_is_unknown_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, [RECORDS["humanevalpack"]])
    assert open_dataset(f"humaneval:{path}").id == "humaneval"
    with pytest.raises(DataError, match="no file or folder"):
        open_dataset(f"humaneval:{tmp_path / 'none'}")
    with pytest.raises(DataError, match="no dataset and no file nonsense"):
        open_dataset("nonsense")
    other = written(tmp_path, [{"a": 1}], "other.jsonl")
    with pytest.raises(DataError, match="unknown format"):
        open_dataset(other)
    assert find(other) == []


def test_the_digest_of_a_folder_follows_names_and_contents(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    path = written(folder, [RECORDS["cruxeval"]])
    written(folder, [RECORDS["cruxeval"]], "more.jsonl")
    first = open_dataset(folder).provenance.sha256
    assert open_dataset(folder).provenance.sha256 == first
    path.rename(folder / "renamed.jsonl")
    assert open_dataset(folder).provenance.sha256 != first


def test_checking_tells_what_does_not_parse_and_can_be_stopped(tmp_path: Path) -> None:
    from threading import Event

    broken = {**RECORDS["cruxeval"], "id": "bad", "code": "print 1"}
    dataset = open_dataset(written(tmp_path, [RECORDS["cruxeval"], broken, {**broken, "code": " "}]))
    found = check(dataset)
    assert found.counts == {Finding.PARSES: 1, Finding.DOES_NOT_PARSE: 1, Finding.NO_SOLUTION: 1}
    assert [fault.id for fault in found.faults] == ["bad"]
    assert len(check(dataset, limit=1).problems) == 1
    stop = Event()
    stop.set()
    with pytest.raises(Cancelled):
        check(dataset, cancel=stop)


def _packed(folder: Path) -> Path:
    path = folder.with_name(folder.name + ".tar.gz")
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.add(folder, arcname=folder.name)
    path.write_bytes(buffer.getvalue())
    return path


def test_a_folder_is_what_is_in_it(tmp_path: Path) -> None:
    one = tmp_path / "one"
    one.mkdir()
    path = written(one, [RECORDS["mbpp"]])
    (one / "LICENSE").write_text("free")
    assert open_dataset(one).path == path
    data = tmp_path / "programs"
    for name in ("p1", "p2"):
        program_folder(data, name, {"main.py": "", "input.txt": "", "output.txt": ""})
    assert [(dataset.id, dataset.path) for dataset in find(tmp_path)] == [("mbpp", path), ("codenet", data)]
    both = tmp_path / "both"
    for name in ("mbpp", "cruxeval"):
        (both / name).mkdir(parents=True)
        written(both / name, [RECORDS[name]])
    with pytest.raises(DataError, match="holds 2 datasets"):
        open_dataset(both)


PACK = RECORDS["humanevalpack"]
PYTHON_PACK = {
    **PACK,
    "task_id": "Python/0",
    "prompt": "def add(a, b):\n",
    "canonical_solution": "    return a + b\n",
    "buggy_solution": "    return a - b\n",
    "test": "assert add(1, 2) == 3",
}


@pytest.fixture
def languages(tmp_path: Path) -> Path:
    """The published files of two languages, as they are downloaded: a folder each."""
    pack = tmp_path / "data" / "pack"
    for language, record in (("java", PACK), ("python", PYTHON_PACK)):
        (pack / language).mkdir(parents=True)
        written(pack / language, [record], "humanevalpack.jsonl")
    return pack


def test_of_several_languages_the_one_that_can_be_asked_about_is_taken(
    languages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = languages / "python" / "humanevalpack.jsonl"
    monkeypatch.setenv(VARIABLE, str(languages.parent))
    for spec in ("humanevalpack", str(languages), f"humanevalpack:{languages}"):
        dataset = open_dataset(spec)
        assert (dataset.path, dataset.language) == (python, "python"), spec
    assert [target.id for target in targets_of(open_dataset("humanevalpack"), buggy=True)] == ["Python/0"]
    assert len(find(languages)) == 2  # both are still listed and checked
    written(languages, [PYTHON_PACK], "more.jsonl")  # of several files in Python none is chosen
    assert open_dataset(languages).path == languages


def test_where_no_file_can_be_asked_about_the_language_is_said(
    languages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (languages / "python" / "humanevalpack.jsonl").unlink()
    monkeypatch.setenv(VARIABLE, str(languages.parent))
    monkeypatch.setenv("XDG_DATA_HOME", str(languages / "nothing"))
    dataset = open_dataset("humanevalpack")
    assert dataset.language == "java"
    assert {target.document.language for target in targets_of(dataset)} == {"java"}


def test_archives_of_several_languages_are_chosen_among_too(tmp_path: Path) -> None:
    for language, program in (("java", "Main.java"), ("python", "main.py")):
        folder = tmp_path / "made" / f"codenet-{language}"
        program_folder(folder, "p1", {program: "", "input.txt": "", "output.txt": ""})
        packed = _packed(folder)
        (tmp_path / "data").mkdir(exist_ok=True)
        packed.rename(tmp_path / "data" / packed.name)
    assert open_dataset(tmp_path / "data").path.name == "codenet-python.tar.gz"


def test_core_keeps_the_lines_of_its_labels(tmp_path: Path) -> None:
    name = "codenet_p1_s1_add_2_3"
    program_folder(
        tmp_path,
        "core",
        {
            f"code/{name}.py": "import sys\ndef add(a):\n\treturn a\nadd(1)\n",
            f"label/{name}.yaml": "variables:\n",
        },
    )
    dataset = open_dataset(tmp_path / "core")
    assert dataset.id == "core"
    (problem,) = dataset
    assert (problem.id, problem.function) == (name, "add")
    assert problem.source == "\ndef add(a):\n\treturn a\n"
    assert problem.details == {"label": "variables:\n"}
    (tmp_path / "core" / "label" / f"{name}.yaml").unlink()
    with pytest.raises(DataError, match=f"{name}.yaml"):
        list(dataset)


def test_core_keeps_the_class_around_a_method_of_java(tmp_path: Path) -> None:
    name, missing = "gcj_1_2_mostOf_3_6", "gcj_1_2_mostOf_7_9"
    program = (
        "class Main {\n    int other(int a) { return a; }\n    @Deprecated\n    int mostOf(int[] a) {\n"
        "        return a[0];\n    }\n    int mostOf(int a) { return a; }\n}\n"
    )
    asked = {"label_file": f"{name}.yaml", "task_id": f"control_{name}_5_1", "category": "trace"}
    asked |= {"src": 4, "dst": 5, "groundtruth": False, "prompt": "Does it?"}
    program_folder(
        tmp_path,
        "core",
        {
            f"raw_annotation/Java/code/{name}.java": program,
            f"raw_annotation/Java/label/{name}.yaml": "variables:\n",
            f"raw_annotation/Java/code/{missing}.java": program.replace("int mostOf(int a)", "int x = 1; //"),
            f"raw_annotation/Java/label/{missing}.yaml": "variables:\n",
            "prompts/control_Java_trace.jsonl": json.dumps(asked) + "\n",
            "prompts/control_Python_trace.jsonl": "not read of Java\n",
            "lite.json": json.dumps({"control": {"Java": [asked["task_id"]], "Python": ["x"]}}),
        },
    )
    for path in (tmp_path / "core", tmp_path / "core" / "raw_annotation" / "Java"):
        if path.name == "core":
            (path / "prompts" / "control_Python_trace.jsonl").write_text("")
        dataset = open_dataset(path)
        first, second = dataset
        assert (first.language, first.function) == ("java", "Main.mostOf(int[])")
        assert first.source == program
        assert json.loads(first.details["questions"])[0]["src"] == 4
        assert json.loads(first.details["lite"]) == [asked["task_id"]]
        assert (second.function, second.unusable) == (None, "no method in lines 7 to 9")


def test_core_keeps_the_program_around_a_function_of_c(tmp_path: Path) -> None:
    name, missing = "codenet_1_2_most_3_5", "codenet_1_2_most_6_7"
    program = "#include <stdio.h>\nint n;\nstatic int *most(int *a)\n{ return a + n;\n}\nint x = 1;\n\n"
    program_folder(
        tmp_path,
        "core",
        {
            f"raw_annotation/C/{folder}/{stem}.{ending}": text
            for stem in (name, missing)
            for folder, ending, text in (("code", "c", program), ("label", "yaml", "variables:\n"))
        },
    )
    dataset = open_dataset(tmp_path / "core")
    first, second = dataset
    assert (dataset.language, first.function, first.source) == ("c", "most", program)
    assert (second.function, second.unusable) == (None, "no function in lines 6 to 7")
    with pytest.raises(DataError, match="it is in C"):
        targets_of(dataset)


def test_core_has_its_questions_and_lite_and_says_what_is_no_python_3(tmp_path: Path) -> None:
    good, old = "gcj_1_2_add_1_2", "gcj_1_3_show_1_2"
    asked = {
        "label_file": f"{good}.yaml",
        "task_id": f"data_{good}_a_2_1",
        "category": "trace",
        "src": ["a", 1],
        "dst": ["a", 2],
        "groundtruth": True,
        "prompt": "Does it?",
    }
    ids = [asked["task_id"], f"control_{good}_a_2_1", "data_gcj_1_2_add_1_20_a_2_1"]
    program_folder(
        tmp_path,
        "core",
        {
            f"raw_annotation/Python/code/{good}.py": "def add(a):\n    return a\n",
            f"raw_annotation/Python/label/{good}.yaml": "variables:\n",
            f"raw_annotation/Python/code/{old}.py": "def show(a):\n    print a\n",
            f"raw_annotation/Python/label/{old}.yaml": "variables:\n",
            "prompts/data_Python_trace.jsonl": json.dumps(asked) + "\n",
            "prompts/data_C_trace.jsonl": "not read\n",
            "lite.json": json.dumps(
                {"data": {"Python": ids[::2]}, "control": {"Python": [ids[1]], "C": ["x"]}}
            ),
        },
    )
    dataset = open_dataset(tmp_path / "core")
    assert dataset.id == "core"
    first, second = dataset
    assert json.loads(first.details["questions"]) == [{k: v for k, v in asked.items() if k != "label_file"}]
    assert json.loads(first.details["lite"]) == ids[:2]
    assert first.unusable == ""
    assert second.unusable.startswith("no Python 3, line 2: ")
    assert second.function == "show"
    for seed in range(5):
        assert [target.id for target in targets_of(dataset, limit=1, seed=seed)] == [good]
    assert list(not_drawn(dataset)) == [old]
    assert targets_of(dataset)[0].details["label"] == "variables:\n"
    (tmp_path / "core" / "prompts" / "data_Python_trace.jsonl").write_text(json.dumps({"label_file": "x"}))
    with pytest.raises(DataError, match="`task_id` is missing"):
        list(dataset)


def test_a_file_of_no_format_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("{\n")
    opened: list[Path] = []

    def lines(file: Path) -> Iterator[tuple[int, bytes]]:
        opened.append(file)
        return numbered_lines(file)

    monkeypatch.setattr(files, "numbered_lines", lines)
    for _ in range(2):
        with pytest.raises(DataError, match="line 1"):
            open_dataset(path)
    assert opened == [path]
