"""A report as Markdown: for a file, a comment in a review, or a client that shows only Markdown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from counterlens.reports.document import (
    Actions,
    Block,
    Bullets,
    CodeBlock,
    Difference,
    Entries,
    Entry,
    Figure,
    Folded,
    Gist,
    Heading,
    Marked,
    PairSide,
    Paragraph,
    Report,
    SideBySide,
    TableBlock,
    capitalise,
    cell_text,
    inline,
    prune,
)
from counterlens.text import printable

_TICKS = re.compile(r"`{3,}")
# Inside a word _ is literal; addresses that some readers turn into links must not become any.
_SPECIAL = re.compile(
    r"([\\`*{}\[\]<>|#~&@]|(?<![^\W_])_|_(?![^\W_])|(?<=:)/(?=/)|(?<=www)\.)", re.IGNORECASE
)
_BEGINS = re.compile(r"^([-+=]|\d{1,9}(?=[.)]))")
"""Characters that, at the beginning of a line, would make it a list item, a rule or a heading."""
_MANY_BEFORE_BAR = re.compile(r"\\{2,}(?=\|)")
_BAR = re.compile(r"(?<!\\)\|")
_DEEPEST = 6


def render(report: Report, level: int = 1) -> str:
    """The report; `level` is that of its top headings."""
    return fragment(report.blocks, level)


def fragment(blocks: Iterable[Block], level: int = 1) -> str:
    """Blocks without a report around them."""
    return "\n\n".join(part for part in _parts(blocks, level - 1) if part) + "\n"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], figures: Collection[int] = ()) -> str:
    """A table of cells that are Markdown already; `figures` are the columns to align right."""
    rule = ["--:" if i in figures else "---" for i in range(len(columns))]
    lines = [[_BAR.sub(r"\\|", cell) for cell in line] for line in (columns, rule, *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def fence(text: str, language: str) -> str:
    """A code block whose fence is longer than any in it."""
    shown = printable(text)
    longest = max((len(ticks) for ticks in _TICKS.findall(shown)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def prose(text: str) -> str:
    """Sentences of Counterlens on one line; backquotes mark code."""
    return "".join(code_span(part) if code else escape(part) for part, code in inline(_flat(text)))


def escape(text: str) -> str:
    """Escape a text, and put it on one line."""
    return _SPECIAL.sub(r"\\\1", printable(_flat(text), keep="\t"))


def code_span(text: str) -> str:
    """A line as inline code that its content cannot end, also in a table cell; empty if the line is."""
    shown = printable(_flat(text), keep="\t").strip()
    if not shown:
        return ""
    shown = _MANY_BEFORE_BAR.sub(lambda match: f"{match[0]} ", shown)
    ticks = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    pad = " " if len(ticks) > 1 else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def _parts(blocks: Iterable[Block], deeper: int) -> Iterator[str]:
    level = deeper
    for block in prune(blocks, _shows):
        if isinstance(block, Heading):
            level = deeper + block.level
        yield from _block(block, level, deeper)


def _shows(block: Block) -> bool:
    match block:
        case Figure() | Actions():
            return False
        case Folded():
            return block.kept
        case Entries():
            return any(_keeps(entry) for entry in block.entries)
    return True


def _keeps(entry: Entry) -> bool:
    return any(isinstance(block, Folded) and block.kept for block in entry.blocks)


def _block(block: Block, level: int, deeper: int) -> Iterator[str]:
    match block:
        case Folded():
            outcome = f": {block.outcome.text}" if block.outcome else ""
            yield _heading(level + 1, block.title + outcome)
            yield from _parts(block.blocks, level)
        case Entries():
            for entry in block.entries:
                if _keeps(entry):
                    yield from _parts(entry.blocks, deeper)
        case Gist():
            for inside in block.blocks:
                yield from _block(inside, level, deeper)
        case _:
            yield from _leaf(block, level)


def _leaf(block: Block, level: int) -> Iterator[str]:
    match block:
        case Heading():
            yield _heading(level, block.text)
        case Paragraph():
            lead = block.lead.text if isinstance(block.lead, Marked) else block.lead
            strong = prose(lead.strip())  # only asterisks would be a horizontal rule
            parts = (f"**{strong}**" if strong.strip() else "", prose(block.text))
            yield _begin(" ".join(part for part in parts if part))
        case TableBlock():
            if block.title:
                yield _heading(level + 1, capitalise(block.title))
            rows = [[_line(cell_text(cell)) for cell in row] for row in block.rows]
            yield table([*map(_line, block.columns)], rows)
            yield f"{escape(block.note.removesuffix('.'))}." if block.note else ""
        case Difference():
            yield fence("\n".join(block.lines), "diff")
        case CodeBlock():
            yield fence(block.text, block.language)
        case SideBySide():
            for side in block.sides:
                yield from _side(side)
        case Bullets():
            yield "\n".join(f"- {_begin(prose(item))}" for item in block.items)


def _heading(level: int, text: str) -> str:
    return f"{'#' * min(level, _DEEPEST)} {_line(text)}"


def _side(side: PairSide) -> Iterator[str]:
    cut_off = ", cut off at the token limit" if side.cut_off else ""
    behind = f" after the prompt's last line {code_span(side.prompt_end)}" if side.prompt_end.strip() else ""
    title = capitalise(side.title)
    yield f"{prose(title)} the model wrote{behind} (**{escape(side.verdict.text)}**{cut_off}):"
    yield fence(side.text.strip("\n"), side.language)
    yield f"{escape(capitalise(side.copier))}{':' if side.copied else '.'}" if side.copier else ""
    yield fence(side.copied.strip("\n"), side.language) if side.copied else ""
    yield f"{escape(capitalise(side.rests_on))}." if side.rests_on else ""
    yield f"Failed: {escape(side.failed)}" if side.failed else ""
    yield fence(side.message.strip("\n"), "text") if side.message else ""


def _line(text: str) -> str:
    return escape(text.strip())


def _begin(line: str) -> str:
    """A line that does not begin another kind of block."""
    return _BEGINS.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", line.strip())


def _flat(text: str) -> str:
    return " ".join(text.splitlines())
