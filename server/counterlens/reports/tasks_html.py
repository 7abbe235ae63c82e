"""Tasks as HTML: an overview and one section a task, for a page that grows, or all at once as a page.

Everything is escaped here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from counterlens.probes.running import Outcome, State
from counterlens.probes.task import Result, Table
from counterlens.reports.html import page, probe_fragment, together_tables
from counterlens.reports.markup import paragraph
from counterlens.reports.markup import table as html_table
from counterlens.reports.tables import cell_text
from counterlens.reports.task_words import checked, left_out, probes_of, summary


def tasks_html(title: str, about: str, outcomes: Sequence[Outcome]) -> str:
    """A page on tasks that have ended; it loads and runs nothing.

    Args:
        title: What was probed.
        about: Where it is, and who was asked.
        outcomes: The tasks, in their order.
    """
    overview = overview_fragment(title, about, outcomes, linked=True)
    return page(title, "\n".join([overview, *map(outcome_fragment, outcomes)]))


def overview_fragment(title: str, about: str, outcomes: Sequence[Outcome], *, linked: bool = False) -> str:
    """How far each task is, and what it shows; its name leads to its section.

    Args:
        title: What is probed.
        about: Where it is, and who is asked.
        outcomes: The tasks, in their order.
        linked: Whether by a link; otherwise by a button with `data-jump`, for a host whose script does it.
    """
    rows = [
        (
            _name(one, linked),
            f'<span class="{_style(one.state)}">{one.state}</span>',
            escape(_short(summary(one))),
        )
        for one in outcomes
    ]
    caption = "Tasks" if len(rows) > 1 else "Task"
    shown = html_table(caption, ("task", "state", "what it shows"), rows)
    head = f'<h1 id="head-overview" tabindex="-1">{escape(title)}</h1>'
    return f"{head}\n<p>{escape(about)}</p>\n{shown}"


def outcome_fragment(outcome: Outcome) -> str:
    """The section of one task; empty while there is nothing to show."""
    begun = outcome.state is not State.WAITING
    return "\n".join(_section(outcome)) if begun else ""


def section_id(outcome: Outcome) -> str:
    """The id of its section; `head-` before it is that of its heading."""
    return f"task-{outcome.offer.id}"


def result_tables(result: Result) -> Iterator[str]:
    """The same tables as at a terminal."""
    for one in result.tables:
        yield _table(one)


def _section(outcome: Outcome) -> Iterator[str]:
    offer = outcome.offer
    head = f"head-{escape(section_id(outcome))}"
    yield f'<h2 id="{head}" tabindex="-1">{escape(offer.id)}: {escape(offer.title)}</h2>'
    if outcome.state is not State.DONE:
        reason = f" {escape(summary(outcome))}" if outcome.reason else ""
        yield f'<p><span class="{_style(outcome.state)}">{outcome.state}</span>{reason}</p>'
    if outcome.state is not State.FAILED:
        yield from _found(outcome)


def _found(outcome: Outcome) -> Iterator[str]:
    probes, result = probes_of(outcome), outcome.result
    if result is not None:
        yield paragraph(f"{result.title}, asked of {result.model.name} ({result.model.where})")
    if result is not None or len(probes) > 1:
        yield f"<p><strong>{escape(summary(outcome))}</strong></p>"
    if checked(outcome):
        yield paragraph(f"Checked before any figure: {checked(outcome)}.")
    if result is not None:
        yield from result_tables(result)
    for probe in probes:
        yield probe_fragment(probe, level=3)
    if len(probes) > 1:
        yield "<h3>All functions</h3>"
        yield from together_tables(probes)
    missing = left_out(outcome)
    if missing:
        rows = [(escape(reason), str(count)) for reason, count in missing]
        yield html_table("Left out", ("why", "how often"), rows)


def _table(one: Table) -> str:
    cells = [[escape(cell_text(cell)) for cell in row] for row in one.rows]
    numeric = [all(not isinstance(row[i], str) for row in one.rows) for i in range(len(one.columns))]
    rows = [
        [f'<span class="figures">{cell}</span>' if numeric[i] else cell for i, cell in enumerate(row)]
        for row in cells
    ]
    note = f'<p class="note">{escape(one.note)}.</p>' if one.note else ""
    return html_table(one.title[:1].upper() + one.title[1:], one.columns, rows) + note


def _name(outcome: Outcome, linked: bool) -> str:
    name = escape(outcome.offer.id)
    if outcome.state is State.WAITING:
        return name
    if linked:
        return f'<a href="#head-{escape(section_id(outcome))}">{name}</a>'
    return f'<button type="button" class="link" data-jump="{escape(section_id(outcome))}">{name}</button>'


def _style(state: State) -> str:
    return {State.DONE: "passed", State.FAILED: "refused", State.CANCELLED: "refused"}.get(state, "pending")


def _short(text: str, most: int = 260) -> str:
    return text if len(text) <= most else text[: most - 1].rsplit(" ", 1)[0] + "…"
