"""Functions that are translated from another language, with scripted translations (Liu et al. 2024)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from counterlens.cli.probe import probe as probe_command
from counterlens.datasets import Dataset, open_dataset
from counterlens.datasets.counterparts import counterparts
from counterlens.errors import CounterlensError, DataError, OptionError, SourceError
from counterlens.evaluation.manifest import manifest
from counterlens.evaluation.plan import make_plan
from counterlens.evaluation.settings import RunSettings
from counterlens.judging.languages import judging_of
from counterlens.metrics.effects import Proportion
from counterlens.probes.dataset_subjects import targets_of
from counterlens.probes.execution.dependent import DependentExecutionProbe
from counterlens.probes.execution.record import DependentExecutionRecord, SpecificationRecord
from counterlens.probes.execution.translation import to_translate
from counterlens.probes.options import distribute, make
from counterlens.probes.record import plain
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import ProbeRun, run_targets
from counterlens.probes.subjects import targets_in
from counterlens.python.execution.calls import without_texts
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.probes.execution.asking import Scripted, context, entries

TASKS = ("specification", "dependent-execution")
DESCRIPTION = "Give twice a number."
PYTHON = {
    "task_id": "Python/0",
    "prompt": f'def twice(x: int) -> int:\n    """{DESCRIPTION}\n    >>> twice(4)\n    8\n    """\n',
    "declaration": "def twice(x: int) -> int:\n",
    "canonical_solution": '    # doubled: twice(4) is 8\n\n\n    y = x + x\n    """8 of 4"""\n    return y\n',
    "test": """\
def check(candidate):
    assert candidate(4) == 8
    assert candidate(-1) == -2

check(twice)
""",
    "example_test": "",
    "text": DESCRIPTION,
}
JAVADOC = f"/**\n    {DESCRIPTION}\n    >>> twice(4)\n    8\n     */\n    "
HEADER = "class Solution {\n    public int twice(int x) {\n"
JAVA = {
    "task_id": "Java/0",
    "prompt": HEADER.replace("public", f"{JAVADOC}public", 1),
    "declaration": HEADER,
    "canonical_solution": "        // doubled: twice(4) is 8\n        return x + x;\n    }\n}\n",
    "test": """\
public class Main {
    public static void main(String[] args) {
        Solution s = new Solution();
        if (s.twice(4) != 8 || s.twice(-1) != -2) {
            throw new AssertionError();
        }
    }
}
""",
    "example_test": "",
    "text": DESCRIPTION,
}
ALONE = {**PYTHON, "task_id": "Python/1"}
SPECIFIED = {
    "java": """\
class Solution {
    public int twice(int x) {
        return x + x;
    }
}""",
    "python": """\
def twice(x: int) -> int:

    y = x + x
    return y""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """HumanEval-X with one problem in both languages, and one in Python alone."""
    data = tmp_path / "data"
    data.mkdir()
    for name, records in (("python", (PYTHON, ALONE)), ("java", (JAVA,))):
        written(data / f"humaneval_{name}.jsonl", *records)
    return data


def written(path: Path, *records: Mapping[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def translates(right: Callable[[str], bool]) -> Callable[[str], str]:
    """A model that translates rightly where told so, and that knows what twice 4 is."""

    def answer(text: str) -> str:
        if text.endswith(('"""\n', "twice(x: int) -> int:\n")):
            return "    return 2 * x\n" if right(text) else "    return x\n"
        if text.endswith("twice(int x) {\n"):
            return "        return 2 * x;\n    }\n" if right(text) else "        return x;\n    }\n"
        return " 8" if text.endswith("==") else " so\n# Answer: 8\n// Answer: 8"

    return answer


def shown_a_test(text: str) -> bool:
    return re.search(r">>> twice\(\d\)", text) is not None and "-105" not in text


def ran(
    task: str, data: Path | Dataset, language: str | None, right: Callable[[str], bool], **options: Any
) -> ProbeRun:
    dataset = data if isinstance(data, Dataset) else open_dataset(data)
    others = None if language is None else counterparts(dataset, language)
    targets = targets_of(dataset, sandbox=best_sandbox(), translated_from=others)
    given = {**options, **({} if language is None else {"from_language": language})}
    return run_targets(PROBES[task], context(translates(right)), targets, make(PROBES[task].options, given))


def require_java() -> None:
    if missing := judging_of("java").missing():
        pytest.skip(missing)


def passes(run: ProbeRun) -> list[dict[str, bool]]:
    return [
        {setting: one["passed"] for setting, one in function["settings"].items()}
        for function in entries(run, "functions")
    ]


def test_specification_over_java_to_python(folder: Path) -> None:
    run = ran("specification", folder, "java", shown_a_test)
    (function,) = entries(run, "functions")
    assert function["specification"] == SPECIFIED["java"]
    assert (function["gives"], function["lines_of_examples_removed"], function["s_sr"]) == ("8", 0, 1)
    assert passes(run) == [{"none": False, "true": True, "misleading": False}]
    assert run.left_out == {"there is no program in Java to translate it from": 1}
    assert run.summary.startswith("Implementations that pass the test, of 1 (translation from Java): ")
    assert {table.title.rpartition(", ")[2] for table in run.tables} == {"translation from Java"}
    (record,) = run.probed
    assert isinstance(record, SpecificationRecord)
    assert record.translated_from == "java"
    assert passes(ran("specification", folder, "java", lambda _: True)) == [
        {"none": True, "true": True, "misleading": False}
    ]


def test_specification_over_python_to_java(folder: Path) -> None:
    require_java()
    run = ran("specification", folder / "humaneval_java.jsonl", "python", shown_a_test)
    (function,) = entries(run, "functions")
    assert function["specification"] == SPECIFIED["python"]
    assert passes(run) == [{"none": False, "true": True, "misleading": False}]
    assert not run.left_out


def test_dependent_execution_over_java_to_python(folder: Path) -> None:
    shown = list[str]()
    run = ran("dependent-execution", folder, "java", lambda text: bool(shown.append(text)) or True)
    (synthesis,) = entries(run, "syntheses")
    assert (synthesis["correct"], synthesis["s_der"]) == (True, {"direct": 1, "steps": 1})
    assert shown == [f"code translation\nJava:\n{SPECIFIED['java']}\n\nPython:\ndef twice(x: int) -> int:\n"]
    assert synthesis["program"] == "def twice(x: int) -> int:\n    return 2 * x\n"
    assert run.summary.startswith("The model wrote 1 of 1 function (translation from Java) correctly. ")
    assert run.left_out == {"there is no program in Java to translate it from": 1}
    wrong = ran("dependent-execution", folder, "java", lambda _: False)
    (synthesis,) = entries(wrong, "syntheses")
    assert (synthesis["correct"], synthesis["s_der"]) == (False, {"direct": 0, "steps": 0})


def test_dependent_execution_over_python_to_java(folder: Path) -> None:
    require_java()
    found = {}
    for right in (True, False):
        shown = list[str]()

        def answer(text: str, shown: list[str] = shown, right: bool = right) -> bool:
            shown.append(text)
            return right

        run = ran("dependent-execution", folder / "humaneval_java.jsonl", "python", answer)
        (synthesis,) = entries(run, "syntheses")
        found[right] = (synthesis["correct"], synthesis["s_der"]["direct"])
        assert shown == [f"code translation\nPython:\n{SPECIFIED['python']}\n\nJava:\n{HEADER}"]
    assert found == {True: (True, 1), False: (False, 0)}


def test_the_protocol_names_the_table_of_translation(folder: Path) -> None:
    run = ran("dependent-execution", folder, "java", lambda _: True, protocol="codemind")
    title = "dependent execution reasoning (Table III), translation from Java (protocol codemind)"
    (table,) = [one for one in run.tables if one.title == title]
    translated = dict(table.rows)["translation"]
    assert isinstance(translated, Proportion)
    assert translated.value == 1.0
    records = [one for one in run.probed if isinstance(one, DependentExecutionRecord)]
    beside = DependentExecutionProbe().side_by_side({"a": records, "b": records}, seed=0)
    assert "R'_DER on programs that all models translated correctly (Table III), translation from Java" in {
        table.title for table in beside
    }


@pytest.mark.parametrize("task", TASKS)
def test_without_the_option_nothing_is_translated(folder: Path, task: str) -> None:
    run = ran(task, folder, None, lambda _: True)
    assert len(run.probed) == 2
    for record in run.probed:
        assert "translated_from" not in plain(record)
        assert "code translation" not in json.dumps(plain(record))
    assert not any("translation" in table.title for table in run.tables)


def test_documentation_is_no_part_of_the_program_to_translate() -> None:
    kept = 'class A:\n    """A."""\n\ndef f(x):\n    import math\n    """8"""; y = 1\n'
    assert without_texts(Document(f'"""Module."""\n{kept}')).text == kept
    late = Document('def f(x):\n    import math\n    """\n    f(4) is 8\n    """\n    return x\r\n')
    assert without_texts(late).text == "def f(x):\n    import math\n    return x\r\n"
    assert without_texts(Document("def f(:\n")).text == "def f(:\n"


def test_the_counterparts_of_one_file(tmp_path: Path) -> None:
    mixed = open_dataset(written(tmp_path / "mixed.jsonl", PYTHON, JAVA))
    found = counterparts(mixed, "java")
    assert (found.dataset, list(found.sources)) == (mixed, ["0"])
    (target,) = targets_of(mixed, translated_from=found)
    assert to_translate(target, "java").program == SPECIFIED["java"]


def test_the_counterparts_in_folders_of_their_own(tmp_path: Path) -> None:
    for name, record in (("python", PYTHON), ("java", JAVA)):
        (tmp_path / name).mkdir()
        written(tmp_path / name / "data.jsonl", record)
    dataset = open_dataset(tmp_path)
    assert counterparts(dataset, "java").dataset.path == tmp_path / "java" / "data.jsonl"
    with pytest.raises(DataError, match="no problems in Java beside"):
        counterparts(open_dataset(tmp_path / "python" / "data.jsonl"), "java")


def test_data_without_counterparts_is_refused(folder: Path) -> None:
    with pytest.raises(DataError, match="no problems in Java"):
        counterparts(open_dataset(written(folder.parent / "lone.jsonl", PYTHON)), "java")
    with pytest.raises(DataError, match="are in one language"):
        counterparts(open_dataset("humaneval"), "java")
    written(folder / "again.jsonl", JAVA)
    with pytest.raises(DataError, match="several files"):
        counterparts(open_dataset(folder / "humaneval_python.jsonl"), "java")
    python = open_dataset(folder / "humaneval_python.jsonl")
    with pytest.raises(DataError, match="are already in Python"):
        targets_of(python, translated_from=counterparts(python, "python"))


def test_the_option_is_refused_where_it_has_no_effect(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="--from is not an option of execution") as caught:
        distribute([PROBES["execution"]], {"from_language": "java"}, PROBES.values())
    assert caught.value.hint is not None
    assert all(task in caught.value.hint for task in TASKS)
    with pytest.raises(OptionError, match="no translations from 'cobol'"):
        make(PROBES["specification"].options, {"from_language": "cobol"})
    source = 'def f(x):\n    """Give it.\n\n    >>> f(1)\n    1\n    """\n    return x\n'
    (target,) = targets_in(Document(source))
    for task in TASKS:
        options = make(PROBES[task].options, {"from_language": "java"})
        with pytest.raises(SourceError, match="no program in Java"):
            PROBES[task].run(context(translates(lambda _: True)), target, options)
    (tmp_path / "f.py").write_text(target.document.text)
    given = [str(tmp_path / "f.py"), "--task", "specification", "--from", "java"]
    done = CliRunner().invoke(probe_command, [*given, "--allow-weaker-sandbox"])
    assert isinstance(done.exception, CounterlensError)
    assert "has no counterpart in another language" in str(done.exception)


def test_the_manifest_names_the_source(folder: Path) -> None:
    def plan_of(**given: str) -> Any:
        return make_plan(RunSettings.of(TASKS, str(folder), given), best_sandbox())

    plan, usual = plan_of(from_language="java"), plan_of()
    kept = manifest(plan, "scripted", Scripted.info)
    java = open_dataset(folder / "humaneval_java.jsonl").provenance
    assert kept["translated_from"] == {"java": {"sha256": java.sha256, "records": 1}}
    assert {options["from_language"] for options in kept["options"].values()} == {"java"}
    assert "translated_from" not in manifest(usual, "scripted", Scripted.info)
    changed = {**JAVA, "canonical_solution": "        return 2 * x;\n    }\n}\n"}
    written(folder / "humaneval_java.jsonl", changed)
    assert plan_of(from_language="java").digest != plan.digest
    assert plan_of().digest == usual.digest
