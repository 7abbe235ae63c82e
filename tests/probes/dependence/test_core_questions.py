"""CoRe's pairwise question: what is asked, what is true, and how answers are read."""

from __future__ import annotations

import pytest

from counterlens.dependence import dependences
from counterlens.models.base import Api, Completion, ModelInfo
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.dependence.core_questions import lines, prompt, read_answer
from counterlens.probes.dependence.examined import ExaminedFunction, Relation
from counterlens.probes.dependence.inferred import InferenceMethod, infer
from counterlens.probes.dependence.instances import DependenceQuestion, Instance, balance, questions
from counterlens.probes.prompts.closed import AnswerSource, ask
from counterlens.progress import Steps
from counterlens.reports.edges import overview
from counterlens.reports.export.dependences import inferred_json

SOURCE = '''\


def f(words):
    """Return the longest.

    Ties: the first.
    """
    longest = ''
    for word in words:
        size = len(word)
        if size > len(longest):
            longest = word
    print(size)
    return longest
'''
LINE = {"longest": 8, "for": 9, "size": 10, "if": 11, "assigned": 12, "print": 13, "return": 14}
CHAT = ModelInfo("m", "m", "m", "host", frozenset(), api=Api.CHAT)
TEXT = ModelInfo("m", "m", "m", "local", frozenset())


@pytest.fixture(scope="module")
def subject() -> ExaminedFunction:
    return ExaminedFunction.of(dependences(SOURCE, "f"))


def named(subject: ExaminedFunction, relation: Relation) -> dict[tuple[str, int, str, int], bool]:
    line = [part.statement.line for part in subject.parts]
    return {
        (q.source.variable, line[q.source.statement], q.target.variable, line[q.target.statement]): true
        for q, true in questions(subject, relation).items()
    }


def test_data_is_asked_of_variables_in_lines_and_chains_count(subject: ExaminedFunction) -> None:
    found = named(subject, Relation.DATA)
    assert found["words", 3, "word", 9]
    assert found["words", 3, "longest", 14]  # through word and longest
    assert found["word", 9, "longest", 12]
    assert found["word", 9, "size", 13]
    assert not found["longest", 12, "size", 13]  # a condition is no data
    assert not found["size", 10, "longest", 14]
    assert not found["longest", 8, "size", 11]  # what is only read depends on its own variable's sources
    assert found["longest", 8, "longest", 11]
    assert not any(source == target for _, source, _, target in found)
    assert not any(target == 3 for _, _, _, target in found)


def test_control_is_asked_of_branches_and_chains_count(subject: ExaminedFunction) -> None:
    found = named(subject, Relation.CONTROL)
    assert {source for _, source, _, _ in found} == {LINE["for"], LINE["if"]}
    assert found["", 9, "", 12]
    assert found["", 11, "", 12]
    assert not found["", 11, "", 13]
    assert not found["", 9, "", 14]


def test_the_question_names_lines_of_the_file_and_leaves_the_docstring_out(subject: ExaminedFunction) -> None:
    listing = lines(subject)
    assert listing.split("\n")[:3] == [
        "3   def f(words):",
        '4       """Return the longest. ...',
        "8       longest = ''",
    ]
    question = DependenceQuestion(Relation.DATA, Instance(0, "words"), Instance(3, "word"))
    asked = prompt(TEXT, subject, question, listing)
    assert asked.text.endswith("\nDoes (words, 3) have data dependence over (word, 9) in f?")
    told = prompt(CHAT, subject, question, listing)
    assert told.reply is not None
    assert '"DataDependence": {"type": "boolean"}' in told.reply.schema
    assert "chain" in told.reply.instruction


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('```json\n{\n  "DataDependence": true\n}\n```', True),
        ('{"ControlDependence": false}', False),
        ("Analysis: yes, line 3 ...\n**Output**: {'DataDependence': False}", False),
        ("ControlDependence = yes", True),
        (" yes", True),
        ("No, it does not.", False),
        ("It depends.", None),
        ("", None),
    ],
)
def test_answers_are_read_in_whatever_form(text: str, said: bool | None) -> None:
    assert read_answer(text) is said


def test_a_sample_is_balanced_seeded_and_in_order() -> None:
    numbers = list(range(100))
    chosen = balance(numbers, lambda n: n < 20, 30, seed=1)
    assert len(chosen) == 30
    assert chosen == sorted(chosen)
    assert sum(n < 20 for n in chosen) == 15
    assert chosen == balance(numbers, lambda n: n < 20, 30, seed=1)
    assert chosen != balance(numbers, lambda n: n < 20, 30, seed=2)
    assert sum(n < 4 for n in balance(numbers, lambda n: n < 4, 30)) == 4
    assert balance(numbers, lambda n: n < 20, None) == numbers


def test_the_embedded_model_is_asked_by_probability(model: LlamaModel) -> None:
    found = infer(model, dependences(SOURCE, "f"), InferenceMethod.CORE, limit=8)
    assert found.how is AnswerSource.PROBABILITY
    assert found.asked is not None
    for relation in Relation:
        one, counts = found.asked[relation], found.transitive[relation]
        assert (one.asked, one.true) == (8, 4)
        assert counts.true_positives + counts.false_negatives == 4
        assert all(0 < belief < 1 for belief in found.beliefs[relation].values())
    assert "8 of 12 questions on control (4 true)" in overview(found.subject.dependences, found)
    document = inferred_json(found)
    assert document["asked"]["data"]["questions"] == 8
    assert {edge["reached"] for edge in document["edges"]} == {True, False}


def test_a_model_without_probabilities_writes_its_answers(
    subject: ExaminedFunction, model: LlamaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = iter(["yes", "what?", '{"DataDependence": false}'])
    monkeypatch.setattr(LlamaModel, "offers", lambda *_, **__: False)
    monkeypatch.setattr(
        LlamaModel,
        "complete",
        lambda _self, prompts, **_: [Completion(next(said), "stop", 1) for _ in prompts],
    )
    question = DependenceQuestion(Relation.DATA, Instance(0, "words"), Instance(3, "word"))
    prompts = [prompt(model.info, subject, question, lines(subject))] * 3
    answers = ask(model, prompts, read_answer, Steps(), "asking")
    assert [one.yes for one in answers] == [True, None, False]
    assert [one.probability for one in answers] == [None] * 3
