r"""A report as LaTeX tables, for `\input`: booktabs rules, figures aligned right, notes below.

Headings and sentences are comments between the tables.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from counterlens.reports.document import (
    Block,
    Bullets,
    Gist,
    Heading,
    Marked,
    Paragraph,
    Report,
    ReportCell,
    TableBlock,
    capitalise,
    cell_text,
    figure_columns,
    is_figure,
)
from counterlens.text import printable

_ROWS = 40
"""Rows on a page of the class article, besides caption and note."""
_LONG = 60
PARAGRAPHS = r">{\raggedright\arraybackslash}p{22em}"
_SPECIAL = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # after \\ a bracket would be read as a distance
    "]": "{]}",
    "Δ": r"$\Delta$",
    "→": r"$\rightarrow$",
}


def render(report: Report) -> str:
    """Every table of a report as a float, for the packages array, booktabs and graphicx, and fonts in T1."""
    head = [r"% \usepackage[T1]{fontenc}", r"% \usepackage{array,booktabs,graphicx}"]
    parts = ["\n".join([*head, _comment(report.title)])]
    labels: Counter[str] = Counter()
    for block in report.blocks:
        parts += _block(block, labels)
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Escape a text for LaTeX; a character without a glyph becomes a question mark."""
    plain = "".join(character if unicodedata.category(character)[0] != "C" else " " for character in text)
    return "".join(
        _SPECIAL.get(character) or character.encode("latin-1", "replace").decode("latin-1")
        for character in plain
    )


def table_parts(table: TableBlock, labels: Counter[str] | None = None) -> Iterator[str]:
    """A table as floats that fit a page each; if there are several, captions number the parts.

    Args:
        labels: Number of earlier uses of each label, so that none is used twice.
    """
    labels = Counter() if labels is None else labels
    parts = max(1, math.ceil(len(table.rows) / _ROWS))
    size = math.ceil(len(table.rows) / parts)
    for part in range(parts):
        title = f"{table.title} ({part + 1} of {parts})" if parts > 1 else table.title
        rows = table.rows[part * size : (part + 1) * size]
        label = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
        labels[label] += 1
        again = f"-{labels[label]}" if labels[label] > 1 else ""
        yield _float(replace(table, title=title, rows=rows), f"tab:{label}{again}")


def _block(block: Block, labels: Counter[str]) -> Iterator[str]:
    match block:
        case Heading():
            yield _comment(block.text)
        case Paragraph():
            lead = block.lead.text if isinstance(block.lead, Marked) else block.lead
            yield _comment(" ".join(part for part in (lead, block.text) if part))
        case Bullets():
            yield "\n".join(map(_comment, block.items))
        case TableBlock():
            yield from table_parts(block, labels)
        case Gist():
            for inside in block.blocks:
                yield from _block(inside, labels)


def _float(table: TableBlock, label: str) -> str:
    figures = figure_columns(table.columns, table.rows)
    kinds = "".join("r" if i in figures else _text_column(table, i) for i in range(len(table.columns)))
    said = escape(table.note.removesuffix("."))
    note = f"\n\n  \\smallskip\\footnotesize {said}." if said else ""
    return "\n".join(
        (
            r"\begin{table}[tbp]",
            r"  \centering",
            f"  \\caption{{{escape(capitalise(table.title))}}}",
            f"  \\label{{{label}}}",
            r"  \smallskip",
            # Natural width, but no wider than the line.
            r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            f"  \\begin{{tabular}}{{{kinds}}}",
            r"    \toprule",
            f"    {_row(map(escape, table.columns))}",
            r"    \midrule",
            *(f"    {_row(map(_cell, row))}" for row in table.rows),
            r"    \bottomrule",
            f"  \\end{{tabular}}}}{note}",
            r"\end{table}",
        )
    )


def _text_column(table: TableBlock, column: int) -> str:
    """The column type of a text column: paragraphs if a text is long."""
    return PARAGRAPHS if any(len(cell_text(row[column])) > _LONG for row in table.rows) else "l"


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(cell: ReportCell) -> str:
    text = escape(cell_text(cell))
    if not is_figure(cell):
        return text
    powers = re.sub(r"(-?\d(?:\.\d+)?)e\+?(-?)0*(\d+)", r"$\1\\cdot10^{\2\3}$", text)
    return re.sub(r"(?<![\w{$])-(?=\d)", "$-$", powers)


def _comment(text: str) -> str:
    return f"% {printable(' '.join(text.split()), keep='')}"
