"""Tables and comparisons from records: counted by hand."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from counterlens.errors import DataError
from counterlens.evaluation.comparison import (
    Comparison,
    compare,
    compare_models,
    compare_runs,
    on_common_functions,
)
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.metrics.effects import Proportion
from counterlens.models.entries import ModelEntry
from counterlens.models.speed import ModelSpeed
from counterlens.models.usage import Price, Usage
from counterlens.probes.confidence import ConfidenceRecord, Confounders
from counterlens.probes.record import steady
from counterlens.reports.build.comparison import comparison_report
from counterlens.reports.build.overview import quality_and_speed
from counterlens.reports.build.run_wording import progress_of
from counterlens.reports.document import Figure, TableBlock
from counterlens.reports.render import markdown
from counterlens.reports.run_formats import write_evaluation
from tests.evaluation.made_up import pair, pairs_record, records, results


def comparison_markdown(compared: list[Comparison]) -> str:
    return markdown.render(comparison_report(compared))


def test_pairs_are_counted() -> None:
    run = results((True, False), (True, True), (False, False), None)
    functions, effects = run.tables()[:2]
    assert functions.rows == (("m", 3, 0, 1),)
    ((model, pairs, informative, right, effect, contested, uncontested, signed, p, adjusted),) = effects.rows
    assert (model, pairs, informative, contested) == ("m", 3, 2, 0)
    assert uncontested == effect
    assert (signed, p, adjusted) == ("-0.50", "1", "1")
    assert isinstance(right, Proportion)
    assert isinstance(effect, Proportion)
    assert (right.count, right.n) == (2, 3)
    assert (effect.count, effect.n) == (1, 2)
    assert run.left_out == {"no tests": 1}


def test_the_reports_show_what_changed_and_what_was_left_out() -> None:
    run = results((True, False), (None, True), None)
    text = write_evaluation("markdown", run)
    assert "### one (m, record 0)\n\n#### if-else-flip, lines 1 to 2: right only on the original" in text
    assert "````diff\n@@ -1 +1 @@\n-```\n+b\n````" in text  # what holds a fence needs a longer one
    assert "changed \\| something" in text
    assert "### two" not in text
    lines = write_evaluation("csv", run).splitlines()
    assert len(lines) == 4
    assert lines[1].endswith("True,False,passed,failed")
    assert lines[2].endswith(",True,refused,passed")
    assert lines[3].startswith("2,m,three,f,left out,no tests,")


def test_an_unfinished_run_says_so() -> None:
    run = RunResults(RunSettings(("completion",), "data", ("m",)), 9, {}, tuple(records((True, True))))
    assert "Not finished: 1 of 9" in write_evaluation("markdown", run)


def test_functions_are_compared_and_not_pairs() -> None:
    first = records((True, True), (True, True), (True, False), None)
    second = records((False, True), (True, True), (None, False), (True, True))
    second[1] = (Item(1, "m|completion|two", "m", "two", "f", "11", "completion"), second[1][1])
    result = compare(first, second, ("a", "b"))
    originals, counterfactuals = result.measures
    assert (originals.n, originals.lost, originals.gained, originals.p) == (1, ("one",), (), 1.0)
    assert (counterfactuals.n, counterfactuals.first, counterfactuals.p) == (2, 1, None)
    assert (result.changed, result.only) == (("two",), 1)
    text = comparison_markdown([result])
    assert "all originals right, first only: one" in text
    assert "their source differs: two" in text


def two_models() -> RunResults:
    """Functions that model b completes rightly and model a does not, and one that cannot be changed."""
    sides = {"a": records((False, False), (False, True)), "b": records((True, True), (True, True))}
    moved = [
        (replace(item, model=model), record)
        for model, side in sides.items()
        for item, record in [*side, (Item(9, "", model, "nine", "f", "00", "completion"), _UNCHANGED)]
    ]
    return RunResults(RunSettings(("completion",), "data", ("a", "b")), len(moved), {}, tuple(moved))


_UNCHANGED = StoredRecord(pairs_record("nine", judged_by="2 tests"))


def test_the_models_of_one_run_are_compared() -> None:
    (result,) = compare_models(two_models())
    assert (result.first, result.second) == ("a", "b")
    originals = result.measures[0]
    assert (originals.n, originals.first, originals.second, len(originals.gained)) == (2, 0, 2, 2)
    with pytest.raises(DataError, match="only one model"):
        compare_models(results((True, True)))


def test_speed_stands_beside_quality_where_it_was_measured() -> None:
    run = two_models()
    assert "tokens/s" not in "".join(write_evaluation(form, run) for form in ("text", "markdown", "html"))
    slow, quick = (ModelSpeed(rate, 50, 1, 2_000_000_000, True, 7 / rate, "A chip") for rate in (5, 20))
    settings = RunSettings(
        ("completion",),
        "data",
        ("a", "b", "c"),
        entries=(ModelEntry("c", "far", "http://far.example", price=Price(1, 2)),),
    )
    priced = replace(
        run, settings=settings, speeds={"a": slow, "b": quick}, spent={"c": Usage(9, written=10**6)}
    )
    (table, figure) = quality_and_speed({"": priced})
    assert isinstance(table, TableBlock)
    assert isinstance(figure, Figure)
    assert [row[0] for row in table.rows] == ["b", "a", "c"]
    assert table.rows[1][3:] == ("1.4 s", "5", "2.0 GB", None, "A chip")
    assert table.rows[2][3:] == (None, None, None, "2.00 USD", None)
    right, held = table.rows[0][1:3]
    assert isinstance(right, Proportion)
    assert isinstance(held, Proportion)
    assert (right.value, held.value) == (1.0, 1.0)
    assert figure.svg.index(">b, 20 tokens/s<") < figure.svg.index(">a, 5 tokens/s<")
    assert "far" not in figure.svg
    compared = markdown.render(comparison_report(compare_models(run), {"": priced}))
    assert compared.count("2.0 GB") == 2
    assert "Quality and speed of each model" in write_evaluation("html", priced)


def test_functions_without_a_pair_are_counted_and_say_so() -> None:
    run = two_models()
    table = run.tables()[0]
    assert table.columns == ("model", "probed", "without a pair", "left out")
    assert table.rows[0] == ("a", 3, 1, 0)
    assert progress_of(run) == "All 6 questions about functions of the plan are done."
    assert write_evaluation("html", run).count("No counterfactual could be probed.") == 2


def test_scores_are_paired_by_function_and_all_tests_are_one_family() -> None:
    names = [f"p{i}" for i in range(8)]

    def side(*verdicts: tuple[bool, bool]) -> list[tuple[Item, StoredRecord]]:
        pairs = [pair(*both) for both in verdicts]
        return [
            (
                Item(i, f"m|completion|{name}", "m", name, "f", "00", "completion"),
                StoredRecord(pairs_record(name, *pairs)),
            )
            for i, name in enumerate(names)
        ]

    result = compare(side((True, True), (True, False)), side((True, True), (True, True)), ("a", "b"))
    scores = {one.name: one for one in result.scores}
    right = scores["counterfactuals right"]
    assert (right.n, right.different, right.first, right.second) == (8, 8, 0.5, 1.0)
    assert right.p == pytest.approx(2 / 2**8)  # all eight rose
    effect = scores["average mutation effect"]
    assert (effect.first, effect.second, effect.p) == (0.5, 0.0, right.p)
    assert scores["originals right"].p is None
    (verdicts,) = [one for one in result.measures if one.name == "all counterfactuals right"]
    assert verdicts.p == pytest.approx(2 / 2**8)
    assert right.holm == effect.holm == verdicts.holm == pytest.approx(3 * 2 / 2**8)  # three tests
    text = comparison_markdown([result])
    assert "| counterfactuals right | 8 | 0.50 | 1.00 | +0.50 | 0.00781 | 0.0234 |" in text


def test_a_comparison_and_a_report_give_a_figure_the_same_value() -> None:
    def side(model: str, right: bool) -> list[tuple[Item, StoredRecord]]:
        many = [pair(True, right) for _ in range(9)]
        functions = {"many": many, "few": [pair(True, True)], f"alone_{model}": [pair(False, True)]}
        return [
            (Item(i, "", model, name, "f", "00", "completion"), StoredRecord(pairs_record(name, *pairs)))
            for i, (name, pairs) in enumerate(functions.items())
        ]

    both = (*side("a", right=False), *side("b", right=True))
    speeds = {name: ModelSpeed(9, 50, 1, 0, True, 1, "A chip") for name in ("a", "b")}
    run = RunResults(RunSettings(("completion",), "data", ("a", "b")), 6, {}, both, speeds=speeds)
    (result,) = compare_models(run)
    figures = {score.name: (score.first, score.second) for score in result.scores}
    (table, _) = quality_and_speed(on_common_functions({"": run}))
    assert isinstance(table, TableBlock)
    shown = {row[0]: row[1:3] for row in table.rows}
    for column, model in enumerate(("a", "b")):
        right, held = shown[model]
        assert isinstance(right, Proportion)
        assert isinstance(held, Proportion)
        assert right.value == figures["originals right"][column]
        assert held.complement.value == pytest.approx(figures["average mutation effect"][column])
    assert figures["average mutation effect"] == (pytest.approx(0.9), 0.0)  # over functions, the mean is 0.5
    assert "Over the 2 functions" in markdown.render(comparison_report([result], {"": run}))


def test_cross_entropies_are_compared_for_one_tokenizer_only() -> None:
    def side(tokens: int) -> list[tuple[Item, StoredRecord]]:
        record = ConfidenceRecord(
            tokens=tokens,
            bytes=40,
            bits=80.0,
            cross_entropy=80.0 / tokens,
            concepts={},
            node_types={},
            confounders=Confounders(
                cyclomatic_complexity=1, ast_levels=1, ast_nodes=1, sequence_length=tokens
            ),
        )
        return [(Item(0, "", "m", "one", "f", "00", "confidence"), StoredRecord(record))]

    alike = compare(side(10), side(10), ("a", "b"))
    assert [one.name for one in alike.scores] == ["cross-entropy", "bits per byte"]
    assert "No function" not in comparison_markdown([alike])
    assert "No function was measured" in comparison_markdown([compare([], side(10), ("a", "b"))])
    other = compare(side(10), side(16), ("a", "b"))
    assert [(one.name, one.first, one.second) for one in other.scores] == [("bits per byte", 2.0, 2.0)]
    assert any("cross-entropy" in note and "tokenizers" in note for note in other.notes)


def test_without_scipy_runs_are_compared_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    result = compare(records((True, True)), records((True, False)), ("a", "b"))
    assert [one.p for one in result.measures] == [None, 1.0]
    assert {one.p for one in result.scores} == {None}
    assert any("counterlens[statistics]" in note for note in result.notes)


def test_runs_under_other_circumstances_say_so() -> None:
    def run(digest: str, python: str) -> RunResults:
        judged_by = {"tests": {"boltons": digest * 64}, "interpreter": {"boltons": python}}
        manifests = {"m": {"judged_by": judged_by, "model": {"identity": digest}, "python": python}}
        return replace(results((True, True)), manifests=manifests)

    (told,) = compare_runs(run("a", "3.11.7"), run("b", "3.12.1"), ("a", "b"))
    assert told.notes == (
        "The runs differ in judged_by.interpreter.boltons: 3.11.7, now 3.12.1",
        "The runs differ in judged_by.tests.boltons",
        "The runs differ in python: 3.11.7, now 3.12.1",
    )
    (same,) = compare_runs(run("a", "3.11.7"), run("a", "3.11.7"), ("a", "b"))
    assert same.notes == ()


def test_runs_that_do_not_compare_are_refused() -> None:
    with pytest.raises(DataError, match="one run is of the task completion, the other of repair"):
        compare_runs(results((True, True)), results((True, True), task="repair"), ("a", "b"))


def test_what_differs_from_run_to_run_is_blanked() -> None:
    assert steady("<f at 0x7f00aa00aa00> in /tmp/x-1/main.py, line 3") == "<f at 0x…> in …, line 3"
    assert steady("0x10 stays, and so does tmp/x") == "0x10 stays, and so does tmp/x"
