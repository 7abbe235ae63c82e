"""Which model: the first line of a report over several models, and the gate about one that is useless."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

from counterlens.evaluation.choice import choice_in, model_choice
from counterlens.evaluation.comparison import compare_models
from counterlens.evaluation.gate import GateOutcome, gate
from counterlens.evaluation.reproducing import pool_runs
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.metrics.effects import Effect, wilson
from counterlens.metrics.significance import functions_needed
from counterlens.metrics.summary import Observation
from counterlens.reports.build.choice import choice_sentence
from counterlens.reports.build.comparison import comparison_report, gate_lines
from counterlens.reports.build.evaluation import changed_report
from counterlens.reports.document import Paragraph
from counterlens.reports.render import terminal
from counterlens.reports.run_formats import write_evaluation
from tests.evaluation.made_up import pair, pairs_record
from tests.metrics.test_standing import seen

FUNCTIONS, PAIRS = 12, 5


def run_of(seed: int, **shares: float) -> RunResults:
    """A run of scripted models, each right with some probability, about twelve functions of five pairs."""
    draw, records = random.Random(seed), list[tuple[Item, StoredRecord]]()  # noqa: S311 - no secret
    for model, share in shares.items():
        for number in range(FUNCTIONS):
            original = draw.random() < share
            pairs = [pair(original, draw.random() < share) for _ in range(PAIRS)]
            name = f"f{number}"
            item = Item(len(records), f"{model}|{name}", model, name, name, "00", "completion")
            records.append((item, StoredRecord(pairs_record(name, *pairs), 3.0)))
    settings = RunSettings(("completion",), "data", tuple(shares))
    return RunResults(settings, len(records), {}, tuple(records), elapsed=120.0)


def answer_in(form: str, run: RunResults) -> str:
    words = re.sub(r"[*\\\\]|<[^>]*>", "", write_evaluation(form, run))
    return " ".join(words[words.index("Which model:") :].split())


def test_a_model_that_is_better_by_thirty_points_on_twelve_functions_is_told() -> None:
    choices = [choice_in(run_of(seed, worse=0.6, better=0.9)) for seed in range(20)]
    told = [choice.best for choice in choices if choice and choice.decided]
    assert told == ["better"] * len(told)
    assert len(told) >= 16
    run = run_of(1, worse=0.6, better=0.9)
    for form in ("text", "markdown", "html"):
        assert answer_in(form, run).startswith("Which model: better. better writes ")
    assert write_evaluation("text", run).splitlines()[1].startswith("Which model: better.")
    assert json.loads(write_evaluation("json", run))["which"]["completion"]["rivals"] == []


def test_equal_models_cannot_be_told_and_the_number_that_would_is_given() -> None:
    choices = [choice_in(run_of(seed, a=0.6, b=0.6)) for seed in range(40)]
    assert sum(choice is not None and choice.decided for choice in choices) <= 6  # about 2 are expected
    run = next(
        run for seed in range(40) if (choice := choice_in(run := run_of(seed, a=0.6, b=0.6))) and choice.more
    )
    for form in ("text", "markdown", "html"):
        assert re.match(
            r"Which model: cannot be told between . and .: about [\d,]+ more functions, "
            r"[\d,]+ minutes? at the pace of this run\. ",
            answer_in(form, run),
        )
    assert json.loads(write_evaluation("json", run))["which"]["completion"]["more"] > 0


def test_a_model_that_writes_none_is_named_and_the_gate_says_neither() -> None:
    run = run_of(1, a=0.9, nothing=0.0)
    assert "nothing writes nothing right here: none of its 72 completions passes" in answer_in("text", run)
    good, useless = gate(run, 0.8, 6)
    assert (good.model, useless.model) == ("a", "nothing")
    assert useless.outcome is GateOutcome.INCONCLUSIVE
    lucky = [pairs_record(f"f{at}", *[pair(at < 2, at < 2)] * 5) for at in range(FUNCTIONS)]
    records = [
        (Item(at, f"m|{at}", "m", f"f{at}", f"f{at}", "00", "completion"), StoredRecord(record))
        for at, record in enumerate(lucky)
    ]
    two = replace(run, settings=replace(run.settings, models=("m",)), records=tuple(records))
    (result,) = gate(two, 0.8, 6)  # it holds all of ten pairs, where `None` is right
    assert (result.kept.value, result.outcome) == (1.0, GateOutcome.INCONCLUSIVE)
    assert "too few originals" in "".join(gate_lines([result], 0.8))


def test_a_comparison_says_which_first() -> None:
    (comparison,) = compare_models(run_of(1, worse=0.6, better=0.9))
    _, first, *_ = comparison_report([comparison]).blocks
    assert isinstance(first, Paragraph)
    assert first.text.startswith("better. better writes ")


def test_one_screen_says_what_a_changed_function_means_for_a_model() -> None:
    lines = terminal.plain(changed_report(run_of(1, worse=0.6, better=0.9))).splitlines()
    assert len(lines) <= 40
    assert any(line.startswith("Which model: better") for line in lines)
    assert not any("counterfactual pairs" in line for line in lines)


def pairs_of(*wanted: tuple[bool, bool]) -> list[Observation]:
    return [Observation(Effect(*both), "m", "c", f"f{at}", "file") for at, both in enumerate(wanted)]


def test_right_completions_count_and_not_only_what_held() -> None:
    """A model that writes one thing right and holds it is not the better one."""
    steady = pairs_of(*[(True, True)] * 2, *[(False, False)] * 10)
    shaky = pairs_of(*[(True, index % 3 > 0) for index in range(12)])
    choice = model_choice({"steady": steady, "shaky": shaky})
    assert (choice.best, choice.decided) == ("shaky", True)


def test_functions_that_not_all_were_asked_about_do_not_count() -> None:
    first, second = pairs_of(*[(True, True)] * 12), pairs_of(*[(True, True)] * 3)
    choice = model_choice({"a": first, "b": second})
    assert choice.functions == 3
    assert choice.more == functions_needed(0.1) - 3
    assert model_choice({"a": first, "b": []}).functions == 0
    assert "no function has been asked of all" in choice_sentence(model_choice({"a": first, "b": []}))


def test_the_number_that_would_tell_is_about_right() -> None:
    """Two models that differ by ten points are mostly told after as many functions as were named."""
    told = 0
    for seed in range(20):
        few = model_choice({"a": seen(0.2, 20, 4 * seed), "b": seen(0.3, 20, 4 * seed + 1)})
        if few.decided or few.more is None:
            continue
        count = 20 + few.more
        assert count < 1_000
        many = model_choice({"a": seen(0.2, count, 4 * seed + 2), "b": seen(0.3, count, 4 * seed + 3)})
        told += many.decided
    assert told >= 10


def test_none_is_chosen_if_nothing_is_right() -> None:
    nothing = pairs_of(*[(False, False)] * 3)
    choice = model_choice({"a": nothing, "b": nothing})
    assert choice.best is None
    assert choice_sentence(choice) == "none: not one writes anything right, over 3 functions."


def test_functions_of_a_run_without_unsteady_answers_count_in_the_share_over_all_runs() -> None:
    steady, other = run_of(1, m=0.6), run_of(2, m=0.6)
    unsteady = replace(other, unsteady={("m", "completion"): wilson(3, FUNCTIONS)})
    share = pool_runs([steady, unsteady]).unsteady["m", "completion"]
    assert (share.count, share.n) == (3, 2 * FUNCTIONS)
