"""Figures that need several models at once stand beside those of each."""

from __future__ import annotations

from counterlens.evaluation.results import RunResults
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.judging.base import Judgement
from counterlens.metrics.effects import wilson
from counterlens.probes.execution.printing import Origin
from counterlens.probes.execution.record import DependentExecutionRecord, ExecutionAnswer, Form, Synthesis
from counterlens.probes.prompts.literals import AnswerOutcome

TASK = "dependent-execution"


def written(target: str, *, right: bool) -> DependentExecutionRecord:
    """The record of one function that was written correctly, and what was said of it."""
    synthesis = Synthesis(
        target=target, call=f"{target}()", input=Origin.TEST, program="", finish="stop",
        judged_by="1 doctest", judgement=Judgement.PASSED, failed="", correct=True, unasked="",
        complexity=1, reference_complexity=2, s_der={"direct": int(right), "steps": 0},
    )  # fmt: skip
    answer = ExecutionAnswer(
        target=target, call=f"{target}()", input=Origin.TEST, form=Form.OWN, truth="1", type="int",
        style="direct", said="1" if right else "2", finish="stop", answer="1" if right else "2",
        outcome=AnswerOutcome.RIGHT if right else AnswerOutcome.WRONG, unread=None, same_type=True,
        tags=None, uses=None, apis=None, complexity=None, lines=None, rounds=None,
    )  # fmt: skip
    return DependentExecutionRecord(probe=TASK, target=target, syntheses=(synthesis,), answers=(answer,))


def run(models: dict[str, dict[str, bool]]) -> RunResults:
    """A run of several models: the functions that each wrote correctly, and whether it knew their results."""
    records: list[tuple[Item, StoredRecord]] = []
    for model, functions in models.items():
        for target, right in functions.items():
            item = Item(len(records), f"{model}|{TASK}|{target}", model, target, target, "", TASK)
            records.append((item, StoredRecord(written(target, right=right))))
    return RunResults(RunSettings((TASK,), "data", tuple(models)), len(records), {}, tuple(records))


def test_what_all_models_wrote_right_is_a_table_of_its_own() -> None:
    found = run({"a": {"f": True, "g": False}, "b": {"g": True, "h": True}})
    (table,) = [one for one in found.tables() if "several models" in one.title]
    rows = {row[:2]: row[-1] for row in table.rows}
    assert rows["a", "direct"] == wilson(0, 1)
    assert rows["b", "direct"] == wilson(1, 1)


def test_one_model_has_nothing_in_common() -> None:
    found = run({"a": {"f": True}})
    assert not [one for one in found.tables() if "several models" in one.title]
