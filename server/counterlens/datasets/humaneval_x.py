"""HumanEval-X (Zheng et al. 2023): HumanEval written by hand in other languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from counterlens.datasets.base import Problem, TestForm, Tests
from counterlens.datasets.files import Record
from counterlens.datasets.humanevalpack import java_method, language_of_task
from counterlens.datasets.recorded import RecordLoader

_FORMS = {"python": TestForm.PYTHON, "java": TestForm.JAVA_MAIN}
_CHECKED = re.compile(r"^check\((\w+)\)", re.MULTILINE)


class HumanEvalX(RecordLoader):
    """`humaneval_LANGUAGE.jsonl.gz`; Python and Java can be run, the others only read."""

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

    def problem(self, record: Record) -> Problem:
        """As `RecordLoader.problem`."""
        prompt, task = record.text("prompt"), record.text("task_id")
        language = language_of_task(record, task)
        form, test = _FORMS.get(language), record.text("test")
        return Problem(
            id=task,
            dataset=self.id,
            language=language,
            source=prompt + record.text("canonical_solution"),
            function=_function(language, record, test),
            prompt=prompt,
            description=str(record.fields.get("text", "")),
            tests=Tests(form, test + "\n") if form else None,
        )


def _function(language: str, record: Record, test: str) -> str | None:
    if language == "java":
        return java_method(record)
    checked = _CHECKED.search(test) if language == "python" else None
    return checked[1] if checked else None
