"""What came of several tasks as Markdown: for clients that show no more than that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterlens.probes.running import Outcome, State
from counterlens.reports.markdown import escaped, probe_markdown, prose, table
from counterlens.reports.tables import cell_text
from counterlens.reports.task_words import checked, left_out, probes_of, summary


def tasks_markdown(title: str, about: str, outcomes: Sequence[Outcome]) -> str:
    """A report on all tasks.

    Args:
        title: What was probed.
        about: Where it is, and who was asked.
        outcomes: The tasks, in their order.
    """
    rows = [(one.offer.id, str(one.state), summary(one)) for one in outcomes]
    parts = [f"# {escaped(title)}", escaped(about), table(("task", "state", "what it shows"), rows)]
    for outcome in outcomes:
        if outcome.state in (State.DONE, State.FAILED) or outcome.probed:
            parts += _section(outcome)
    return "\n\n".join(parts) + "\n"


def _section(outcome: Outcome) -> Iterator[str]:
    probes, result = probes_of(outcome), outcome.result
    yield f"## {escaped(outcome.offer.id)}: {escaped(outcome.offer.title)}"
    if outcome.state is State.FAILED:
        yield f"Not run: {escaped(summary(outcome))}"
        return
    if result is not None:
        yield prose(f"{result.title}, asked of {result.model.name} ({result.model.where})")
    if result is not None or len(probes) > 1:
        yield f"**{prose(summary(outcome))}**"
    if checked(outcome):
        yield escaped(f"Checked before any figure: {checked(outcome)}.")
    for one in result.tables if result is not None else ():
        yield f"### {escaped(one.title)}"
        yield table(one.columns, [[cell_text(cell) for cell in row] for row in one.rows])
        if one.note:
            yield f"{escaped(one.note)}."
    if probes:
        yield probe_markdown(probes, level=3).rstrip("\n")
    missing = left_out(outcome)
    if missing:
        yield "### Left out"
        yield table(("why", "how often"), [(reason, str(count)) for reason, count in missing])
