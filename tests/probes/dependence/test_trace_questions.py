"""CoRe's question with its trace: what is asked, how answers are read, and what is right about them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from counterlens.dependence import dependences
from counterlens.models.base import Api, Completion, ModelInfo, Prompt
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.dependence.core_questions import lines
from counterlens.probes.dependence.examined import ExaminedFunction, Relation
from counterlens.probes.dependence.inferred import InferenceMethod, infer
from counterlens.probes.dependence.instances import DependenceQuestion, Instance
from counterlens.probes.dependence.probe import DependenceOptions, DependenceProbe
from counterlens.probes.dependence.record import DependenceRecord
from counterlens.probes.dependence.trace_questions import (
    TraceNode,
    answers,
    direct_steps,
    grammar,
    prompt,
    read_trace,
)
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.templates import template
from counterlens.probes.record import read, write_record
from counterlens.reports.edges import asked_words
from counterlens.reports.export.dependences import inferred_json
from counterlens.syntax.document import Document

SOURCE = """\


def f(words):
    longest = ''
    for word in words:
        size = len(word)
        if size > len(longest):
            longest = word
    return longest
"""
CHAT = ModelInfo("m", "m", "m", "host", frozenset(), api=Api.CHAT)
TEXT = ModelInfo("m", "m", "m", "local", frozenset())
WORDS_TO_RETURN = DependenceQuestion(Relation.DATA, Instance(0, "words"), Instance(6, "longest"))


class Scripted:
    """A model whose answers are a function of the prompt: for the counting, not for the asking."""

    info = TEXT

    def __init__(self, right: bool) -> None:
        self._right = right

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        yes = {
            Relation.DATA: '{"DataDependence": true, "Trace": [{"from": ["words", 3], "to": ["word", 5]}, '
            '{"from": ["word", 5], "to": ["longest", 8]}, {"from": ["longest", 8], "to": ["longest", 9]}]}',
            Relation.CONTROL: '{"ControlDependence": true, "Trace": [5, 7, 8]}',
        }
        control = "ControlDependence" in prompts[0].text
        said = yes[Relation.CONTROL if control else Relation.DATA] if self._right else "I do not know."
        return [Completion(said, "stop", 1) for _ in prompts]

    def offers(self, *_: Any, **__: Any) -> bool:
        return False


@pytest.fixture(scope="module")
def subject() -> ExaminedFunction:
    return ExaminedFunction.of(dependences(SOURCE, "f"))


def test_steps_are_direct_dependences_of_lines(subject: ExaminedFunction) -> None:
    data, control = direct_steps(subject, Relation.DATA), direct_steps(subject, Relation.CONTROL)
    assert data["words", 3] == {("word", 5)}
    assert data["word", 5] == {("size", 6), ("longest", 8)}
    assert ("longest", 9) in data["longest", 8]
    assert control["", 5] >= {("", 6), ("", 7)}
    assert ("", 8) not in control["", 5]
    assert control["", 7] == {("", 8)}


def test_the_question_asks_for_a_trace_and_gives_its_form(subject: ExaminedFunction) -> None:
    listing, form = lines(subject), grammar(subject, Relation.DATA)
    asked = prompt(TEXT, subject, WORDS_TO_RETURN, listing, form)
    assert asked.text.endswith("\nDoes (words, 3) have data dependence over (longest, 9) in f?")
    told = prompt(CHAT, subject, WORDS_TO_RETURN, listing, form)
    assert told.reply is not None
    assert "trace" in told.reply.instruction
    schema = json.loads(told.reply.schema)
    assert set(schema["required"]) == {"DataDependence", "Trace"}
    assert schema["properties"]["Trace"]["items"]["required"] == ["from", "to"]


@pytest.mark.parametrize(
    ("text", "yes", "nodes"),
    [
        ('{"DataDependence": true, "Trace": [{"from": ["a", 1], "to": ["b", 2]}]}', True, "a1 b2"),
        (
            '```json\n{"DataDependence": true,\n "Trace": [{"from": ["a", 1], "to": ["b", 2]},\n'
            '{"from": ["b", 2], "to": ["b", 2]}, {"from": ["c", 3], "to": ["d", 4]}]}\n```',
            True,
            "a1 b2 b2 c3 d4",
        ),
        ('{"DataDependence": false, "Trace": []}', False, ""),
        ('{"DataDependence": false, "Trace": [{"from": ["a", 1], "to": ["b", 2]}]}', False, ""),
        ('First {"DataDependence": false}, no: {"DataDependence": true}', True, ""),
        ("yes", True, ""),
        ('{"DataDependence": true, "Trace": [{"from": ["x", n], "to": ["y", m]}, ...]}', None, ""),
        ('{"DataDependence": true, "Trace": [{"from": ["a", 1], "to": ["b", 2]}, "..."]}', None, ""),
        ('{"DataDependence": true, "Trace": [1, 2]}', None, ""),
        ('{"DataDependence": true, "Trace": [{"from": ["a"], "to": ["b", 2]}]}', None, ""),
        ('{"DataDependence": true, "Trace": "a, b"}', None, ""),
        ('{"DataDependence": "maybe", "Trace": []}', None, ""),
        ("[[[{{{", None, ""),
        ("", None, ""),
    ],
)
def test_answers_on_data_are_read(text: str, yes: bool | None, nodes: str) -> None:
    expected: tuple[TraceNode, ...] = tuple((one[0], int(one[1:])) for one in nodes.split())
    assert read_trace(text, Relation.DATA) == (yes, expected)


@pytest.mark.parametrize(
    ("text", "yes", "nodes"),
    [
        ('{"ControlDependence": true, "Trace": [3, 5, 7]}', True, [3, 5, 7]),
        ('{"ControlDependence": false}', False, []),
        ('{"ControlDependence": true, "Trace": [3, true]}', None, []),
        ('{"ControlDependence": true, "Trace": ["3"]}', None, []),
        ('{"ControlDependence": true, "Trace": [3, 5', True, []),  # cut off: what it says, without a trace
    ],
)
def test_answers_on_control_are_read(text: str, yes: bool | None, nodes: list[int]) -> None:
    assert read_trace(text, Relation.CONTROL) == (yes, tuple(("", line) for line in nodes))


def test_a_trace_that_the_token_limit_ended_cannot_be_read() -> None:
    looping = '{"ControlDependence": true, "Trace": [3, 5, 3, 5, 3, 5'
    assert read_trace(looping, Relation.CONTROL, cut_off=True) == (None, ())
    whole = '{"ControlDependence": true, "Trace": [3, 5]}'
    assert read_trace(whole, Relation.CONTROL, cut_off=True) == (True, (("", 3), ("", 5)))


def test_the_embedded_model_keeps_to_the_form(subject: ExaminedFunction, model: LlamaModel) -> None:
    control = DependenceQuestion(Relation.CONTROL, Instance(2), Instance(5))
    for question in (WORDS_TO_RETURN, control):
        form = grammar(subject, question.relation)
        (completion,) = model.complete([prompt(model.info, subject, question, lines(subject), form)])
        assert completion.finish == "stop"
        assert isinstance(json.loads(completion.text), dict)
        (told,) = answers(model, subject, [question]).values()
        assert (told.yes, told.nodes) == read_trace(completion.text, question.relation)
        assert told.yes is not None


@pytest.mark.parametrize("right", [True, False])
def test_what_is_right_is_counted_and_told(right: bool, subject: ExaminedFunction, tmp_path: Path) -> None:
    model: Any = Scripted(right)
    found = infer(model, subject.dependences, InferenceMethod.TRACE)
    assert found.traces is not None
    assert found.asked is not None
    for relation, told in found.traces.items():
        assert len(told) == found.asked[relation].true
        assert any(one.path for one in told) == right
        assert sum(one.path for one in told) < len(told)  # one answer is right for one question
        assert all(one.correct for one in told) == right
    assert inferred_json(found)["traces"]["data"]["correct"] == float(right)
    assert any(" chains completely" in said for said in asked_words(found))
    path = tmp_path / "f.py"
    path.write_text(SOURCE)
    document = Document.read(path)
    probe, target = DependenceProbe(), Target(document, "f")
    options = DependenceOptions(method=InferenceMethod.TRACE)
    record = probe.run(Context(model), target, options)
    assert read(write_record(record), DependenceRecord) == record
    (table,) = [one for one in probe.tables([record], seed=0) if one.title.startswith("traces")]
    assert [row[0] for row in table.rows] == ["control", "data"]
    rate: Any = table.rows[0][2]
    assert rate.value == float(right)
    measures = probe.measures(record)
    assert measures["all data traces right"] is False
    assert probe.estimate(target, options, model) == sum(one.asked for one in found.asked.values())


@pytest.mark.parametrize("relation", list(Relation))
def test_the_examples_in_the_templates_are_true(relation: Relation) -> None:
    text = template("counterlens.probes.dependence", f"core-trace-{relation}", "completion").substitute(
        lines="", function="", source="", target=""
    )
    numbered = [line for line in text.splitlines() if line[:1].isdigit()]
    source = "\n".join(line[4:] for line in numbered) + "\n"
    direct = direct_steps(
        ExaminedFunction.of(dependences(source, numbered[0].split()[2].partition("(")[0])), relation
    )
    shown = [read_trace(line, relation)[1] for line in text.splitlines() if '"Trace"' in line]
    assert len(shown) == 2
    for nodes in shown:
        assert all(after in direct[before] for before, after in pairwise(nodes))
