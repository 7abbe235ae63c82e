"""CoRe's questions by the probabilities of their candidates: who knows, who always says yes, who writes."""

from __future__ import annotations

import re
from typing import Any, cast

import pytest

from counterlens.datasets.core import CoreNode, CoreTask
from counterlens.dependence import dependences
from counterlens.models.base import Model
from counterlens.probes.dependence.examined import ExaminedFunction
from counterlens.probes.dependence.published import labels_of_graph
from counterlens.probes.dependence.record import DependenceRecord
from counterlens.probes.options import make
from counterlens.probes.probe import Context
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import ProbeRun, run_targets
from counterlens.probes.subjects import targets_in
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.probes.comprehension.test_closed import Weighing, figures
from tests.probes.dependence.core_examples import TOTAL
from tests.probes.execution.asking import Scripted, documents

LABELS = labels_of_graph(ExaminedFunction.of(dependences(TOTAL, "total")))


def node(text: str) -> CoreNode:
    name, _, line = text.strip("()").rpartition(", ")
    return name, int(line)


def knows(question: str, answer: str) -> float:
    """Right about both forms, by the dependence graph."""
    last = question.rstrip().splitlines()[-2 if question.endswith("Answer:") else -1]
    if named := re.search(r"Does (?:line )?(.+) have (data|control) dependence over (?:line )?(.+) in", last):
        sources = LABELS.sources(CoreTask(named[2]), node(named[3]))
        return -0.1 if (answer.strip() == "yes") == (node(named[1]) in sources) else -3.0
    sought = re.search(r"value that (\(.+\)) \(variable|whether line (\d+) runs", last)
    assert sought is not None
    task = CoreTask.DATA if sought[1] else CoreTask.CONTROL
    lines = {line for _, line in LABELS.sources(task, node(sought[1] or sought[2]))}
    return -1.0 if int(answer) in lines else -9.0


def asked(model: Any) -> ProbeRun:
    chosen = PROBES["dependence"]
    context, targets = Context(cast(Model, model), best_sandbox), targets_in(Document(TOTAL))
    run = run_targets(chosen, context, targets, make(chosen.options, {"protocol": "core", "questions": 8}))
    documents(run)
    return run


@pytest.mark.parametrize("form", ["data dependence", "control dependence"])
def test_who_knows_has_everything_right_and_always_yes_is_a_coin(form: str) -> None:
    knowing = asked(Weighing(knows))
    yes_or_no, line = figures(knowing, f"{form}: yes or no"), figures(knowing, f"{form}: line of a source")
    assert yes_or_no["the model"]["AUROC"] == 1
    assert yes_or_no["the model"]["first is right"] == 1
    assert (line["the model"]["first is right"], line["the model"]["reciprocal rank"]) == (1, 1)
    assert line["the model"]["of a random order"] < 1
    assert {"the model", "the rule", "near"} == yes_or_no.keys() == line.keys()
    saying = figures(
        asked(Weighing(lambda _, answer: -0.1 if "yes" in answer else -3.0)), f"{form}: yes or no"
    )
    assert saying["the model"]["AUROC"] == 0.5
    assert 0 < saying["the model"]["first is right"] <= 0.5  # there may be fewer true pairs


def test_what_is_written_stays_beside_it_and_who_only_writes_has_no_probabilities() -> None:
    (record,) = asked(Weighing(knows)).probed
    assert isinstance(record, DependenceRecord)
    assert not any(answer.read for answer in record.answers)  # it writes nothing of the form
    assert {answer.candidates for answer in record.answers if answer.source and answer.logprobs} == {
        ("yes", "no")
    }
    writing = asked(Scripted(lambda _: '{"DataDependence": false}'))
    (record,) = writing.probed
    assert isinstance(record, DependenceRecord)
    assert not any(answer.logprobs for answer in record.answers)
    assert not any(table.title.startswith("by probabilities") for table in writing.tables)
