"""Documents: what is code in a sentence, which headings stand, and where the gist of a section is shown."""

from __future__ import annotations

import pytest

from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import Proportion
from counterlens.reports.document import (
    Figure,
    Folded,
    Gist,
    Heading,
    Marked,
    Paragraph,
    Report,
    TableBlock,
    cell_text,
    figure_columns,
    inline,
)
from counterlens.reports.render import html, latex, markdown, terminal

TABLE = TableBlock(
    "figures", ("name", "value"), (("a | b", 1), ("c", Estimate(0.5, 0.25, 0.75, 9))), "a note."
)
REPORT = Report(
    "A report",
    (
        Heading(1, "Whole"),
        Gist((Paragraph("The end."), TABLE)),
        Paragraph("The beginning."),
        Heading(2, "Plots", "plots"),
        Figure("A plot", "described", TABLE, svg="<svg></svg>"),
        Heading(2, "More", "more"),
        Folded("Kept", (Paragraph("inside"),), Marked("it held", "held"), kept=True),
        Folded("Folded away", (Paragraph("hidden"),)),
    ),
)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("plain", [("plain", False)]),
        ("`a` and `b`", [("a", True), (" and ", False), ("b", True)]),
        ("``a`b`` c", [("a`b", True), (" c", False)]),
        ("it's ` alone", [("it's ` alone", False)]),
        ("`a` then ` alone", [("a", True), (" then ` alone", False)]),
        ("", []),
    ],
)
def test_what_stands_in_backquotes_is_code(text: str, pieces: list[tuple[str, bool]]) -> None:
    assert inline(text) == pieces


@pytest.mark.parametrize(
    ("text", "shown"),
    [("snake_case", "snake_case"), ("_a_ b_", r"\_a\_ b\_"), ("__init__", r"\_\_init\_\_"), ("a*b", r"a\*b")],
)
def test_markdown_escapes_what_it_would_read(text: str, shown: str) -> None:
    assert markdown.escape(text) == shown


def test_the_gist_is_first_on_a_page_and_last_at_a_terminal() -> None:
    for text in (markdown.render(REPORT), html.page(REPORT)):
        assert text.index("The end.") < text.index("The beginning.")
    shown = terminal.plain(REPORT)
    assert shown.index("The beginning.") < shown.index("figures") < shown.index("The end.")


def test_a_heading_that_nothing_stands_under_is_left_out() -> None:
    assert "Plots" not in markdown.render(REPORT)
    assert "## More\n\n### Kept: it held\n\ninside" in markdown.render(REPORT)
    assert "hidden" not in markdown.render(REPORT)
    assert not {"Plots", "More", "Kept"} & {*terminal.plain(REPORT).split()}
    page = html.page(REPORT)
    assert '<a href="#head-plots">Plots</a>' in page
    assert '<h2 id="head-plots" tabindex="-1">' in page
    assert '<summary>Kept: <span class="held">it held</span></summary>' in page
    assert "script-src" not in html.policy()


def test_headings_begin_at_the_level_that_is_asked_for() -> None:
    assert markdown.render(REPORT, level=3).startswith("### Whole\n")


def test_a_table_is_the_same_in_every_form() -> None:
    assert figure_columns(TABLE.columns, TABLE.rows) == {1}
    assert cell_text(TABLE.rows[1][1]) == "0.50 [0.25, 0.75]"
    assert "| a \\| b | 1 |\n| c | 0.50 \\[0.25, 0.75\\] |\n\na note." in markdown.render(REPORT)
    assert '<td class="figures">0.50 [0.25, 0.75]</td>' in html.page(REPORT)
    assert r"c & 0.50 {[}0.25, 0.75{]} \\" in latex.render(REPORT)
    assert "0.50 [0.25, 0.75]" in terminal.plain(REPORT)
    assert [text.count("a note.") for text in (markdown.render(REPORT), latex.render(REPORT))] == [1, 1]


def test_a_wide_table_fits_the_terminal_and_loses_no_cell() -> None:
    columns = ("model", "asked", *(f"share of figure number {i}" for i in range(9)))
    rows = tuple(
        (
            "qwen2.5-coder-0.5b",
            "step by step",
            *(Proportion(0.5, 0.25, 0.75, 20 + i, 40 + 2 * i) for i in range(9)),
        )
        for _ in range(2)
    )
    text = terminal.plain(Report("", (TableBlock("wide", columns, rows),)))
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    assert text.count("50% [25%, 75%]") == 18
    assert sum(line.startswith("qwen2.5-coder-0.5b") for line in lines) > 2  # each part names its rows
    narrow = Report("", (TableBlock("narrow", columns[:3], tuple(row[:3] for row in rows)),))
    assert columns[2] in terminal.plain(narrow)  # a head is wrapped only where there is no room


def test_a_share_of_few_cases_says_how_many() -> None:
    assert cell_text(Proportion(0.5, 0.1, 0.9, 2, 4)) == "50% [10%, 90%], n = 4"
    assert cell_text(Proportion(0.5, 0.3, 0.7, 5, 10)) == "50% [30%, 70%]"
