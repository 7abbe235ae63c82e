"""The results of several tasks as a page and as Markdown: everything escaped, named and counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from counterlens.metrics.effects import wilson
from counterlens.metrics.table import Table
from counterlens.models.base import Model, ModelInfo
from counterlens.probes.options import ProbeOptions
from counterlens.probes.probe import Context, Probe, Source, Target
from counterlens.probes.record import Outcome, Record
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import ProbeRun, State
from counterlens.reports.build.probe_run import overview, progress_line, section, several_report
from counterlens.reports.render import html, markdown

HOSTILE = '<img src=x onerror="alert(1)">|`'
INFO = ModelInfo("m", HOSTILE, "i", "local", frozenset())


class HostileProbe(Probe[ProbeOptions, Record]):
    """Says the worst that a probe could say."""

    id = "operator"
    title = f"2 operators of {HOSTILE}"
    source = Source("ours")
    options = ProbeOptions
    record = Record

    def run(self, context: Context, target: Target, options: ProbeOptions) -> Record:
        raise NotImplementedError

    def tables(self, records: Sequence[Record], *, seed: int) -> tuple[Table, ...]:  # noqa: ARG002
        return (Table("a table", ("name", "n", "share"), ((HOSTILE, 3, wilson(2, 3)),), "a note"),)

    def summary(self, records: Sequence[Record]) -> str:  # noqa: ARG002
        return f"It knew {HOSTILE}."

    def measures(self, record: Record) -> Mapping[str, bool]:  # noqa: ARG002
        return {}

    def estimate(self, target: Target, options: ProbeOptions, model: Model) -> int:  # noqa: ARG002
        return 0


def begun(name: str, state: State, reason: str = "") -> ProbeRun:
    return ProbeRun(PROBES[name], PROBES[name].options(), state, reason)


RECORD = Record(left_out={HOSTILE: 2, "another reason": 5})
DONE = ProbeRun(HostileProbe(), ProbeOptions(), State.DONE, model=INFO, records=(RECORD,))
FAILED = begun("repair", State.FAILED, f"{HOSTILE} is missing")
WAITING = begun("name", State.WAITING)


def test_nothing_of_a_result_is_read_as_html() -> None:
    page = html.fragment(overview(HOSTILE, HOSTILE, [DONE, FAILED])) + "".join(
        html.fragment(section(run)) for run in (DONE, FAILED)
    )
    assert "<img" not in page
    assert page.count("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;") >= 7


def test_a_section_has_its_tables_with_intervals_and_what_was_left_out() -> None:
    shown = html.fragment(section(DONE))
    assert '<h2 id="head-task-operator"' in shown
    assert "67% [21%, 94%]" in shown
    assert "<caption>A table</caption>" in shown
    assert [*DONE.left_out.items()] == [("another reason", 5), (HOSTILE, 2)]
    assert shown.index("another reason") > shown.index("<caption>Left out</caption>")
    assert "not run" in html.fragment(section(FAILED))
    assert html.fragment(section(WAITING)) == ""


def test_an_overview_leads_to_the_sections_by_buttons_or_by_links() -> None:
    runs = [DONE, FAILED, WAITING]
    hosted = html.fragment(overview("f", "f.py", runs))
    assert hosted.count('data-jump="task-operator"') == hosted.count('data-jump="task-repair"') == 1
    assert "task-name" not in hosted
    page = html.page(several_report("f", "f.py", runs))
    assert '<a href="#head-task-operator">operator</a>' in page
    assert "<button" not in page


def test_markdown_keeps_its_tables_whatever_stands_in_them() -> None:
    report = markdown.render(several_report("Probes of f", "f.py", [DONE, FAILED, WAITING]))
    rows = [line for line in report.splitlines() if line.startswith("| ")]
    assert all(line.replace("\\|", "").count("|") in (3, 4) for line in rows)
    assert "**not run** " in report
    assert "## name" not in report


def test_how_far_everything_is_in_one_line() -> None:
    assert progress_line([FAILED, WAITING]) == "1 of 2 finished"
    running = replace(WAITING, state=State.RUNNING)
    assert progress_line([FAILED, running]) == "name is running; 1 of 2 finished"
    cancelled = replace(WAITING, state=State.CANCELLED)
    assert progress_line([DONE, FAILED, cancelled]) == "Finished: 1 done, 1 not run, 1 cancelled"


def test_one_reason_for_several_functions_is_counted_once() -> None:
    missing = Record(outcome=Outcome.LEFT_OUT, reason="it has no tests")
    run = replace(begun("completion", State.DONE), records=(missing, missing))
    assert run.left_out == {"it has no tests": 2}
    assert replace(run, reason="why").summary == "why"
