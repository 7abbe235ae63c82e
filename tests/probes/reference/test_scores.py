"""The usual scores: what is asked, what an answer counts, and what is said beside the published values."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.datasets import Problem, open_dataset
from counterlens.errors import OptionError, SourceError
from counterlens.evaluation.engines.base import EvaluationEngine
from counterlens.evaluation.engines.ray.engine import RayEngine
from counterlens.evaluation.engines.registry import LocalEngine
from counterlens.metrics.effects import wilson
from counterlens.models.base import Api, Capability, Completion, Model, ModelInfo, Prompt
from counterlens.probes.dataset_subjects import targets_of
from counterlens.probes.options import make
from counterlens.probes.probe import Context
from counterlens.probes.record import read, write_record
from counterlens.probes.reference.functions import java_program
from counterlens.probes.reference.probe import ReferenceOptions, ReferenceProbe
from counterlens.probes.reference.published import agreement, published_scores, published_table
from counterlens.probes.reference.record import ReferenceRecord
from counterlens.probes.reference.registry import TITLES
from counterlens.probes.runner import ProbeRun, run_targets
from counterlens.sandbox.base import Sandbox
from counterlens.sandbox.registry import best_sandbox

PROBE = ReferenceProbe()
KNOWN = "Qwen2.5-Coder 0.5B Instruct Q4_K_M"
CHAT = frozenset({Capability.COMPLETE, Capability.INSTRUCT, Capability.EXACT})


class Scripted:
    """A model that answers by a function of the prompt."""

    def __init__(
        self,
        answer: Callable[[Prompt], str],
        *,
        api: Api = Api.COMPLETIONS,
        capabilities: frozenset[Capability] = CHAT,
        where: str = "local",
        name: str = KNOWN,
    ) -> None:
        self.info = ModelInfo("scripted", name, "0", where, capabilities, api=api)
        self._answer = answer
        self.asked: list[Prompt] = []

    def offers(self, capability: Capability, **_: Any) -> bool:
        return capability in self.info.capabilities

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        self.asked += prompts
        return [Completion(self._answer(prompt), "stop", 1) for prompt in prompts]


def run(data: Path, model: Scripted, limit: int | None = None, **options: Any) -> ProbeRun:
    """Ask a scripted model about the problems of some data."""
    targets = targets_of(open_dataset(data), limit=limit)
    context = Context(cast(Model, model), best_sandbox)
    return run_targets(PROBE, context, targets, make(ReferenceOptions, options))


def records(ended: ProbeRun) -> list[ReferenceRecord]:
    """The records, each checked to be the same when read back."""
    kept = [cast(ReferenceRecord, record) for record in ended.probed]
    assert all(read(write_record(record), ReferenceRecord) == record for record in kept)
    return kept


def scores(ended: ProbeRun) -> list[dict[str, bool]]:
    return [dict(answer.scores) for record in records(ended) for answer in record.answers]


def solved(problems: Sequence[Problem], prompt: Prompt) -> Problem:
    """The problem that a prompt is about."""
    return next(
        problem
        for problem in problems
        if (problem.prompt or problem.description).strip() in prompt.text.replace("\r\n", "\n")
    )


@pytest.fixture
def plus(published: Path) -> Path:
    return published / "humanevalplus"


def test_a_chat_model_gets_the_published_messages_and_its_answer_is_begun(plus: Path) -> None:
    problems = list(open_dataset(plus))
    model = Scripted(lambda prompt: solved(problems, prompt).source)
    ended = run(plus, model)
    assert scores(ended) == [{"humaneval": True, "humaneval+": True}] * len(problems)
    (prompt, *_) = model.asked
    shown = (problems[0].prompt or "").strip()
    assert prompt.text == f"Can you complete the following Python function?\n```python\n{shown}\n```\n"
    reply = prompt.reply
    assert reply is not None
    assert (reply.by_template, reply.begun) == (True, "```python\n")
    assert reply.instruction.startswith("You are an intelligent programming assistant")
    assert "\n```" in prompt.stop.texts
    assert prompt.max_tokens == 768


def test_the_tests_of_humaneval_and_those_that_were_added_count_apart(plus: Path) -> None:
    problem = next(iter(open_dataset(plus)))
    assert problem.base_tests is not None
    assert problem.tests is not None
    name = problem.function or ""
    # Right on the inputs of the base tests alone, as a program that only passes HumanEval is.
    listed = problem.base_tests.text.partition("inputs = ")[2].partition("\n")[0]
    cheat = (
        f"{problem.source}\n_right = {name}\n\n\ndef {name}(*given):\n"
        f"    return _right(*given) if list(given) in {listed} else None\n"
    )
    ended = run(plus, Scripted(lambda _: cheat), limit=None)
    assert scores(ended)[0] == {"humaneval": True, "humaneval+": False}
    assert "failed" in records(ended)[0].answers[0].failed


def test_an_endpoint_begins_the_answer_itself(plus: Path) -> None:
    problems = list(open_dataset(plus))

    def answer(prompt: Prompt) -> str:
        return f"Certainly! Here it is:\n\n```python\n{solved(problems, prompt).source}\n```\nIt returns …"

    model = Scripted(answer, api=Api.CHAT, capabilities=frozenset({Capability.COMPLETE}), where="localhost")
    assert all(each["humaneval"] for each in scores(run(plus, model)))
    assert not model.asked[0].stop.texts


def test_a_model_without_a_chat_continues_the_program(plus: Path) -> None:
    problems = list(open_dataset(plus))

    def answer(prompt: Prompt) -> str:
        problem = solved(problems, prompt)
        return problem.source[len(problem.prompt or "") :]

    model = Scripted(answer, capabilities=frozenset({Capability.COMPLETE}))
    assert all(each["humaneval+"] for each in scores(run(plus, model)))
    assert model.asked[0].text == problems[0].prompt
    assert model.asked[0].reply is None


def test_what_follows_the_function_is_not_run(plus: Path) -> None:
    problems = list(open_dataset(plus))
    model = Scripted(lambda prompt: f"{solved(problems, prompt).source}\nprint(no_such_name)\n")
    assert all(each["humaneval"] for each in scores(run(plus, model)))


def test_a_wrong_function_and_none_are_wrong(plus: Path) -> None:
    for said in ("def nothing():\n    pass\n", "", "I cannot.", "def ("):
        assert not any(each["humaneval"] for each in scores(run(plus, Scripted(lambda _, said=said: said))))


def test_mbpp_shows_the_description_with_the_first_test(published: Path) -> None:
    problems = list(open_dataset(published / "mbpp"))
    model = Scripted(lambda prompt: solved(problems, prompt).source)
    ended = run(published / "mbpp", model)
    assert all(each == {"mbpp-whole": True} for each in scores(ended))
    assert problems[0].details["assertion"] in model.asked[0].text
    assert 'Python function?\n```python\n"""\n' in model.asked[0].text


OUTPUTS: list[tuple[Callable[[str, str], str], bool]] = [
    (lambda call, output: f"assert {call} == {output}\n", True),
    (lambda call, output: f" {output}\n", True),  # noqa: ARG005
    (lambda call, output: f"Step 1 …\n[ANSWER]\nassert {call} == {output}\n[/ANSWER]", True),
    (lambda call, output: f"assert {call} == ({output}) if True else 0", True),  # it is run
    (lambda call, output: f"assert {output} == {call}", False),  # the call itself says nothing
    (lambda call, output: f"assert {call} == [{output}]", False),
    (lambda call, output: "", False),  # noqa: ARG005
]


@pytest.mark.parametrize(("answer", "right"), OUTPUTS)
@pytest.mark.parametrize("score", ["cruxeval-o", "cruxeval-o-steps"])
def test_an_output_is_read_and_counted_as_published(
    published: Path, answer: Callable[[str, str], str], right: bool, score: str
) -> None:
    problem = next(iter(open_dataset(published / "cruxeval")))
    said = answer(problem.call or "", problem.output or "")
    ended = run(published / "cruxeval", Scripted(lambda _: said), score=(score,))
    assert scores(ended)[0] == {score: right}


def test_an_input_is_right_if_the_function_returns_the_output_for_it(published: Path) -> None:
    problem = next(iter(open_dataset(published / "cruxeval")))
    for said, right in (
        (f"assert {problem.call} == {problem.output}", True),
        (f"{problem.call}", True),
        (f"assert {problem.output} == {problem.output}", False),
        ("assert f(no_such_name) == 1", False),
        ("assert f( == 1", False),
    ):
        ended = run(published / "cruxeval", Scripted(lambda _, said=said: said), score=("cruxeval-i",))
        assert scores(ended)[0] == {"cruxeval-i": right}, said


def test_cruxeval_asks_by_its_own_prompts(published: Path) -> None:
    problem = next(iter(open_dataset(published / "cruxeval")))
    model = Scripted(lambda _: "1")
    run(published / "cruxeval", model)
    asked = [prompt.text for prompt in model.asked[:4]]
    assert [text.rpartition("[/PYTHON]\n")[2] for text in asked] == ["[ANSWER]\n"] * 2 + ["[THOUGHT]\n"] * 2
    given = (problem.call or "")[2:-1]
    assert f"{problem.source.rstrip()}\nassert f({given}) == ??\n[/PYTHON]" in asked[0]
    assert f"{problem.source.rstrip()}\nassert f(??) == {problem.output}\n[/PYTHON]" in asked[1]
    reply = model.asked[0].reply
    assert reply is not None
    assert not reply.by_template  # the report asked its chat models in the same way, as text


def test_the_published_value_is_beside_the_measured_one(plus: Path) -> None:
    problems = list(open_dataset(plus))
    ended = run(plus, Scripted(lambda prompt: solved(problems, prompt).source))
    (table,) = ended.tables
    assert table.columns[:5] == ("score", "n", "yours", "published", "agrees")
    rows = {row[0]: row for row in table.rows}
    assert rows["HumanEval"][3] == "61.6%"
    assert rows["HumanEval+"][3] == "57.3%"
    assert "HumanEval: 100.0%" in ended.summary
    other = run(plus, Scripted(lambda prompt: solved(problems, prompt).source, name="another"))
    assert [row[3:5] for row in other.tables[0].rows] == [(None, None)] * 2
    assert "published" not in other.summary


def test_functions_without_a_score_are_refused(published: Path, plus: Path) -> None:
    with pytest.raises(SourceError, match="no usual score of functions of humaneval-x"):
        run(published / "humaneval-x" / "humaneval_python.jsonl.gz", Scripted(lambda _: ""))
    with pytest.raises(SourceError, match="no mbpp of functions of humanevalplus"):
        run(plus, Scripted(lambda _: ""), score=("mbpp",))
    with pytest.raises(OptionError, match="--score cannot be 'humanevil'"):
        make(ReferenceOptions, {"score": ("humanevil",)})


def test_only_the_chosen_score_counts(plus: Path) -> None:
    problems = list(open_dataset(plus))
    model = Scripted(lambda prompt: solved(problems, prompt).source)
    assert scores(run(plus, model, score=("humaneval+",)))[0] == {"humaneval+": True}


def test_a_java_program_is_read_from_a_block_with_or_without_its_class(published: Path) -> None:
    problem = next(iter(open_dataset(published / "humaneval-x" / "humaneval_java.jsonl.gz")))
    whole = java_program(f"Here:\n```java\n{problem.source}\n```", problem)
    assert problem.source.strip() in whole
    body = problem.source[len(problem.prompt or "") :]
    method = (problem.prompt or "").rpartition("*/")[2] + body.rstrip().removesuffix("}")
    alone = java_program(f"```java\n{method}\n```", problem)
    assert alone.count("class Solution") == 1
    assert alone.count("{") == alone.count("}")
    public = java_program(problem.source.replace("class Solution", "public class Solution"), problem)
    assert "public class Solution" not in public


@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no Java development kit (javac)")
@pytest.mark.parametrize("engine", [LocalEngine, RayEngine])
def test_java_is_judged_by_the_tests_of_the_benchmark_in_a_run(
    engine: Callable[[Sandbox], EvaluationEngine], published: Path
) -> None:
    data = published / "humaneval-x" / "humaneval_java.jsonl.gz"
    problems = list(open_dataset(data))[:2]

    def answer(prompt: Prompt) -> str:
        problem = solved(problems, prompt)
        return f"Sure:\n```java\n{problem.source}\n```" if problem is problems[0] else "```java\nno\n```"

    model = Scripted(answer)
    targets = [target for target in targets_of(open_dataset(data)) if target.problem in problems]
    sandbox = engine(best_sandbox()).sandbox
    ended = run_targets(PROBE, Context(cast(Model, model), lambda: sandbox), targets, ReferenceOptions())
    assert scores(ended) == [{"humaneval-java": True}, {"humaneval-java": False}]
    assert model.asked[0].text.startswith("Please continue to complete the function")


def test_the_table_names_known_scores_and_where_they_are_from() -> None:
    table = published_table()
    assert set(table.conditions) <= set(TITLES)
    for model in table.model:
        assert set(model.scores) <= set(table.conditions)
        assert model.source
        assert all(0 < value < 100 for value in model.scores.values())
        known = published_scores(model.name)
        assert known == model
    assert published_scores("Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF") == published_scores(
        "qwen2.5-coder_1.5b instruct q4_k_m"
    )
    assert published_scores("qwen2.5-coder:0.5b") == published_scores("Qwen2.5-Coder-0.5B-Instruct")
    assert published_scores("qwen2.5-coder:0.5b-base") == published_scores("Qwen2.5-Coder-0.5B")
    assert published_scores("Qwen2.5-Coder-7B-Instruct") is None


@given(right=st.integers(0, 60), wrong=st.integers(0, 60), value=st.floats(0.1, 99.9))
def test_a_value_agrees_exactly_if_it_is_inside_the_interval(right: int, wrong: int, value: float) -> None:
    yours = wilson(right, right + wrong)
    shown = agreement(value, yours)
    if yours.low is None or yours.high is None:
        assert shown == ""
    else:
        assert (shown == "yes") == (100 * yours.low <= value <= 100 * yours.high)
        assert shown != "no, lower" or 100 * yours.high < value
        assert shown != "no, higher" or value < 100 * yours.low
    assert agreement(None, yours) == ""
