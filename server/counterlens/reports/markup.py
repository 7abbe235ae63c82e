"""Small pieces of HTML that every page is made of, escaped, and the policy that lets a page load nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from html import escape


def policy(styles: Iterable[str], scripts: Iterable[str] = ()) -> str:
    """A content security policy: these styles and scripts, known by their hashes, and nothing else.

    Args:
        styles: The texts of the page's style elements.
        scripts: The texts of its script elements; without any, nothing runs.
    """
    style, script = (" ".join(map(_hash, texts)) for texts in (styles, scripts))
    scripted = f"script-src {script}; " if script else ""
    return f"default-src 'none'; style-src {style}; {scripted}base-uri 'none'; form-action 'none'"


def embedded(document: object) -> str:
    """JSON for a script element of data: it ends no block and opens no comment or tag."""
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def table(
    caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]], figures: Collection[int] = ()
) -> str:
    """A table of cells that are HTML already; the first cell of a row is its head.

    Args:
        caption: What it shows.
        columns: Their names.
        rows: The cells.
        figures: The columns that hold figures: their cells have the class `figure`.
    """
    marks = [' class="figure"' if i in figures else "" for i in range(len(columns))]
    head = "".join(
        f'<th scope="col"{mark}>{escape(name)}</th>' for name, mark in zip(columns, marks, strict=True)
    )
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>'
        + "".join(f"<td{mark}>{cell}</td>" for cell, mark in zip(row[1:], marks[1:], strict=True))
        + "</tr>"
        for row in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def paragraph(text: str) -> str:
    """A sentence of ours, which begins with a capital; what stands in backquotes is code."""
    parts = [escape(part) for part in (text[:1].upper() + text[1:]).split("`")]
    if len(parts) % 2 == 0:
        return f"<p>{escape(text)}</p>"
    return "<p>" + "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(parts)) + "</p>"


def difference(lines: Iterable[str]) -> str:
    """A unified difference, its lines marked as inserted and deleted; colour is not all that tells."""
    marks = {"+": "ins", "-": "del"}
    marked = ((marks.get(line[:1]), escape(line)) for line in lines)
    return "\n".join(f"<{mark}>{line}</{mark}>" if mark else line for mark, line in marked)


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
