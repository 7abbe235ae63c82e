r"""A run as LaTeX tables, to be read with `\input`: booktabs rules, figures flush right, notes below."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace

from counterlens.evaluation.effects import all_tables
from counterlens.evaluation.figures import Found
from counterlens.probes.task import Cell, Table
from counterlens.reports.evaluation import wording
from counterlens.reports.tables import cell_text, figure_columns, is_figure

_ROWS = 40
"""What a page of the class article holds, beside caption and note."""
_LONG = 60
PARAGRAPHS = r">{\raggedright\arraybackslash}p{22em}"
_SPECIAL = {
    **{one: f"\\{one}" for one in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # after \\ a bracket would be taken for a distance
    "]": "{]}",
    "Δ": r"$\Delta$",
    "→": r"$\rightarrow$",
}


def run_latex(found: Found) -> str:
    """Every table of a run as a float, for the packages array, booktabs and graphicx, and fonts in T1."""
    head = [
        r"% \usepackage[T1]{fontenc}",
        r"% \usepackage{array,booktabs,graphicx}",
        f"% {_comment(wording.title(found))}",
        f"% {_comment(wording.state(found))}",
        *(f"% {_comment(line)}" for line in wording.circumstances(found)),
    ]
    floats = [part for table in all_tables(found) for part in table_parts(table)]
    return "\n\n".join(["\n".join(head), *floats]) + "\n"


def escaped(text: str) -> str:
    """Text that LaTeX sets as it is; what no font has becomes a question mark."""
    plain = "".join(one if unicodedata.category(one)[0] != "C" else " " for one in text)
    return "".join(_SPECIAL.get(one) or one.encode("latin-1", "replace").decode("latin-1") for one in plain)


def table_parts(table: Table) -> Iterator[str]:
    """A table as floats that fit a page each; where there are several, captions say which part one is."""
    count = math.ceil(len(table.rows) / _ROWS)
    size = math.ceil(len(table.rows) / count)
    for part in range(count):
        title = f"{table.title} ({part + 1} of {count})" if count > 1 else table.title
        yield _float(replace(table, title=title, rows=table.rows[part * size : (part + 1) * size]))


def _float(table: Table) -> str:
    figures = figure_columns(table)
    kinds = "".join("r" if i in figures else _worded(table, i) for i in range(len(table.columns)))
    said = escaped(table.note.removesuffix("."))
    note = f"\n\n  \\smallskip\\footnotesize {said}." if said else ""
    title = table.title[:1].upper() + table.title[1:]
    return "\n".join(
        (
            r"\begin{table}[tbp]",
            r"  \centering",
            f"  \\caption{{{escaped(title)}}}",
            f"  \\label{{tab:{re.sub(r'[^a-z0-9]+', '-', table.title.lower()).strip('-')}}}",
            r"  \smallskip",
            # As wide as it is, but no wider than the line.
            r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            f"  \\begin{{tabular}}{{{kinds}}}",
            r"    \toprule",
            f"    {_row(map(escaped, table.columns))}",
            r"    \midrule",
            *(f"    {_row(map(_cell, row))}" for row in table.rows),
            r"    \bottomrule",
            f"  \\end{{tabular}}}}{note}",
            r"\end{table}",
        )
    )


def _worded(table: Table, column: int) -> str:
    """How a column of texts is set: as paragraphs where one is long."""
    return PARAGRAPHS if any(len(cell_text(row[column])) > _LONG for row in table.rows) else "l"


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(cell: Cell) -> str:
    text = escaped(cell_text(cell))
    if not is_figure(cell):
        return text
    powers = re.sub(r"(-?\d(?:\.\d+)?)e\+?(-?)0*(\d+)", r"$\1\\cdot10^{\2\3}$", text)
    return re.sub(r"(?<![\w{$])-(?=\d)", "$-$", powers)


def _comment(text: str) -> str:
    return text.replace("\n", " ")
