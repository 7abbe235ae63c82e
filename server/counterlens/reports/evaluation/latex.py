r"""A run as LaTeX tables, to be read with `\input`: booktabs rules, figures flush right, notes below."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from counterlens.evaluation.effects import all_tables
from counterlens.evaluation.figures import Found
from counterlens.probes.task import Cell, Table
from counterlens.reports.evaluation import wording
from counterlens.reports.tables import cell_text

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
}


def run_latex(found: Found) -> str:
    """Every table of a run as a floating table; needs the packages booktabs and graphicx, and fonts in T1."""
    head = [
        r"% \usepackage[T1]{fontenc}",
        r"% \usepackage{booktabs,graphicx}",
        f"% {_comment(wording.title(found))}",
        f"% {_comment(wording.state(found))}",
        *(f"% {_comment(line)}" for line in wording.circumstances(found)),
    ]
    return "\n".join(head) + "\n\n" + "\n\n".join(map(_table, all_tables(found))) + "\n"


def escaped(text: str) -> str:
    """Text that LaTeX sets as it is; what no font has becomes a question mark."""
    plain = "".join(one if unicodedata.category(one)[0] != "C" else " " for one in text)
    known = plain.encode("latin-1", "replace").decode("latin-1")
    return "".join(_SPECIAL.get(one, one) for one in known)


def _table(table: Table) -> str:
    kinds = "".join(
        "l" if any(isinstance(row[i], str) and not _figure(row[i]) for row in table.rows) else "r"
        for i in range(len(table.columns))
    )
    rows = [_row(map(cell_text, row)) for row in table.rows]
    note = f"\n\n  \\smallskip\\footnotesize {escaped(table.note)}." if table.note else ""
    title = table.title[:1].upper() + table.title[1:]
    return "\n".join(
        (
            r"\begin{table}[tbp]",
            r"  \centering",
            f"  \\caption{{{escaped(title)}}}",
            f"  \\label{{tab:{re.sub(r'[^a-z0-9]+', '-', table.title.lower()).strip('-')}}}",
            # As wide as it is, but no wider than the line.
            r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            f"  \\begin{{tabular}}{{{kinds}}}",
            r"    \toprule",
            f"    {_row(table.columns)}",
            r"    \midrule",
            *(f"    {row}" for row in rows),
            r"    \bottomrule",
            f"  \\end{{tabular}}}}{note}",
            r"\end{table}",
        )
    )


def _row(cells: Iterable[str]) -> str:
    return " & ".join(escaped(cell) for cell in cells) + r" \\"


def _figure(cell: Cell) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?", str(cell)) is not None


def _comment(text: str) -> str:
    return text.replace("\n", " ")
