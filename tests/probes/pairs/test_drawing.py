"""Completions that are drawn: pass rates of both sides of a pair, and an end once they are told apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event
from typing import Any

import pytest

from counterlens.errors import ModelError, OptionError
from counterlens.judging.base import Evidence, Judge, Judgement, Verdict
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.pass_rates import RateFinding
from counterlens.models.base import Capability, Completion, Draw, Model, ModelInfo, Prompt
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.probes.pairs.completion import CompletionOptions, CompletionProbe
from counterlens.probes.pairs.drawing import Drawing
from counterlens.probes.pairs.phrases import bar, drawn_sentence
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.probes.pairs.tables import pass_at_tables
from counterlens.probes.pairs.wording import meaning
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import plain, read
from counterlens.probes.runner import run_probe
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

RIGHT, WRONG = "    return 'right'\n", "    return 'WRONG'\n"
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


class Drawer(Model):
    """Draws a right rest as often as a rule of the prompt says."""

    info = ModelInfo("drawer", "drawer", "0", "local", frozenset({Capability.COMPLETE}))

    def __init__(self, rate: Callable[[str], float], *capabilities: Capability) -> None:
        self.info = replace(self.info, capabilities=self.info.capabilities | {*capabilities})
        self._rate, self.prompts = rate, list[Prompt]()

    def complete(self, prompts: Sequence[Prompt], **_options: Any) -> list[Completion]:
        self.prompts += prompts
        return [Completion(self._rest(prompt), "stop", 1) for prompt in prompts]

    def _rest(self, prompt: Prompt) -> str:
        if prompt.draw is None:
            return RIGHT
        chance = prompt.draw.number(prompt.text.encode()) / 2**63
        return RIGHT if chance < self._rate(prompt.text) else WRONG


def asked(model: Model, **options: Any) -> PairsRecord:
    target = Target(Document(SOURCE), "larger", judge=Marked())
    chosen = CompletionOptions(mutations=("if-else-flip", "rename-random"), placebos=0, **options)
    record = run_probe(CompletionProbe(), Context(model, best_sandbox, unjudged=False), target, chosen)
    assert isinstance(record, PairsRecord)
    return record


def watched(model: Model, **options: Any) -> tuple[list[PairsRecord], PairsRecord]:
    """What someone sees who watches, and the record in the end."""
    seen = list[Any]()
    target = Target(Document(SOURCE), "larger", judge=Marked())
    chosen = CompletionOptions(mutations=("if-else-flip", "rename-random"), placebos=0, **options)
    context = Context(model, best_sandbox, unjudged=False, interim=seen.append)
    record = run_probe(CompletionProbe(), context, target, chosen)
    assert isinstance(record, PairsRecord)
    return seen, record


def flipped(text: str) -> bool:
    return "first <= second" in text


def pair_of(record: PairsRecord, mutation: str) -> PairRecord:
    (found,) = [pair for pair in record.pairs if pair.mutation == mutation]
    assert found.drawn is not None
    return found


def test_a_side_that_fails_is_told_apart_and_drawn_no_further() -> None:
    model = Drawer(lambda text: 0.0 if flipped(text) else 1.0, Capability.SAMPLE)
    pair = pair_of(asked(model, samples=40), "if-else-flip")
    assert pair.drawn
    assert pair.drawn.finding == RateFinding.MOVED
    assert pair.drawn.difference == -1
    assert pair.drawn.original.count.passed == pair.drawn.original.count.n == 10  # a quarter: the first look
    assert "a drop of 100 points" in drawn_sentence(pair)
    drawn = [prompt for prompt in model.prompts if prompt.draw and flipped(prompt.text)]
    assert len(drawn) == 10
    assert bar(pair.drawn.original.count)[0] == "\u2588"
    assert bar(pair.drawn.counterfactual.count)[-1] == "\u2591"


def test_what_draws_say_stands_beside_the_greedy_verdicts() -> None:
    fails_after = Drawer(lambda text: 0.0 if flipped(text) else 1.0, Capability.SAMPLE)
    said = meaning(asked(fails_after, samples=40))
    for part in ("if-else-flip", "0 of 2 pairs held", "1 undecided"):
        assert part in said
    always = Drawer(lambda _text: 1.0, Capability.SAMPLE)
    assert "2 of 2 pairs held" in meaning(asked(always, samples=200))
    assert "ampled" not in meaning(asked(always))


def test_where_there_is_no_difference_it_is_held_only_with_enough_draws() -> None:
    model = Drawer(lambda _text: 1.0, Capability.SAMPLE)
    few = pair_of(asked(model, samples=8), "if-else-flip")
    assert few.drawn
    assert few.drawn.finding == RateFinding.OPEN
    assert "too few" in drawn_sentence(few)
    many = pair_of(asked(model, samples=200), "if-else-flip")
    assert many.drawn
    assert many.drawn.finding == RateFinding.HELD
    assert many.drawn.original.count.n < 200
    assert "it held" in drawn_sentence(many)


def test_draws_follow_from_the_seed_and_survive_the_record_and_the_cache(tmp_path: Any) -> None:
    model = Drawer(lambda _text: 0.5, Capability.SAMPLE)
    first, again = asked(model, samples=12), asked(model, samples=12)
    assert first.pairs == again.pairs
    assert asked(model, samples=12, seed=1).pairs != first.pairs
    assert read(plain(first), PairsRecord) == first
    store = AnswerStore(tmp_path / "answers.sqlite")
    cached = CachedModel(model, store)
    assert asked(cached, samples=12).pairs == first.pairs
    before = len(model.prompts)
    assert asked(cached, samples=12).pairs == first.pairs
    assert len(model.prompts) == before
    store.close()


def test_draws_have_a_table() -> None:
    record = asked(Drawer(lambda text: 0.1 if flipped(text) else 0.9, Capability.SAMPLE), samples=20)
    tables = {table.title: table for table in CompletionProbe().tables([record], seed=0)}
    rows = {row[0]: row for row in tables["pass rates of sampled completions"].rows}
    assert set(rows) == {"all", "if-else-flip", "rename-random"}
    greedy = asked(Drawer(lambda _text: 1.0))
    assert "pass rates of sampled completions" not in {
        table.title for table in CompletionProbe().tables([greedy], seed=0)
    }


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ModelError, match="cannot sample"):
        asked(Drawer(lambda _text: 1.0), samples=4)
    assert CompletionOptions().drawing is None


def test_a_temperature_by_itself_draws_twenty() -> None:
    drawing = CompletionOptions(temperature=0.5, seed=3).drawing
    assert drawing
    assert (drawing.most, drawing.temperature, drawing.seed) == (20, 0.5, 3)


def test_a_draw_is_a_number_of_its_own() -> None:
    numbers = {Draw(t, s, i).number(x) for t in (0.5, 1) for s in (0, 1) for i in (0, 1) for x in (b"", b"a")}
    assert len(numbers) == 16


def test_pass_at_k_is_of_all_draws_and_needs_as_many() -> None:
    model = Drawer(lambda text: 0.0 if flipped(text) else 0.5, Capability.SAMPLE)
    record = asked(model, samples=12, pass_at=3)
    drawn = pair_of(record, "if-else-flip").drawn
    assert drawn
    assert drawn.original.count.n == drawn.counterfactual.count.n == drawn.first == 12
    (table,) = pass_at_tables({"drawer": [record]})
    passed = drawn.original.count.passed
    missed = (12 - passed) * (11 - passed) * (10 - passed) / (12 * 11 * 10)
    (row,) = [row for row in table.rows if row[1] == "if-else-flip"]
    assert row[2:4] == (3, 1)
    assert [cell.value for cell in row[4:] if isinstance(cell, Estimate)] == [pytest.approx(1 - missed), 0.0]
    assert pass_at_tables({"drawer": [asked(model, samples=12)]}) == ()
    with pytest.raises(OptionError, match="needs as many"):
        CompletionOptions(samples=4, pass_at=5)
    assert CompletionOptions(pass_at=5).drawing == Drawing(20, 0.8, 0, 5)


def test_whoever_watches_sees_the_greedy_verdicts_first_and_every_look() -> None:
    seen, record = watched(Drawer(lambda text: 0.4 if flipped(text) else 0.5, Capability.SAMPLE), samples=20)
    assert [
        max(len(pair.drawn.original.passed) if pair.drawn else 0 for pair in one.pairs) for one in seen
    ] == [
        0,
        5,
        10,
        15,
    ]
    assert {one.target for one in seen} == {record.target}
    last = [pair.drawn for pair in record.pairs]
    for one in seen[1:]:
        for before, after in zip(one.pairs, last, strict=True):
            assert before.drawn is not None
            assert after is not None
            passed = before.drawn.original.passed
            assert after.original.passed[: len(passed)] == passed
    assert watched(Drawer(lambda _: 0.5))[0] == []


def test_the_most_uncertain_pair_is_drawn_first() -> None:
    """After five draws a side that always passes has a wider interval than one that passes by half."""
    model = Drawer(lambda text: 1.0 if text.endswith("else:\n") else 0.5, Capability.SAMPLE)
    asked(model, samples=20)
    drawn = [prompt for prompt in model.prompts if prompt.draw is not None]
    rounds = {number: [p.text for p in drawn if p.draw and p.draw.index == number] for number in (0, 5)}
    order = {number: [flipped(text) for text in texts] for number, texts in rounds.items()}
    assert order == {0: [False, True, False, False], 5: [False, False, False, True]}
