"""The noise floor: what verdicts do when nothing changes, beside what the mutations do to them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock
from typing import Any

import pytest

from counterlens.errors import OptionError
from counterlens.evaluation.effects import all_tables
from counterlens.evaluation.results import RunResults
from counterlens.judging.base import Evidence, Judge, Judgement, Verdict
from counterlens.metrics.effects import PairOutcome, Proportion
from counterlens.metrics.noise_floor import AboveFloor
from counterlens.metrics.significance import p_text
from counterlens.models.base import Capability, Completion, Model, ModelInfo, Prompt
from counterlens.models.remote.client import Retries
from counterlens.models.remote.model import RemoteModel
from counterlens.models.remote.scoring.scorer import Memory
from counterlens.probes.options import make
from counterlens.probes.pairs.completion import CompletionProbe
from counterlens.probes.pairs.floor_tables import ALL, floors
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.stability import SAME_PROMPT
from counterlens.probes.pairs.wording import meaning
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import plain, read
from counterlens.probes.runner import ProbeRun, run_targets
from counterlens.progress import Steps
from counterlens.python.mutations.language import PLACEBOS
from counterlens.reports.build.probe_run import probe_report
from counterlens.reports.render import html, markdown
from counterlens.reports.run_formats import write_evaluation
from counterlens.syntax.document import Document
from tests.models.remote.conftest import Handler, serving
from tests.reports.runs import hostile_run

RIGHT, WRONG = "    return 'right'\n", "    return 'WRONG'\n"
MUTATIONS = ("if-else-flip", "operand-swap", "rename-random", "rename-generic")
PROBE = CompletionProbe()


class Marked(Judge):
    """A judge that looks for the mark of a wrong rest: for the counting, not for the judging."""

    attribution, tests = "given", 1

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:  # noqa: ARG002
        wrong = any(mark in program for mark in ("WRONG", "return 42")) or "return" not in program
        return Verdict(Judgement.FAILED if wrong else Judgement.PASSED, Evidence("given", 1))


class Scripted(Model):
    """Answers by a rule, which is told how often it was asked the same before."""

    info = ModelInfo("scripted", "scripted", "0", "local", frozenset({Capability.COMPLETE}))

    def __init__(self, rule: Callable[[str, int], str], *capabilities: Capability) -> None:
        self.info = replace(self.info, capabilities=self.info.capabilities | {*capabilities})
        self._rule, self.asked, self.calls = rule, Counter[str](), list[int]()

    def complete(self, prompts: Sequence[Prompt], **_options: Any) -> list[Completion]:
        self.calls.append(len(prompts))
        found = []
        for prompt in prompts:
            found.append(Completion(self._rule(prompt.text, self.asked[prompt.text]), "stop", 1))
            self.asked[prompt.text] += 1
        return found


def target(number: int) -> Target:
    """One function of a bench."""
    text = f'''def fold_{number}(values, limit):
    """Fold values up to {number}."""
    result = {number}
    for value in values:
        if value > limit:
            result = result + value
        else:
            result = result - value
    bound = limit  # {number}
    return result * bound
'''
    return Target(Document(text, Path(f"fold_{number}.py")), f"fold_{number}", Marked())


def bench(model: Model, functions: int, **options: Any) -> ProbeRun:
    context = Context(model, lambda: None, Steps(None))  # type: ignore[arg-type, return-value] # nothing runs
    return run_targets(PROBE, context, [target(i) for i in range(functions)], make(PROBE.options, options))


def records(run: ProbeRun) -> list[PairsRecord]:
    return [record for record in run.probed if isinstance(record, PairsRecord)]


def beside(run: ProbeRun) -> AboveFloor:
    return floors(records(run))[ALL]


def truth(_prompt: str, _before: int) -> str:
    return RIGHT


def shapely(prompt: str, _before: int) -> str:
    return RIGHT if "result =" in prompt and "if value > limit" in prompt else WRONG


def chance(rate: float, seed: int) -> Callable[[str, int], str]:
    """A rule that is right with a probability, whatever the prompt, and another time by another draw."""

    def rule(prompt: str, before: int) -> str:
        digest = hashlib.sha256(repr((seed, prompt, before)).encode()).digest()
        return RIGHT if int.from_bytes(digest[:4]) < rate * 2**32 else WRONG

    return rule


def test_a_model_that_knows_the_truth_has_no_effect_and_no_floor() -> None:
    found = beside(bench(Scripted(truth), 8))
    assert (found.effect.value, found.floor.value, found.difference.value) == (0, 0, 0)
    assert found.placebos == 24
    assert found.exceeded is False


def test_a_model_that_goes_by_the_shape_has_an_effect_above_the_floor() -> None:
    run = bench(Scripted(shapely), 8)
    found = beside(run)
    assert found.floor.value == 0
    assert found.difference.low is not None
    assert found.difference.low > 0.3
    assert found.exceeded
    assert "may be noise" not in run.summary
    by_mutation = floors(records(run))
    assert by_mutation["rename-random"].exceeded
    assert by_mutation["for-while-convert"].effect.value == 0


def test_random_answers_have_an_effect_that_is_not_told_from_the_floor() -> None:
    """An interval of 95 % may miss 0 for one of six seeds, here for the second."""
    found = [
        beside(bench(Scripted(chance(0.7, seed), Capability.BATCH), 15, mutations=MUTATIONS)).difference
        for seed in range(6)
    ]
    bounds = [(one.low, one.high) for one in found if one.low is not None and one.high is not None]
    assert len(bounds) == 6
    assert sum(low <= 0 <= high for low, high in bounds) == 5
    assert all(0.1 < high - low < 0.5 for low, high in bounds)


def test_an_endpoint_with_random_answers_has_an_effect_that_is_not_told_from_the_floor(
    tmp_path: Path,
) -> None:
    rule, seen, lock = chance(0.7, 1), Counter[str](), Lock()

    def answer(handler: Handler) -> None:
        prompt = handler.body["prompt"]
        with lock:
            before = seen[prompt]
            seen[prompt] += 1
        handler.reply(200, {"choices": [{"text": "\n" + rule(prompt, before), "finish_reason": "stop"}]})

    with (
        serving(answer, models=["scripted"]) as script,
        RemoteModel(
            script.url, "scripted", memory=Memory(tmp_path / "known.json"), retries=Retries(1, 0.01)
        ) as model,
    ):
        run = bench(model, 15, mutations=MUTATIONS)
    found = beside(run)
    low, high = found.difference.low, found.difference.high
    assert low is not None
    assert high is not None
    assert low < 0 < high
    assert (found.effect.value or 0) > 0.3
    assert "so the effect may be noise" in run.summary
    again = [pair for record in records(run) for pair in record.placebos if pair.mutation == SAME_PROMPT]
    assert len(again) == 15
    assert {pair.outcome for pair in again} > {PairOutcome.HELD}


def test_placebos_are_asked_in_the_batch_and_cut_where_counterfactuals_are() -> None:
    model = Scripted(truth)
    (record,) = records(bench(model, 1, placebos=4))
    assert len(model.calls) == 1
    assert len(record.placebos) == 4
    assert max(model.asked.values()) == 1
    cuts = {pair.cut.original for pair in record.pairs if pair.cut}
    for pair in record.placebos:
        assert pair.mutation in PLACEBOS
        assert pair.concept == "nothing"
        assert pair.cut is not None
        assert pair.cut.original in cuts
        assert pair.original.prompt in {one.original.prompt for one in record.pairs}
        assert pair.counterfactual.prompt.rstrip() != pair.original.prompt.rstrip()
    estimate = PROBE.estimate(target(0), make(PROBE.options, {"placebos": 4}), model)
    assert estimate == model.calls[0]


@pytest.mark.parametrize(
    ("capabilities", "again"),
    [((), 0), ((Capability.BATCH,), 1), ((Capability.BATCH, Capability.EXACT), 0)],
    ids=["one by one", "together", "exactly"],
)
def test_a_model_whose_answer_may_depend_on_the_batch_is_asked_once_more_alone(
    capabilities: tuple[Capability, ...], again: int
) -> None:
    model = Scripted(truth, *capabilities)
    (record,) = records(bench(model, 1))
    assert model.calls[1:] == [1] * again
    assert [pair.mutation for pair in record.placebos].count(SAME_PROMPT) == again
    for pair in record.placebos[3:]:
        assert pair.original.prompt == pair.counterfactual.prompt
        assert pair.source(target(0).document.text) == target(0).document.text
        assert not pair.copied
    assert PROBE.estimate(target(0), make(PROBE.options, {}), model) - sum(model.calls) in {
        0,
        1,
    }  # about


def test_no_placebo_is_asked_where_none_is_wanted_and_by_the_protocol_none_can_be() -> None:
    model = Scripted(truth, Capability.BATCH)
    run = bench(model, 1, placebos=0)
    assert not records(run)[0].placebos
    assert len(model.calls) == 1
    assert not any("floor" in table.title for table in run.tables)
    assert "oise floor" not in run.summary
    assert make(PROBE.options, {"protocol": "cacp"}).placebos == 0
    with pytest.raises(OptionError, match="sets --placebos to 0"):
        make(PROBE.options, {"protocol": "cacp", "placebos": 3})


def test_nothing_is_said_of_a_function_whose_verdict_changes_with_nothing() -> None:
    run = bench(Scripted(lambda p, _: RIGHT if '"""' in p and "result =" in p else WRONG), 1)
    (record,) = records(run)
    said = meaning(record)
    assert "1 of 3 placebos changed it (docstring-quotes)" in said
    assert "no evidence about" in said
    assert "depends on the form" not in said
    report = probe_report(run, "fold.py")
    assert "no evidence about" in markdown.render(report)
    assert "docstring-quotes" in html.fragment(report.blocks)


def test_held_and_lost_stand_beside_the_floor() -> None:
    held, lost = (meaning(records(bench(Scripted(rule), 1))[0]) for rule in (truth, shapely))
    assert "correctly before and after the change" in held
    assert "depends on the form" in lost
    assert all(said.endswith("Noise floor: 0 of 3 placebos changed the verdict.") for said in (held, lost))


def test_the_tables_show_the_floor_beside_the_effects_of_all_pairs_and_of_each_mutation() -> None:
    run = bench(Scripted(shapely), 4)
    (table,) = (table for table in run.tables if table.title == "effect and noise floor")
    mutations = {pair.mutation for record in records(run) for pair in record.pairs}
    assert [row[0] for row in table.rows] == [ALL, *sorted(mutations)]
    p, holm = (table.columns.index(name) for name in ("p", "Holm p"))
    assert table.rows[0][p] == table.rows[0][holm] == p_text(beside(run).p)
    assert any(row[p] != row[holm] for row in table.rows[1:])
    assert run.probe.side_by_side({"a": run.probed}, seed=0)[-1].rows[0][:2] == ("a", ALL)


def test_a_record_that_was_made_before_there_were_placebos_is_read() -> None:
    (record,) = records(bench(Scripted(truth), 1))
    old = plain(record)
    del old["placebos"]
    again = read(old, PairsRecord)
    assert isinstance(again, PairsRecord)
    assert again.placebos == ()
    assert again.pairs == record.pairs
    assert "Noise floor" not in meaning(again)


def with_placebos(found: RunResults) -> RunResults:
    """A run whose functions have their last pair as a placebo, too."""
    records = tuple(
        (item, replace(stored, record=replace(stored.record, placebos=stored.record.pairs[-1:])))
        if isinstance(stored.record, PairsRecord)
        else (item, stored)
        for item, stored in found.records
    )
    return replace(found, records=records)


@pytest.mark.parametrize("form", ["text", "html"])
def test_every_form_of_a_run_shows_the_floor_of_each_model(form: str) -> None:
    without, found = hostile_run(), with_placebos(hostile_run())
    titles = [[table.title for table in all_tables(each)] for each in (without, found)]
    assert set(titles[1]) - set(titles[0]) == {"effect and noise floor"}
    (averages,) = (table for table in all_tables(found) if table.title == "average mutation effect")
    at = averages.columns.index("noise floor")
    assert all(isinstance(row[at], Proportion) for row in averages.rows)
    assert "oise floor" not in write_evaluation(form, without)
    assert "oise floor" in write_evaluation(form, found)


def test_a_page_of_a_run_has_the_placebos_that_changed_the_verdict() -> None:
    found = with_placebos(hostile_run())
    changed = [
        (item.position, len(stored.record.pairs))
        for item, stored in found.records
        if isinstance(stored.record, PairsRecord)
        and stored.record.placebos[0].outcome in {PairOutcome.LOST, PairOutcome.GAINED}
    ]
    page = write_evaluation("html", found)
    assert changed
    for position, number in changed:
        assert f'id="pair-{position}-{number}"' in page


def test_nothing_is_marked_in_other_formats_where_the_verdict_changes_with_nothing() -> None:
    without, found = hostile_run(), with_placebos(hostile_run())
    results = json.loads(write_evaluation("sarif", found))["runs"][0]["results"]
    notes = [one for one in results if "meaningless changes" in one["message"]["text"]]
    assert notes
    assert {one["level"] for one in notes} == {"note"}
    assert "warning" in {one["level"] for one in results}
    marked, left = (write_evaluation("github", each).count("::warning") for each in (without, found))
    assert marked > left > 0
