"""Answers that copy the worked example of their prompt, and answers without a model beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from counterlens.models.base import Api, Completion
from counterlens.probes.execution.language import execution_of
from counterlens.probes.execution.prompts import STYLES, prompt
from tests.probes.execution.asking import Scripted, probed, table

SOURCE = "\n\n".join(
    f'def plus_{n}(x):\n    """Add.\n\n    >>> plus_{n}(1)\n    {1 + n}\n    """\n    return x + {n}\n'
    for n in range(12)
)


@pytest.mark.parametrize("api", [Api.COMPLETIONS, Api.CHAT])
@pytest.mark.parametrize(
    ("style", "language", "text", "copied"),
    [
        ("direct", "python", "['tea', 'milk']", True),
        ("direct", "python", "```python\n[\"tea\",  'milk']\n```", True),
        ("direct", "python", "['tea']", False),
        ("direct", "java", 'List.of("tea", "milk")', True),
        ("steps", "python", "1. Something else.\nAnswer: 2", True),
        ("steps", "java", "// 1. Something else.\n// Answer: 2", True),
        ("steps", "python", "1. Something else.\nAnswer: 3", False),
        ("steps", "python", "2", False),
    ],
)
def test_an_answer_with_the_value_of_the_example_is_a_copy(
    style: str, language: str, text: str, copied: bool, api: Api
) -> None:
    info = replace(Scripted.info, api=api)
    asked = prompt(info, style, "def f(): ...", "f()", language=language)
    truth = execution_of(language).values.literal("7")
    assert truth is not None
    read = STYLES[style].read(Completion(text, "stop", 9), truth.value, language=language, asked=asked)
    assert read.copied is copied


def test_the_right_answer_is_no_copy() -> None:
    asked = prompt(Scripted.info, "steps", "def f(): ...", "f()")
    assert not STYLES["steps"].read(Completion("Answer: 2", "stop", 9), 2, asked=asked).copied


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda text: " 1. So.\nAnswer: 2" if "step by step" in text else " ['tea', 'milk']", "no better"),
        (lambda text: f"{' Answer: ' if 'step by step' in text else ' '}{_sum(text)}", "Calls whose"),
    ],
)
def test_a_report_first_says_that_a_model_is_no_better(answer: Callable[[str], str], says: str) -> None:
    run = probed("execution", answer, SOURCE)
    rows = table(run, "beside answers without a model")
    assert set(rows) == {"direct", "step by step"}
    if says == "Calls whose":
        assert run.summary.startswith(says)
        assert rows["direct"] == (12, 1.0, pytest.approx(1 / 12), 0.0, 0)
        return
    assert run.summary.startswith("The model does no better than an answer without a model (direct): 0.00")
    assert "23 of 24 answers repeat a worked example of the prompt. Calls whose" in run.summary
    assert rows["direct"][-1] == 12
    assert rows["step by step"][-1] == 11  # one of them is right


def _sum(text: str) -> int:
    return 1 + int(text.rpartition("plus_")[2].partition("(")[0])
