"""Prompts for a harness that asks its own model: laid out once, judged in the sandbox, summed up as pairs."""

from __future__ import annotations

import ast
import json
import tomllib
from pathlib import Path

import pytest
from counterlens_inspect.prompt_set import (
    COUNTERFACTUAL,
    ORIGINAL,
    PLACEBO,
    PromptSample,
    PromptSet,
    ScoredSample,
    effect_of,
    share_right,
)

from counterlens.errors import DataError
from counterlens.evaluation.settings import RunSettings
from counterlens.models.chat.turn import INSTRUCTION
from counterlens.sandbox.registry import best_sandbox

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins" / "inspect-tasks"
PROMPT = 'def larger(a: int, b: int) -> int:\n    """The larger of two numbers."""\n'
BODY = "    if a > b:\n        result = a\n    else:\n        result = b\n    return result\n"
TEST = "def check(candidate):\n    assert candidate(1, 2) == 2\n    assert candidate(3, 2) == 3\n"
OPEN = "def untested(a):\n    return a\n"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A HumanEval of two problems, of which one has nothing to change."""
    path = tmp_path_factory.mktemp("data") / "HumanEval.jsonl"
    rows = [
        {"task_id": "HumanEval/0", "prompt": PROMPT, "canonical_solution": BODY, "entry_point": "larger"},
        {"task_id": "HumanEval/1", "prompt": OPEN[:17], "canonical_solution": OPEN[17:]}
        | {"entry_point": "untested"},
    ]
    tests = [TEST, "def check(candidate):\n    assert candidate(1) == 1\n"]
    path.write_text(
        "".join(json.dumps({**row, "test": test}) + "\n" for row, test in zip(rows, tests, strict=True))
    )
    return str(path)


@pytest.fixture(scope="module")
def prompts(data: str) -> PromptSet:
    given = {"mutations": ("if-else-flip",), "placebos": 1}
    return PromptSet.of(RunSettings.of(["completion"], data, given), best_sandbox())


def of_kind(prompts: PromptSet, which: str) -> PromptSample:
    return next(one for one in prompts.samples if one.which == which)


def test_samples_are_the_original_what_is_compared_with_it_and_a_placebo(prompts: PromptSet) -> None:
    original = of_kind(prompts, ORIGINAL)
    assert original.id == "HumanEval/0:original"
    assert {one.which for one in prompts.samples} == {ORIGINAL, COUNTERFACTUAL, PLACEBO}
    assert {one.original for one in prompts.samples} <= {one.id for one in prompts.samples}
    assert of_kind(prompts, COUNTERFACTUAL).mutation == "if-else-flip"
    assert original.messages[0] == ("system", INSTRUCTION)
    assert "def larger" in original.messages[1][1]
    assert set(prompts.left_out) == {"HumanEval/1"}
    assert prompts.max_tokens >= 256


def test_a_reply_is_read_like_one_of_a_chat_model_and_judged_by_the_tests(prompts: PromptSet) -> None:
    original, flipped = of_kind(prompts, ORIGINAL), of_kind(prompts, COUNTERFACTUAL)
    shown = original.messages[1][1]
    rest = "        result = a\n    else:\n        result = b\n    return result\n"
    assert shown.rstrip("`\n").endswith("if a > b:")
    whole = prompts.judge(original.id, f"Here it is:\n```python\n{rest}\nprint(larger(1, 2))\n```")
    assert whole.right
    assert "print" not in whole.completion  # it ends with the function
    copied = prompts.judge(flipped.id, f"```python\n{rest}```")
    assert copied.right is False
    assert "assert candidate(1, 2) == 2" in copied.explanation
    mirrored = rest.replace("= a", "= c").replace("= b", "= a").replace("= c", "= b")
    assert prompts.judge(flipped.id, f"```python\n{mirrored}```").right
    assert prompts.judge(original.id, "I cannot do that.").right is False


def test_data_of_which_nothing_can_be_asked_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "HumanEval.jsonl"
    row = {"task_id": "HumanEval/1", "prompt": OPEN[:17], "canonical_solution": OPEN[17:], "test": TEST}
    path.write_text(json.dumps(row | {"entry_point": "untested"}))
    with pytest.raises(DataError, match="untested fails its own tests"):
        PromptSet.of(RunSettings.of(["completion"], str(path)), best_sandbox())


def scored(which: str, problem: str, right: bool, number: int = 0) -> ScoredSample:
    return ScoredSample(f"{problem}:{which}:{number}", which, f"{problem}:{ORIGINAL}:0", problem, right)


def test_effects_are_over_informative_pairs_and_the_noise_floor_over_placebos() -> None:
    found = [
        scored(ORIGINAL, "a", True),
        scored(COUNTERFACTUAL, "a", False),  # lost
        scored(COUNTERFACTUAL, "a", True, 1),  # held
        scored(PLACEBO, "a", True),
        scored(ORIGINAL, "b", False),
        scored(COUNTERFACTUAL, "b", False),  # uninformative
        scored(COUNTERFACTUAL, "c", True),  # its original has no verdict
    ]
    assert (share_right(found, ORIGINAL).value, share_right(found, ORIGINAL).n) == (0.5, 2)
    assert (effect_of(found).value, effect_of(found).n) == (0.5, 2)
    assert effect_of(found, PLACEBO).value == 0
    assert effect_of([]).value is None


def test_inspect_finds_the_tasks_through_its_entry_point() -> None:
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    (module,) = project["entry-points"]["inspect_ai"].values()
    names = {
        target.id
        for node in ast.parse((EXAMPLE / f"{module.replace('.', '/')}.py").read_text()).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    assert "completion" in names


def test_the_task_of_inspect_has_these_samples(data: str, prompts: PromptSet) -> None:
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    from counterlens_inspect import tasks

    made = {"mutations": "if-else-flip", "placebos": 1, "allow_weaker_sandbox": True}
    task = tasks.completion(data=data, **made)
    assert [sample.id for sample in task.dataset] == [one.id for one in prompts.samples]
    assert [message.text for message in task.dataset[0].input] == [
        text for _, text in prompts.samples[0].messages
    ]
