"""Closed questions: scripted models that always say yes, go by the text, or know."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any, cast

import numpy as np
import pytest

from counterlens.models.base import Capability, Model, Prompt, TokenScores
from counterlens.probes.equivalence.probe import EquivalenceRecord
from counterlens.probes.execution.record import ExecutionRecord
from counterlens.probes.localisation.probe import LocalisationRecord
from counterlens.probes.options import make
from counterlens.probes.probe import Context
from counterlens.probes.prompts.closed import WeighedQuestion, choose
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import ProbeRun, run_targets
from counterlens.probes.runtime.record import RuntimeRecord
from counterlens.probes.subjects import targets_in
from counterlens.progress import Steps
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.probes.comprehension.test_answers import SOURCE, follows, knows, numbered, two_programs
from tests.probes.execution.asking import Scripted, documents

Weight = Callable[[str, str], float]


class Weighing(Scripted):
    """A model whose log-probability of an answer is a function of the question and the answer."""

    info = replace(Scripted.info, capabilities=frozenset({Capability.COMPLETE, Capability.SCORE}))

    def __init__(self, weight: Weight, answer: Callable[[str], str] = lambda _: "1") -> None:
        super().__init__(answer)
        self._weight = weight
        self.requests = 0

    def score_continuations(
        self, context: str, continuations: Sequence[str], *, unscored: Sequence[int], **_: Any
    ) -> list[TokenScores]:
        self.requests += 1
        return [self._scores(context, text, read) for text, read in zip(continuations, unscored, strict=True)]

    def _scores(self, context: str, text: str, read: int) -> TokenScores:
        """Two tokens: what is read, and the answer."""
        data = text.encode()
        weight = self._weight(context + data[:read].decode(), data[read:].decode())
        logprob, ends = np.array([math.nan, weight]), np.array([read, len(data)])
        none = np.zeros(2, np.int64)
        starts = np.array([0, read])
        return TokenScores(text, starts, ends, logprob, logprob, none, np.empty((2, 0)), (), none)


def probed(probe: str, model: Weighing, source: str = SOURCE) -> ProbeRun:
    chosen = PROBES[probe]
    context, targets = Context(cast(Model, model), best_sandbox), targets_in(Document(source))
    run = run_targets(chosen, context, targets, make(chosen.options, {}))
    documents(run)
    return run


def figures(run: ProbeRun, asked: str) -> dict[str, dict[str, Any]]:
    """The row of each way to rank the candidates, by column."""
    (table,) = [each for each in run.tables if each.title.startswith("by probabilities")]
    rows = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    return {
        row["by"]: {name: getattr(cell, "value", cell) for name, cell in row.items()}
        for row in rows
        if row["asked"] == asked
    }


def always(_: str, answer: str) -> float:
    return -0.1 if "yes" in answer else -5.0


def by_text(question: str, answer: str) -> float:
    first, second = (text.split() for text in two_programs(question))
    similarity = SequenceMatcher(None, first, second, autojunk=False).ratio()
    return math.log(similarity) if "yes" in answer else math.log(1.001 - similarity)


def known(question: str, answer: str) -> float:
    return -0.1 if answer.strip() == knows(question) else -3.0


@pytest.mark.parametrize("weight", [always, by_text, known])
def test_the_probability_of_yes_tells_a_model_that_knows_from_one_that_does_not(weight: Weight) -> None:
    run = probed("equivalence", Weighing(weight))
    (record,) = run.probed
    assert isinstance(record, EquivalenceRecord)
    rows = figures(run, "equivalent")
    model, text = rows["the model"], rows["text similarity"]
    assert model["n"] == 2 * len(record.answers)
    expected = {always: 0.5, by_text: text["AUROC"], known: 1.0}[weight]
    assert model["AUROC"] == pytest.approx(expected, abs=0.03 if weight is by_text else 1e-9)
    assert model["first is right"] == (
        0.5 if weight is always else 1.0 if weight is known else model["first is right"]
    )
    assert text["first is right"] is None


@pytest.mark.parametrize("weight", [always, by_text, known])
def test_a_model_that_writes_has_no_probabilities_and_is_right_as_often_as_it_knows(weight: Weight) -> None:
    class Writing(Weighing):
        info = Scripted.info

    def says(question: str) -> str:
        return "Yes." if weight(question, " yes") > weight(question, " no") else "No."

    run = probed("equivalence", Writing(weight, says))
    assert not any(table.title == "by probabilities" for table in run.tables)
    (record,) = run.probed
    assert isinstance(record, EquivalenceRecord)
    alike = [(each.similarity > 0.5005) is each.equivalent for each in record.answers]
    expected = {always: 0.5, by_text: sum(alike) / len(alike), known: 1.0}[weight]
    (row,) = next(table.rows for table in run.tables if table.title == "equivalence")
    assert getattr(row[1], "value", None) == expected
    assert {each.probability for each in record.answers} == {()}


def test_the_line_of_a_bug_is_chosen_among_those_of_the_body() -> None:
    written = probed("localisation", Weighing(lambda *_: -1.0))
    (record,) = written.probed
    assert isinstance(record, LocalisationRecord)
    truths = {bug.first.program: bug.first.lines for bug in record.bugs}
    for bug in record.bugs:
        lines = bug.first.program.splitlines()
        assert [lines[number - 1] for number in bug.first.candidates] == [
            line for line in lines if line.strip() and not line.startswith("def ")
        ]
    chance = figures(written, "line of a bug")["the model"]
    assert chance["reciprocal rank"] == pytest.approx(2 / (len(record.bugs[0].first.candidates) + 1), abs=0.1)

    def right(question: str, answer: str) -> float:
        lines = truths.get(numbered(question), ())
        return -1.0 if answer.strip().isdigit() and int(answer) in lines else -2.0

    row = figures(probed("localisation", Weighing(right)), "line of a bug")["the model"]
    assert (row["first is right"], row["reciprocal rank"]) == (1, 1)
    assert row["of a random order"] < 0.5


def test_lines_that_run_and_the_next_one_are_chosen() -> None:
    def right(question: str, answer: str) -> float:
        return -0.1 if answer.strip() == follows(question) else -4.0

    run = probed("runtime", Weighing(right, follows))
    (record,) = run.probed
    assert isinstance(record, RuntimeRecord)
    assert figures(run, "line runs")["the model"]["AUROC"] == 1
    following = figures(run, "next line")
    assert (following["the model"]["first is right"], following["the model"]["reciprocal rank"]) == (1, 1)
    assert following["the line below"]["first is right"] < 1 or record.calls[0].next_lines
    assert 0 in record.calls[0].next_lines[0].candidates


HALVES = '''\
def halves(number: int) -> int:
    """Count how often a number can be halved.

    >>> halves(12)
    2
    >>> halves(20)
    2
    >>> halves(8)
    3
    >>> halves(7)
    0
    """
    times = 0
    while number % 2 == 0:
        number //= 2
        times += 1
    return times
'''


def halves(question: str, answer: str) -> float:
    """That of a model that knows what `halves` returns."""
    call = re.findall(r"assert halves\((\d+)\) ==\Z", question)
    number, times = int(call[0]) if call else 1, 0
    while number % 2 == 0:
        number, times = number // 2, times + 1
    return -0.1 if call and answer == f" {times}\n" else -4.0


@pytest.mark.parametrize("task", ["runtime", "execution"])
def test_the_output_is_chosen_among_those_of_other_calls(task: str) -> None:
    run = probed(task, Weighing(halves), HALVES)
    (record,) = run.probed
    if isinstance(record, RuntimeRecord):
        assert [call.call for call in record.calls] == ["halves(8)", "halves(12)"]  # most often: 2
        choices = [call.chosen for call in record.calls]
    else:
        assert isinstance(record, ExecutionRecord)
        choices = list(record.choices)
        assert sorted(choice.truth for choice in record.choices) == ["0", "2", "3"]  # each is right once
        assert PROBES[task].excess(record) == pytest.approx(2 / 3)
    assert {choice.candidates for choice in choices if choice} == {("0", "2", "3")}
    row = figures(run, "output among others")["the model"]
    assert (row["n"], row["first is right"], row["reciprocal rank"]) == (len(choices), 1, 1)
    assert {"like the call", "shortest"} < figures(run, "output among others").keys()


def test_versions_that_break_it_give_other_outputs_if_all_calls_return_the_same() -> None:
    source = "def small(number: int) -> bool:\n    return number < 10\n\n\nassert small(3) is True\n"

    def right(_: str, answer: str) -> float:
        return -0.1 if answer == " True\n" else -4.0

    run = probed("execution", Weighing(right), source)
    (record,) = run.probed
    assert isinstance(record, ExecutionRecord)
    assert [choice.candidates for choice in record.choices] == [("False", "True")] * len(record.choices)
    assert record.choices[0].truth == "True"
    assert figures(run, "output among others")["the model"]["n"] == len(record.choices)


def test_many_questions_are_asked_in_few_requests_and_in_their_order() -> None:
    model = Weighing(
        lambda question, answer: -float(re.findall(r"\d+", question)[-1]) if answer == " a" else 0.0
    )
    asked = [WeighedQuestion(Prompt(f"what they share\n{number}"), ("a", "b", "c")) for number in range(100)]
    answers = choose(cast(Model, model), asked, Steps(), "asking")
    assert model.requests == 3
    for number, answer in enumerate(answers):
        assert np.exp(answer).sum() == pytest.approx(1)
        assert answer[0] - answer[1] == pytest.approx(-number)
