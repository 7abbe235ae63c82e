"""HumanEvalPack (Muennighoff et al. 2023): HumanEval with a hand-made bug in each solution, for repair."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from counterlens.datasets.base import Problem, TestForm, Tests
from counterlens.datasets.files import Record
from counterlens.datasets.recorded import RecordLoader, details

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


class HumanEvalPack(RecordLoader):
    """`humanevalpack.jsonl` of one language; Python and Java can be run, the others only read."""

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

    def problem(self, record: Record) -> Problem:
        """As `RecordLoader.problem`."""
        prompt, task = record.text("prompt"), record.text("task_id")
        language = language_of_task(record, task)
        form = _FORMS.get(language)
        return Problem(
            id=task,
            dataset=self.id,
            language=language,
            source=prompt + record.text("canonical_solution"),
            function=java_method(record) if language == "java" else record.text("entry_point"),
            prompt=prompt,
            description=str(record.fields.get("docstring", "")),
            tests=Tests(form, record.text("test") + "\n") if form else None,
            buggy=prompt + record.text("buggy_solution"),
            details=details(record, "bug_type", "failure_symptoms"),
        )


def language_of_task(record: Record, task: str) -> str:
    """The language that an id such as `Python/0` names.

    Raises:
        DataError: it names none that is known.
    """
    name = task.partition("/")[0]
    if name not in _LANGUAGES:
        raise record.wrong(f"`task_id` {task!r} names no language; known are {', '.join(_LANGUAGES)}")
    return _LANGUAGES[name]


def java_method(record: Record) -> str | None:
    """The method that a Java declaration opens; `entry_point` is misspelt in one of the published records."""
    found = _METHOD.search(record.text("declaration"))
    return f"Solution.{found[1]}" if found else None
