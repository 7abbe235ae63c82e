"""Records of HumanEval in other languages: the common part of HumanEval-X and HumanEvalPack."""

from __future__ import annotations

import re

from counterlens.datasets.base import Problem, TestForm, Tests
from counterlens.datasets.files import JsonRecord

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


def translated(record: JsonRecord, dataset: str, function: str | None, description: str) -> Problem:
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
    found = _METHOD.search(record.text("declaration"))
    return f"Solution.{found[1]}" if found else None
