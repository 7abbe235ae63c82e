"""MBPP (Austin et al. 2021): short Python programs with a description in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from counterlens.datasets.base import Problem, TestForm, Tests
from counterlens.datasets.files import JsonRecord, RecordLoader
from counterlens.syntax.document import Document
from counterlens.syntax.functions import functions


class Mbpp(RecordLoader):
    """`mbpp.jsonl` (974 problems), or `sanitized-mbpp.json` (427)."""

    id = "mbpp"
    title = "MBPP"
    source = "github.com/google-research/google-research/tree/master/mbpp"
    licence = "CC-BY-4.0"
    published: ClassVar[Mapping[str, str]] = {
        "ccf64ceae9c5403bf50a044cb6d505bfd2a2963ee58338ba268fd65beab92a9f": "full (2021)"
    }
    hub: ClassVar[tuple[str, str | None, str] | None] = (
        "google-research-datasets/mbpp",
        "full",
        "train+test+validation+prompt",
    )
    fields = ("task_id", "code", "text|prompt", "test_list")

    def problem(self, record: JsonRecord) -> Problem:
        number = record.fields.get("task_id")
        if not isinstance(number, int | str):
            raise record.wrong("`task_id` is neither a number nor a string")
        source, listed = record.text("code"), record.texts("test_list")
        setup: list[str] = []
        if "test_imports" in record.fields:  # the sanitized version
            setup = record.texts("test_imports")
        elif "test_setup_code" in record.fields:
            setup = [record.text("test_setup_code")]
        more = record.texts("challenge_test_list") if "challenge_test_list" in record.fields else []
        tests = "\n".join(line for line in (*setup, *listed, *more) if line)
        return Problem(
            id=f"MBPP/{number}",
            dataset=self.id,
            language="python",
            source=source,
            function=tested_function(source, "\n".join(listed)),
            description=record.text("text", "prompt"),
            tests=Tests(TestForm.PYTHON, f"{tests}\n"),
            details={"assertion": listed[0]} if listed else {},
        )


class MbppTest(Mbpp):
    """The test split of MBPP, on which figures are published: tasks 11 to 510 (Austin et al. 2021)."""

    id = "mbpp-test"
    whole = Mbpp.id
    title = "MBPP, test split"
    hub = None
    _tasks = range(11, 511)

    def recognises(self, path: Path) -> int:  # noqa: ARG002 - chosen by its name
        return 0

    def problems(self, path: Path) -> Iterator[Problem]:
        for problem in super().problems(path):
            number = problem.id.rpartition("/")[2]
            if number.isdecimal() and int(number) in self._tasks:
                yield problem


def tested_function(source: str, tests: str) -> str | None:
    """The top-level function of a program that its tests call; None if they call none."""
    names = [function.qualname for function in functions(Document(source)) if "." not in function.qualname]
    called = [name for name in names if re.search(rf"\b{re.escape(name)}\s*\(", tests)]
    return called[-1] if called else None
