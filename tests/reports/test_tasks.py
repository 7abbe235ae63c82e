"""What came of several tasks as a page and as Markdown: everything escaped, named and counted."""

from __future__ import annotations

from dataclasses import replace

from counterlens.metrics.effects import wilson
from counterlens.models.base import ModelInfo
from counterlens.probes.offers import OFFERS
from counterlens.probes.running import Outcome, State
from counterlens.probes.task import Result, Table
from counterlens.reports.task_words import left_out, standing, summary
from counterlens.reports.tasks_html import outcome_fragment, overview_fragment
from counterlens.reports.tasks_markdown import tasks_markdown

HOSTILE = '<img src=x onerror="alert(1)">|`'
INFO = ModelInfo("m", HOSTILE, "i", "local", frozenset())
RESULT = Result(
    task="operator",
    title="2 operators",
    model=INFO,
    summary=f"It knew {HOSTILE}.",
    tables=(Table("a table", ("name", "n", "share"), ((HOSTILE, 3, wilson(2, 3)),), "a note"),),
    left_out={HOSTILE: 2, "another reason": 5},
)
DONE = Outcome(OFFERS["operator"], State.DONE, result=RESULT)
FAILED = Outcome(OFFERS["repair"], State.FAILED, reason=f"{HOSTILE} is missing")


def test_nothing_of_a_result_is_read_as_html() -> None:
    page = overview_fragment(HOSTILE, HOSTILE, [DONE, FAILED]) + "".join(
        outcome_fragment(one) for one in (DONE, FAILED)
    )
    assert "<img" not in page
    assert page.count("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;") >= 7


def test_a_section_has_its_tables_with_intervals_and_what_was_left_out() -> None:
    section = outcome_fragment(DONE)
    assert '<h2 id="head-task-operator"' in section
    assert "67% [21%, 94%]" in section
    assert "<caption>A table</caption>" in section
    assert left_out(DONE) == [("another reason", 5), (HOSTILE, 2)]
    assert section.index("another reason") > section.index("<caption>Left out</caption>")
    assert "not run" in outcome_fragment(FAILED)
    assert outcome_fragment(Outcome(OFFERS["name"])) == ""


def test_markdown_keeps_its_tables_whatever_stands_in_them() -> None:
    report = tasks_markdown("Probes of f", "f.py", [DONE, FAILED, Outcome(OFFERS["name"])])
    rows = [line for line in report.splitlines() if line.startswith("| ")]
    assert all(line.replace("\\|", "").count("|") in (3, 4) for line in rows)
    assert "Not run: " in report
    assert "## name" not in report


def test_how_far_everything_is_in_one_line() -> None:
    waiting = Outcome(OFFERS["name"])
    assert standing([FAILED, waiting]) == "1 of 2 finished"
    assert standing([FAILED, replace(waiting, state=State.RUNNING)]) == "name is running; 1 of 2 finished"
    cancelled = replace(waiting, state=State.CANCELLED)
    assert standing([DONE, FAILED, cancelled]) == "Finished: 1 done, 1 not run, 1 cancelled"


def test_one_reason_for_several_functions_is_counted_once() -> None:
    reasons = {"f": "f has no tests", "g": "g has no tests"}
    one = Outcome(OFFERS["completion"], State.DONE, left_out=reasons)
    assert left_out(one) == [("a function has no tests", 2)]
    assert summary(replace(one, reason="why")) == "why"
