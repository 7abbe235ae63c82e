"""Greedy verdicts beside the other ways that rounding may have taken."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event
from typing import Any

import pytest

from counterlens.errors import Cancelled
from counterlens.judging.base import Evidence, Judge, Judgement, Verdict
from counterlens.metrics.summary import summarize
from counterlens.models.base import Capability, Completion, Model, ModelInfo, Prompt
from counterlens.probes.pairs.completion import CompletionOptions, CompletionProbe
from counterlens.probes.pairs.phrases import unstable, unstable_pairs, unstable_sentence
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.probes.pairs.tables import stability_tables
from counterlens.probes.pairs.wording import figures, meaning, outcome
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import Record, plain, read
from counterlens.probes.runner import run_probe, run_targets
from counterlens.progress import Steps, TimeBudget
from counterlens.reports.export.verdicts import annotation_commands, sarif
from counterlens.reports.export.view import Exported, ExportedRecord
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

SOURCE = '''def larger(first, second):
    """The larger one."""
    chosen = second
    if first > second:
        chosen = first
    else:
        chosen = second
    return chosen
'''


class Marked(Judge):
    """A judge that looks for the mark of a wrong rest."""

    attribution, tests = "given", 1

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:  # noqa: ARG002
        wrong = any(mark in program for mark in ("WRONG", "return 42")) or "return" not in program
        return Verdict(Judgement.FAILED if wrong else Judgement.PASSED, Evidence("given", 1))


class Torn(Model):
    """Writes and ties as a rule of the prompt's text and detours says."""

    info = ModelInfo("torn", "torn", "0", "local", frozenset({Capability.COMPLETE, Capability.EXACT}))

    def __init__(self, rule: Callable[[str, tuple[int, ...]], tuple[bool, tuple[int, ...]]]) -> None:
        self._rule, self.asked = rule, list[Prompt]()

    def complete(self, prompts: Sequence[Prompt], **_options: Any) -> list[Completion]:
        self.asked += prompts
        return [self._answer(prompt) for prompt in prompts]

    def _answer(self, prompt: Prompt) -> Completion:
        right, ties = self._rule(prompt.text, prompt.detours)
        way = "".join(f"    # {at}\n" for at in prompt.detours)
        return Completion(f"{way}    return '{'right' if right else 'WRONG'}'\n", "stop", 9, ties=ties)


def flipped(text: str) -> bool:
    return "first <= second" in text


def asked(model: Model, **options: Any) -> PairsRecord:
    target = Target(Document(SOURCE), "larger", judge=Marked())
    chosen = CompletionOptions(mutations=("if-else-flip", "rename-random"), placebos=0, **options)
    record = run_probe(CompletionProbe(), Context(model, best_sandbox, unjudged=False), target, chosen)
    assert isinstance(record, PairsRecord)
    assert read(plain(record), PairsRecord) == record
    return record


def pair_of(record: PairsRecord, mutation: str) -> PairRecord:
    (found,) = [pair for pair in record.pairs if pair.mutation == mutation]
    return found


def test_a_verdict_that_another_way_contradicts_is_unstable_and_no_effect_is_told() -> None:
    """The flip fails; at its only tie the other token leads to what passes."""
    record = asked(
        Torn(lambda text, detours: (not flipped(text) or bool(detours), (3,) if not detours else ()))
    )
    flip, renamed = pair_of(record, "if-else-flip"), pair_of(record, "rename-random")
    assert (flip.stable, renamed.stable) == (False, True)
    assert [way.passed for way in flip.counterfactual.ways or ()] == [True]
    told = "2 of 2 completions that rounding could produce pass before the change, and 1 of 2 after it"
    assert told in unstable_sentence(flip)
    assert unstable_sentence(renamed) == ""
    assert meaning(record) == unstable(record) != ""
    found = summarize(record.observations).stable
    assert found
    assert (found.share.count, found.share.n) == (1, 2)
    assert (found.average.count, found.average.n) == (0, 1)
    (table,) = stability_tables({"torn": [record]})
    assert [row[1:4:2] for row in table.rows] == [("all", summarize(record.observations).average)] + [
        (name, summarize([one]).average)
        for one in sorted(record.observations, key=lambda one: one.mutation)
        for name in [one.mutation]
    ]


def test_a_report_says_which_changes_are_unstable_and_no_export_makes_them_findings() -> None:
    """At a near tie the flip has a right alternative; the new name has none."""
    record = asked(
        Torn(
            lambda text, detours: (
                (not flipped(text) and "chosen" in text) or (flipped(text) and bool(detours)),
                () if detours else (3,),
            )
        )
    )
    flip, renamed = pair_of(record, "if-else-flip"), pair_of(record, "rename-random")
    assert (flip.changed_unstably, renamed.changed_unstably) == (True, False)
    assert outcome(flip) != outcome(renamed)
    assert "unstable" in outcome(flip)
    assert "1 of 2 informative pairs unstable" in figures(summarize(record.observations))
    assert "1.00 (0.21 to 1.00, n = 1)" in unstable_pairs(summarize(record.observations))
    told = meaning(record)
    assert "rename-random" in told
    assert "if-else-flip" not in told
    found = exported_of(record)
    levels = {one["ruleId"]: one["level"] for one in json.loads(sarif(found))["runs"][0]["results"]}
    assert levels == {"if-else-flip": "note", "rename-random": "warning"}
    assert [one.mutation for one in annotation_commands(found)] == ["rename-random"]


def exported_of(record: PairsRecord) -> Exported:
    one = ExportedRecord(0, "torn", record.probe, "a.py::larger", "larger", "a.py", record)
    return Exported("larger", (one,), probes=(record.probe,))


def test_who_watches_sees_the_greedy_answer_before_other_ways_are_followed() -> None:
    model, seen = Torn(lambda _text, detours: (True, () if detours else (3,))), list[tuple[int, Record]]()
    context = Context(
        model, best_sandbox, unjudged=False, interim=lambda found: seen.append((len(model.asked), found))
    )
    target = Target(Document(SOURCE), "larger", judge=Marked())
    record = run_probe(CompletionProbe(), context, target, CompletionOptions(placebos=0))
    ((asked_before, early),) = seen
    assert asked_before < len(model.asked)
    assert isinstance(early, PairsRecord)
    assert isinstance(record, PairsRecord)
    assert [pair.outcome for pair in early.pairs] == [pair.outcome for pair in record.pairs]
    assert {pair.stable for pair in early.pairs} == {None}
    assert {pair.stable for pair in record.pairs} == {True}


def test_a_change_that_all_ways_confirm_is_told() -> None:
    record = asked(Torn(lambda text, _detours: (not flipped(text), (3, 1))))
    assert all(pair.stable for pair in record.pairs)
    assert unstable(record) == ""
    assert "no longer completed it" in meaning(record)


def test_ways_are_followed_the_closest_first_and_deeper_until_the_budget_is_spent() -> None:
    """A greedy completion with one tie; each way ties again, once before and once after where it left."""
    model = Torn(lambda _text, detours: (True, (7,) if not detours else (2, detours[-1] + 1)))
    record = asked(model, ways=3)
    assert all(
        len(side.ways or ()) == 3 for pair in record.pairs for side in (pair.original, pair.counterfactual)
    )
    followed = {prompt.detours for prompt in model.asked if prompt.text == model.asked[0].text}
    assert followed == {(), (7,), (7, 8), (7, 8, 9)}


def test_no_way_is_followed_of_pairs_that_show_nothing() -> None:
    """The model is never right, whatever it ties on; nothing is claimed of such a pair."""
    model = Torn(lambda _text, detours: (False, () if detours else (3,)))
    record = asked(model)
    assert {pair.stable for pair in record.pairs} == {None}
    assert not any(prompt.detours for prompt in model.asked)
    assert summarize(record.observations).stable is None


@pytest.mark.parametrize("ways", [0, 2])
def test_nothing_is_said_where_none_are_followed_or_the_model_is_not_exact(ways: int) -> None:
    model = Torn(lambda _text, _detours: (True, (1,)))
    if ways:
        model.info = replace(model.info, capabilities=frozenset({Capability.COMPLETE}))
    record = asked(model, ways=ways)
    assert {pair.stable for pair in record.pairs} == {None}
    assert all(not prompt.detours for prompt in model.asked)
    assert stability_tables({"torn": [record]}) == ()


def test_what_a_model_turns_out_to_be_while_it_is_asked_is_what_the_run_says_of_it() -> None:
    class Late(Torn):
        def offers(self, capability: Capability, **_options: Any) -> bool:
            self.info = replace(self.info, capabilities=self.info.capabilities | {Capability.EXACT})
            return capability in self.info.capabilities

    model = Late(lambda _text, _detours: (True, ()))
    model.info = replace(model.info, capabilities=frozenset({Capability.COMPLETE}))
    target = Target(Document(SOURCE), "larger", judge=Marked())
    context = Context(model, best_sandbox, unjudged=False)
    run = run_targets(CompletionProbe(), context, [target], CompletionOptions())
    assert run.model
    assert Capability.EXACT in run.model.capabilities


def test_the_same_text_by_another_way_is_the_same_way() -> None:
    class Stubborn(Torn):
        def _answer(self, prompt: Prompt) -> Completion:
            return Completion("    return 'right'\n", "stop", 9, ties=(1, 2) if not prompt.detours else ())

    record = asked(Stubborn(lambda _text, _detours: (True, ())))
    assert {side.ways for pair in record.pairs for side in (pair.original, pair.counterfactual)} == {()}
    assert all(pair.stable for pair in record.pairs)


def test_if_the_time_ends_while_alternatives_are_followed_no_verdict_is_called_stable() -> None:
    budget = TimeBudget(1e9)

    class Late(Torn):
        def complete(self, prompts: Sequence[Prompt], **options: Any) -> list[Completion]:
            if any(prompt.detours for prompt in prompts):
                object.__setattr__(budget, "seconds", 0.0)
                assert options["cancel"].is_set()
                raise Cancelled
            return super().complete(prompts, **options)

    model = Late(lambda _text, detours: (True, (3,) if not detours else ()))
    target = Target(Document(SOURCE), "larger", judge=Marked())
    context = Context(model, best_sandbox, Steps(budget=budget), unjudged=False)
    chosen = CompletionOptions(mutations=("if-else-flip",), placebos=0)
    record = run_probe(CompletionProbe(), context, target, chosen)
    assert isinstance(record, PairsRecord)
    (pair,) = record.pairs
    assert (pair.stable, pair.counterfactual.ways) == (None, None)
