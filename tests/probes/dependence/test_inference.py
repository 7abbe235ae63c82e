"""Inference with the embedded model: real answers, real probabilities."""

from __future__ import annotations

import re
from importlib.resources import files
from threading import Event

import numpy as np
import pytest

from counterlens.dependence import Kind, dependences
from counterlens.errors import Cancelled, ModelError
from counterlens.models import Capability, Prompt
from counterlens.models.base import Reply
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.dependence.examined import ExaminedFunction, Relation
from counterlens.probes.dependence.inferred import EdgeStatus, InferenceMethod, infer
from counterlens.probes.dependence.prompted import ask_pairs, read_pairs
from counterlens.probes.dependence.prompts import all_pairs
from counterlens.probes.prompts.templates import template
from counterlens.progress import Steps
from counterlens.reports.export.dependences import inferred_json

SOURCE = """\
def f(words):
    longest = ''
    for word in words:
        if len(word) > len(longest):
            longest = word
    return longest
"""
PACKAGE = "counterlens.probes.dependence"
FIELDS = {
    "control": {"statements"},
    "data": {"statements"},
    "control-pair": {"statements", "source", "target"},
    "data-pair": {"statements", "source", "target"},
    "core-control": {"lines", "function", "source", "target"},
    "core-data": {"lines", "function", "source", "target"},
    "core-trace-control": {"lines", "function", "source", "target"},
    "core-trace-data": {"lines", "function", "source", "target"},
    "core-trace-infoflow": {"lines", "function", "source", "target"},
    "core-source-control": {"lines", "function", "target"},
    "core-source-data": {"lines", "function", "target"},
    "core-source-infoflow": {"lines", "function", "target"},
}


def test_answers_keep_to_the_grammar(model: LlamaModel) -> None:
    subject = ExaminedFunction.of(dependences(SOURCE, "f"))
    (completion,) = model.complete([all_pairs(model.info, subject, Relation.DATA)])
    answer = read_pairs(completion.text, range(len(subject.parts)))
    assert not answer.unreadable
    assert not answer.impossible
    assert completion.text.lstrip().startswith('{"pairs": [')


def test_a_grammar_ends_where_its_root_does(model: LlamaModel) -> None:
    reply = Reply("", 'root ::= " " ("seven" | "eleven") "!"')
    (completion,) = model.complete([Prompt("Is it seven or eleven? It is", 50, reply=reply)])
    assert completion.text in {" seven!", " eleven!"}
    assert completion.finish == "stop"


def test_a_grammar_that_is_none_is_refused(model: LlamaModel) -> None:
    with pytest.raises(ModelError, match="grammar"):
        model.complete([Prompt("x", 5, reply=Reply("", "root ::= ("))])


def test_yes_and_no_are_compared_by_probability(model: LlamaModel) -> None:
    subject = ExaminedFunction.of(dependences(SOURCE, "f"))
    votes = ask_pairs(model, subject, Relation.CONTROL, [(3, 4), (0, 1)])
    assert list(votes) == [(3, 4), (0, 1)]
    for vote in votes.values():
        assert vote.probability is not None
        assert 0 < vote.probability < 1
        assert vote.yes == (vote.probability > 0.5)


def test_influence_follows_a_name_to_its_use(embedded: LlamaModel) -> None:
    """In this function, what the embedded model expects shows where `words` and `word` come from."""
    found = infer(embedded, dependences(SOURCE, "f"))
    data = found.beliefs[Relation.DATA]
    assert data[0, 2] > 3
    assert data[2, 3] > 3
    assert data[0, 2] > data[0, 1] + 3
    assert found.influence is not None
    matrix = found.influence.matrix(Relation.DATA)
    assert np.isnan(matrix[np.tril_indices(len(matrix))]).all()  # nothing is seen on what stands before
    edges = {(e.relation, e.source, e.target): e for e in found.edges}
    assert edges[Relation.DATA, 0, 2].status is EdgeStatus.FOUND
    assert edges[Relation.DATA, 0, 2].variables == ("words",)
    backwards = [e for e in found.edges if e.target < e.source]
    assert backwards
    assert all(e.status is EdgeStatus.MISSED and not e.reached for e in backwards)


def test_the_report_adds_up(model: LlamaModel) -> None:
    document = inferred_json(infer(model, dependences(SOURCE, "f"), InferenceMethod.PROMPTED))
    for relation in ("control", "data"):
        edges = [e["status"] for e in document["edges"] if e["relation"] == relation]
        counts = document["direct"][relation]
        assert [edges.count(status) for status in ("found", "invented", "missed")] == [
            counts[status] for status in ("found", "invented", "missed")
        ]
    assert sum(len(one["depends_on"]) for one in document["statements"]) == len(document["edges"])
    assert document["summary"].startswith("control F1 ")


def test_it_can_be_cancelled(model: LlamaModel) -> None:
    stop = Event()
    stop.set()
    for method in InferenceMethod:
        with pytest.raises(Cancelled):
            infer(model, dependences(SOURCE, "f"), method, steps=Steps(stop))


def test_a_model_without_probabilities_is_told_what_to_do(
    model: LlamaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LlamaModel, "offers", lambda _self, what, **_: what is not Capability.SCORE)
    with pytest.raises(ModelError, match="no token probabilities") as error:
        infer(model, dependences(SOURCE, "f"))
    assert "prompted" in (error.value.hint or "")


@pytest.mark.parametrize("form", ["completion", "chat"])
@pytest.mark.parametrize("task", FIELDS)
def test_templates_have_the_fields_of_their_task(task: str, form: str) -> None:
    found = set(template(PACKAGE, task, form).get_identifiers())
    assert found - {"language"} == FIELDS[task]
    assert ("language" in found) == (form == "chat" and task not in {"control", "data"})


def test_every_template_file_belongs_to_a_task() -> None:
    names = {file.name for file in (files(PACKAGE) / "templates").iterdir()}
    own = {name for name in names if "-java." not in name}
    published = {f"empica-{relation}.chat.txt" for relation in Relation}
    assert own == published | {f"{task}.{form}.txt" for task in FIELDS for form in ("completion", "chat")}


@pytest.mark.parametrize("form", ["completion", "chat"])
@pytest.mark.parametrize("relation", list(Relation))
def test_the_examples_in_the_templates_are_true(relation: Relation, form: str) -> None:
    text = template(PACKAGE, relation, form).substitute(statements="")
    lines = [line.partition(": ")[2] for line in text.splitlines() if line[:1].isdigit() and ": " in line]
    found = dependences("\n".join(lines) + "\n", lines[0].split()[1].partition("(")[0])
    (listed,) = re.findall(r'\{"pairs": (\[\[\d.*\]\])\}', text)
    said = read_pairs(listed, range(len(lines)))
    control = relation is Relation.CONTROL
    true = {(e.source, e.target) for e in found.edges if (e.kind is Kind.CONTROL) == control}
    assert said.pairs == true
