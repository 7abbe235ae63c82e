"""How much a plan says will be asked, beside what is asked then."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import count
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from counterlens.evaluation.estimate import LEAST, PromptCounts, counted_prompts
from counterlens.evaluation.plan import Plan, make_plan
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.work import perform
from counterlens.models.base import Capability, Completion, Model, ModelInfo, Prompt, TokenScores, Vectors
from counterlens.probes.options import specs
from counterlens.probes.registry import PROBES
from counterlens.reports.build.evaluation import plan_lines
from counterlens.sandbox.registry import best_sandbox

FILES = {
    "cap": '''\
def cap(value, high):
    """The smaller one.

    >>> cap(3, 2)
    2
    >>> cap(1, 2)
    1
    """
    if value > high:
        rest = value - high
    else:
        rest = 0
    return value - rest
''',
    "double": '''\
def double(value):
    """Twice as much.

    >>> double(4)
    8
    """
    twice = value + value
    return twice
''',
}


def scored(text: str) -> TokenScores:
    """A text in tokens of three bytes, the same text always with the same scores."""
    data = text.encode()
    start = np.arange(0, len(data), 3)
    return TokenScores(
        text=text,
        start=start,
        end=np.minimum(start + 3, len(data)),
        logprob=np.array([-1.0 - crc32(data[: i + 3]) % 100 / 100 for i in start.tolist()]),
        entropy=np.ones(len(start)),
        rank=np.zeros(len(start), np.int64),
        alternative_logprob=np.empty((len(start), 0)),
        alternative_text=((),) * len(start),
        context=np.arange(len(start)),
    )


class Counting(Model):
    """Counts what it is asked, which does not depend on what it answers.

    A question with candidates is not counted: nothing is written, and calls decide how many there are.
    """

    info = ModelInfo("counting", "counting", "0", "local", frozenset(Capability) - {Capability.MASKED})

    def __init__(self) -> None:
        self.asked = 0

    def offers(self, capability: Capability, **_: Any) -> bool:
        return capability in self.info.capabilities

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        self.asked += sum(not prompt.candidates for prompt in prompts)
        return [Completion("7", "stop", 1, candidates=(-1.0,) * len(prompt.candidates)) for prompt in prompts]

    def score(self, text: str, **_: Any) -> TokenScores:
        self.asked += 1
        return scored(text)

    def score_continuations(self, _context: str, texts: Sequence[str], **_: Any) -> list[TokenScores]:
        self.asked += len(texts)
        return [scored(text) for text in texts]

    def embed(self, texts: Sequence[str], **_: Any) -> Vectors:
        self.asked += len(texts)
        return np.array([[1.0, float(len(text)), float(text.count(">"))] for text in texts])


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def planned(folder: Path, task: str, **more: Any) -> Plan:
    """The plan of a task; of the options those that it takes."""
    given = {name: value for name, value in {"max_tokens": 8, **more}.items() if name in taken(task)}
    return make_plan(RunSettings.of([task], f"repo:{folder}", given), best_sandbox())


def taken(task: str) -> Collection[str]:
    """The options that a task takes."""
    return specs(PROBES[task].options)


@pytest.mark.parametrize(
    ("task", "more"),
    [
        ("operator", {}),
        ("operator", {"windows": True}),
        ("completion", {}),
        ("likelihood", {}),
        ("confidence", {}),
        ("embedding", {}),
        ("execution", {}),
        ("specification", {}),
        ("dependence", {}),
        ("dependence", {"method": "prompted"}),
        ("summary", {}),
        ("memorisation", {}),
    ],
)
def test_a_plan_says_how_much_is_asked(code: Path, task: str, more: dict[str, Any]) -> None:
    plan = planned(code, task, corpus=str(code), **more)
    said = counted_prompts(plan, task)
    counting: Any = Counting()
    for target in plan.targets[task].values():
        perform(plan.settings, task, target, counting, best_sandbox())
    assert len(said.counts) == len(said.lines) == said.countable == len(FILES)
    assert said.total == counting.asked > 0


def test_functions_differ_so_all_are_counted_while_there_is_time(tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    for number in range(3 * LEAST):
        (tmp_path / "many" / f"plain{number}.py").write_text(
            f'def plain{number}(a):\n    """\n    >>> plain{number}(1)\n    2\n    """\n    return a + 1\n'
        )
    long = "".join(f"    if a < {i}:\n        b = a + b\n" for i in range(9))
    (tmp_path / "many" / "long.py").write_text(
        f"def long(a, b):\n    '''\n    >>> long(9, 1)\n    1\n    '''\n{long}    return b\n"
    )
    plan = planned(tmp_path / "many", "operator")
    whole = counted_prompts(plan, "operator")
    each = [counted_prompts(planned_of(plan, name), "operator") for name in plan.targets["operator"]]
    assert whole.total == sum(counts.total for counts in each)
    ticks = count()
    hurried = counted_prompts(plan, "operator", seconds=0.5, clock=lambda: float(next(ticks)))
    assert (len(hurried.counts), len(hurried.lines)) == (LEAST, 3 * LEAST + 1)
    assert hurried.total != whole.total


def test_functions_that_are_not_counted_have_prompts_like_those_of_their_length() -> None:
    lines = {f"f{size}": size for size in range(10, 50)}
    counts = {name: 3 * size for name, size in lines.items() if size % 3 == 0}
    counted = PromptCounts(counts, len(counts), lines)
    assert counted.of_each(lines) == pytest.approx({name: 3 * size for name, size in lines.items()})
    assert counted.total == pytest.approx(sum(3 * size for size in lines.values()))
    assert PromptCounts({}, 0, lines).total == 0


def test_a_plan_says_where_an_option_applies_that_not_all_tasks_take(code: Path) -> None:
    given = {"protocol": "codemind", "prefix_ratio": 0.5, "timeout": 9.0}
    settings = RunSettings.of(["completion", "execution"], f"repo:{code}", given)
    lines = plan_lines(make_plan(settings, best_sandbox()))
    assert "--prefix-ratio applies to completion" in lines
    assert "--protocol applies to execution" in lines
    assert sum("applies to" in line for line in lines) == 2  # not what the protocol fixes, nor --timeout


def planned_of(plan: Plan, name: str) -> Plan:
    """The plan of one function."""
    (task,) = plan.targets
    return Plan(plan.settings, plan.dataset, {task: {name: plan.targets[task][name]}}, plan.items)


def test_what_is_estimated_says_from_how_many(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(code, "confidence")
    assert plan_lines(plan)[-1] == "confidence: 2 functions for each of 1 model, about 2 texts to score"
    monkeypatch.setattr("counterlens.evaluation.estimate.LEAST", 1)
    monkeypatch.setattr("counterlens.evaluation.estimate.SECONDS", -1.0)
    assert plan_lines(plan)[-1].endswith("about 2 texts to score (estimated from 1 function)")
