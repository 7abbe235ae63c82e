"""A report as HTML: a page that loads nothing, or fragments for a host's page.

Everything is escaped here, and colours only repeat the words. A page runs only the script that its content
security policy names by hash, if it has pairs. Without scripts it shows the same, with no filter, and pairs
that do not open.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from counterlens.reports.document import (
    Actions,
    Block,
    Bullets,
    CodeBlock,
    Difference,
    Entries,
    Figure,
    Folded,
    Gist,
    Heading,
    HeadingLink,
    Leaf,
    Marked,
    PairSide,
    Paragraph,
    Report,
    ReportCell,
    Shaded,
    SideBySide,
    TableBlock,
    capitalise,
    cell_text,
    figure_columns,
    inline,
)
from counterlens.text import escape

_WIDE = 5  # number of columns from which a table may have to scroll
_DEEPEST = 6


def page(report: Report, *, packed: bool = True) -> str:
    """A self-contained page.

    Args:
        packed: Whether the contents of a pair are compressed until it is opened, which keeps the page small.
            Without scripts, the pairs of a packed page do not open.
    """
    if not any(isinstance(block, Entries) for block in _all(report.blocks)):
        return frame(report.title, "\n".join(_parts(report.blocks, None)), header=_navigation(report.blocks))
    pack = Pack() if packed else None
    body = "\n".join(_parts(report.blocks, pack))
    if pack is not None:
        body += f'\n<script type="application/json" id="packed">{json.dumps(compress(pack.texts))}</script>'
    return frame(report.title, body, [_asset("page.js")], _navigation(report.blocks))


def fragment(blocks: Iterable[Block]) -> str:
    """Blocks without a page around them."""
    return "\n".join(_parts(blocks, None))


class Pack:
    """Parts of a page that are shown on request."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def keep(self, text: str) -> int:
        """Add a text; returns its number."""
        self.texts.append(text)
        return len(self.texts) - 1


def compress(document: object) -> str:
    """A document as JSON, compressed with gzip, in base64: the same bytes each time."""
    data = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _parts(blocks: Iterable[Block], pack: Pack | None) -> Iterator[str]:
    for block in blocks:
        yield from _block(block, pack)


def frame(title: str, body: str, scripts: Sequence[str] = (), header: str = "") -> str:
    """A page around existing HTML."""
    loaded = "".join(f"<script>{script}</script>\n" for script in scripts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy(scripts))}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>{_asset('page.css')}</style>\n</head>\n"
        f'<body>\n{header}<main id="main">\n{body}\n</main>\n{loaded}</body>\n</html>\n'
    )


def policy(scripts: Iterable[str] = (), styles: Iterable[str] | None = None) -> str:
    """A content security policy that allows these scripts and styles, by hash, and nothing else.

    Args:
        scripts: Texts of the page's script elements; without any, nothing runs.
        styles: Texts of its style elements; by default those of `page`.
    """
    styled = " ".join(map(_hash, [_asset("page.css")] if styles is None else styles))
    run = " ".join(map(_hash, scripts))
    scripted = f"script-src {run}; " if run else ""
    return f"default-src 'none'; style-src {styled}; {scripted}base-uri 'none'; form-action 'none'"


def embed(document: object) -> str:
    """JSON for a script element with data: it cannot end the block, or open a comment or tag."""
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _block(block: Block, pack: Pack | None) -> Iterator[str]:
    match block:
        case Figure():
            yield _figure(block)
        case Folded():
            named = f' id="{escape(block.id)}"' if block.id else ""
            kind = ' class="pair"' if block.facets else ""
            outcome = f": {_word(block.outcome)}" if block.outcome else ""
            inside, packed = list(_parts(block.blocks, None)), ""
            if pack is not None:
                packed, inside = f' data-packed="{pack.keep(chr(10).join(inside))}"', []
            marks = f"{kind}{named}{_data(block.facets)}{packed}"
            yield f"<details{marks}><summary>{_prose(block.title)}{outcome}</summary>"
            yield from inside
            yield "</details>"
        case Entries():
            yield _filter(block)
            for entry in block.entries:
                yield f'<section class="record"{_data(entry.facets)}>'
                yield from _parts(entry.blocks, pack)
                yield "</section>"
        case Gist():
            yield from _parts(block.blocks, pack)
        case _:
            yield _leaf(block)


def _code(content: str, attributes: str = "") -> str:
    """Code, whose long lines can be scrolled with the keyboard, too."""
    return f'<pre tabindex="0"{attributes}>{content}</pre>'


def _leaf(block: Leaf) -> str:
    match block:
        case Heading():
            return _heading(block)
        case Paragraph():
            lead = _word(block.lead) if isinstance(block.lead, Marked) else ""
            if isinstance(block.lead, str) and block.lead:
                lead = f"<strong>{_prose(block.lead)}</strong>"
            quiet = ' class="quiet"' if block.quiet else ""
            return f"<p{quiet}>{' '.join(part for part in (lead, _prose(block.text)) if part)}</p>"
        case TableBlock():
            return table(block)
        case Difference():
            return _code(f"<code>{_difference(block.lines)}</code>", ' aria-label="What was changed"')
        case CodeBlock():
            return _code(f"<code>{escape(block.text)}</code>")
        case SideBySide():
            sides = "\n".join(_side(side, block.level) for side in block.sides)
            return f'<div class="sides">\n{sides}\n</div>'
        case Bullets():
            return "<ul>" + "".join(f"<li>{_prose(item)}</li>" for item in block.items) + "</ul>"
        case Actions():
            return _actions(block)


def _heading(heading: Heading) -> str:
    level = min(heading.level, _DEEPEST)
    named = f' id="head-{escape(heading.id)}" tabindex="-1"' if heading.id else ""
    return f"<h{level}{named}>{_prose(heading.text)}</h{level}>"


def table(block: TableBlock) -> str:
    """A table with its note; the first cell of a row is its header."""
    figures = figure_columns(block.columns, block.rows)
    marks = [' class="figures"' if i in figures else "" for i in range(len(block.columns))]
    if any(isinstance(cell, Shaded) for row in block.rows for cell in row):
        marks = ["", *(' class="figures shades"' for _ in marks[1:])]
    head = "".join(
        f'<th scope="col"{mark}>{escape(name)}</th>' for name, mark in zip(block.columns, marks, strict=True)
    )
    body = "".join(
        f'<tr><th scope="row"{marks[0]}>{_cell(row[0])}</th>'
        + "".join(f"<td{mark}>{_cell(cell)}</td>" for cell, mark in zip(row[1:], marks[1:], strict=True))
        + "</tr>"
        for row in block.rows
    )
    title = escape(capitalise(block.title))
    drawn = f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    if len(block.columns) > _WIDE:
        drawn = f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">{drawn}</div>'
    note = f'<p class="note">{escape(block.note.removesuffix("."))}.</p>' if block.note else ""
    return drawn + note


def _cell(cell: ReportCell) -> str:
    match cell:
        case Marked():
            return _word(cell)
        case Shaded(share=None):
            return escape(cell.text)
        case Shaded():
            return f'<span class="shade-{_step(cell.share)}">{escape(cell.text)}</span>'
        case HeadingLink(linked=True):
            return f'<a href="#head-{escape(cell.target)}">{escape(cell.text)}</a>'
        case HeadingLink():
            return (
                f'<button type="button" class="link" data-jump="{escape(cell.target)}">'
                f"{escape(cell.text)}</button>"
            )
    return escape(cell_text(cell))


def _step(share: float | None) -> int:
    """The shade of a share, of five: 0 for little, 4 for all."""
    return min(4, int(5 * (share or 0.0)))


def _difference(lines: Iterable[str]) -> str:
    """Lines marked as inserted and deleted; colour is not the only sign."""
    marks = {"+": "ins", "-": "del"}
    marked = ((marks.get(line[:1]), escape(line)) for line in lines)
    return "\n".join(f"<{mark}>{line}</{mark}>" if mark else line for mark, line in marked)


def _side(side: PairSide, level: int) -> str:
    depth = min(level, _DEEPEST)
    cut_off = ", cut off at the token limit" if side.cut_off else ""
    parts = [
        f"<h{depth}>{_prose(capitalise(side.title))} the model wrote</h{depth}>",
        f"<p>{_word(side.verdict)}{cut_off}</p>",
    ]
    if side.prompt_end:
        prompt = _code(escape(side.prompt_end), ' class="prompt"')
        parts.append(f"<p>The prompt ended with</p>{prompt}<p>and it wrote</p>")
    parts.append(_code(f"<code>{escape(side.text.strip(chr(10)))}</code>"))
    if side.copier:
        code = f":</p>{_code(escape(side.copied.strip(chr(10))))}" if side.copied else ".</p>"
        parts.append(f"<p>{escape(capitalise(side.copier))}{code}")
    if side.rests_on:
        parts.append(f"<p>{escape(capitalise(side.rests_on))}.</p>")
    if side.failed:
        parts.append(f"<p>Failed: <code>{escape(side.failed)}</code></p>")
    if side.message:
        parts.append(_code(escape(side.message.strip())))
    return f"<section>{''.join(parts)}</section>"


def _actions(block: Actions) -> str:
    made = (
        f'<button type="button" data-action="{escape(action)}" data-pair="{block.pair}" '
        f'aria-label="{escape(f"{title}: {block.about}")}">{escape(title)}</button>'
        for action, title in block.offers
    )
    return f'<p class="actions">{" ".join(made)}</p>'


def _figure(figure: Figure) -> str:
    return (
        f"<figure><figcaption>{escape(figure.title)}</figcaption>"
        f'<div class="plot" role="img" aria-label="{escape(figure.description)}">{figure.svg}</div>'
        f"<details><summary>Figures as a table</summary>{table(figure.table)}</details></figure>"
    )


def _filter(entries: Entries) -> str:
    """A form for filters; the script that uses it shows it."""
    if not entries.choices:
        return ""
    labels = "".join(
        f'<label>{escape(name)} <select name="{escape(name)}"><option value="">all</option>'
        + "".join(f'<option value="{escape(value)}">{escape(words)}</option>' for value, words in options)
        + "</select></label>"
        for name, options in entries.choices.items()
    )
    searched = escape(entries.searched)
    return (
        f'<form id="filter" hidden aria-label="Which pairs are shown">{labels}'
        f'<label>{searched} <input name="{searched}" type="search" autocomplete="off"></label>'
        '<button type="button" data-open="true">Open all shown</button>'
        '<button type="button" data-open="false">Close all</button>'
        '<output aria-live="polite"></output></form>'
    )


def _navigation(blocks: Sequence[Block]) -> str:
    """Links to the sections, if there are several and no table links to them."""
    sections = [block for block in blocks if isinstance(block, Heading) and block.level == 2 and block.id]
    ids = {section.id for section in sections}
    if any(
        isinstance(row[0], HeadingLink) and row[0].target in ids
        for block in blocks
        if isinstance(block, TableBlock)
        for row in block.rows
    ):
        return ""
    if len(sections) < 2:
        return ""
    links = "".join(
        f'<li><a href="#head-{escape(heading.id)}">{_prose(heading.text)}</a></li>' for heading in sections
    )
    return (
        '<a class="skip" href="#main">Skip to the report</a>\n'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n'
    )


def _data(facets: Mapping[str, str]) -> str:
    return "".join(f' data-{name}="{escape(value)}"' for name, value in facets.items())


def _word(marked: Marked) -> str:
    return f'<span class="{escape(marked.mark)}">{escape(marked.text)}</span>'


def _prose(text: str) -> str:
    """Sentences of Counterlens; backquotes mark code."""
    return "".join(f"<code>{escape(part)}</code>" if code else escape(part) for part, code in inline(text))


def _all(blocks: Iterable[Block]) -> Iterator[Block]:
    """Every block, including inner ones."""
    for block in blocks:
        yield block
        match block:
            case Folded() | Gist():
                yield from _all(block.blocks)
            case Entries():
                for entry in block.entries:
                    yield from _all(entry.blocks)


@cache
def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
