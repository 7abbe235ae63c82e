"""A report at a terminal: readable without colour, with its gist at the end, where the reader looks.

Folded parts and plots of a page are left out: the tables summarise them.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table as Grid
from rich.text import Text

from counterlens.metrics.table import Table
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
    Marked,
    PairSide,
    Paragraph,
    Report,
    SideBySide,
    TableBlock,
    cell_text,
    figure_columns,
    prune,
)
from counterlens.text import printable

# Blue and orange can be distinguished with every common form of colour blindness; words say the same.
_BLUE, _ORANGE = "bold bright_blue", "bold dark_orange"
_STYLES = {
    "passed": _BLUE,
    "held": _BLUE,
    "failed": _ORANGE,
    "invalid": _ORANGE,
    "timed_out": _ORANGE,
    "lost": _ORANGE,
    "refused": "dim",
    "pending": "dim",
}
_CHANGES = {"+": "bright_blue", "-": "dark_orange", "@": "dim"}
_LINES_SHOWN = 16
_MESSAGE_SHOWN = 6
_EMPTY = Paragraph()
_HANGING = 2  # columns
_WIDEST, _NARROW = 44, 24
_GAP = 2


class HangingText:
    """A text that is wrapped to the console's width, and indented from its second line on.

    A word at the left edge, where the console's width breaks a text, could pass for a line of Counterlens.
    """

    def __init__(self, text: Text) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """The wrapped lines."""
        fits = self._text.cell_len <= options.max_width
        room = options.max_width if fits else options.max_width - _HANGING
        lines = self._text.wrap(console, max(room, 1))
        for number, line in enumerate(lines):
            yield Text.assemble(" " * _HANGING, line) if number else line

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Its width in a table: no word is broken, even in an indented line."""
        least, most = Measurement.get(console, options, self._text)
        return Measurement(min(least + _HANGING, most), most)


def render(report: Report) -> Group:
    """The report, for a console of rich."""
    return Group(*renderables(report.blocks))


def plain(report: Report, width: int = 100) -> str:
    """The report without colours: for a file, or a client that shows text."""
    console = Console(file=io.StringIO(), width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(render(report))
    return captured.get()


def renderables(blocks: Iterable[Block]) -> Iterator[RenderableType]:
    """Blocks one below the other; a gist is at the end of its section."""
    previous: Block | None = None
    for block in _in_order(prune(blocks, _shows)):
        line = isinstance(block, Paragraph) and block.quiet and isinstance(previous, Heading)
        if isinstance(previous, Heading) and not line:
            yield _heading(previous)
        if previous is not None and _are_separated(previous, block):
            yield Text()
        if line and isinstance(previous, Heading) and isinstance(block, Paragraph):
            heading = _on_a_line(previous.text)
            yield HangingText(Text.assemble((heading, "bold"), "   ", (_on_a_line(block.text), "dim")))
        elif not isinstance(block, Heading):
            yield from _leaf(block)
        previous = block
    if isinstance(previous, Heading):
        yield _heading(previous)


class FittedTable:
    """A table without lines that fits the console.

    If it is too wide, the heads of its columns of figures are wrapped; if it still is, it is drawn in parts,
    each with the columns that name the rows.
    """

    def __init__(self, table: Table | TableBlock, *, quiet: bool = False) -> None:
        self._heads = [Text(_on_a_line(name)) for name in table.columns]
        self._rows = [
            [_word(cell) if isinstance(cell, Marked) else Text(_on_a_line(cell_text(cell))) for cell in row]
            for row in table.rows
        ]
        self._figures = figure_columns(table.columns, table.rows)
        self._style = "dim" if quiet else ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """The table, or its parts one below the other."""
        every = list(range(len(self._heads)))
        if sum(self._width(i, wrapped=False) for i in every) <= options.max_width + _GAP:
            yield self._grid(every, wrapped=False)
            return
        for number, part in enumerate(self._parts(options.max_width + _GAP)):
            if number:
                yield Text()
            yield self._grid(part, wrapped=True)

    def _parts(self, room: int) -> Iterator[list[int]]:
        """The columns of each part: those before the first figure, and as many others as fit."""
        first = min(self._figures, default=len(self._heads))
        heading = list(range(first))
        left = room - sum(self._width(i, wrapped=True) for i in heading)
        part, used = list[int](), 0
        for i in range(first, len(self._heads)):
            width = self._width(i, wrapped=True)
            if part and used + width > left:
                yield heading + part
                part, used = [], 0
            part.append(i)
            used += width
        if part or heading:
            yield heading + part

    def _width(self, i: int, *, wrapped: bool) -> int:
        """The columns that the console needs for a column, with the gap after it."""
        cells = max((row[i].cell_len for row in self._rows), default=0)
        head = self._heads[i].cell_len
        if i in self._figures:
            if wrapped:
                head = max((Text(word).cell_len for word in self._heads[i].plain.split()), default=0)
            return max(cells, head) + _GAP
        widest = max(cells, head)
        return (min(widest, _NARROW) if wrapped else min(widest, _WIDEST)) + _GAP

    def _grid(self, columns: Sequence[int], *, wrapped: bool) -> Grid:
        drawn = Grid(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim", style=self._style)
        for i in columns:
            head = self._heads[i]
            if i in self._figures:
                if wrapped:
                    width = self._width(i, wrapped=True) - _GAP
                    head = Text("\n".join(textwrap.wrap(head.plain, width)))
                drawn.add_column(head, justify="right", no_wrap=True)
            else:
                widest = _WIDEST if i + 1 < len(self._heads) else None
                drawn.add_column(head if i else HangingText(head), max_width=widest, overflow="fold")
        for row in self._rows:
            cells: list[RenderableType] = [row[i] for i in columns]
            if columns and not columns[0]:
                cells[0] = HangingText(row[0])
            drawn.add_row(*cells)
        return drawn


def difference(lines: Iterable[str]) -> Padding:
    """A unified difference, indented."""
    text = Text()
    for line in lines:
        text.append(printable(line) + "\n", style=_CHANGES.get(line[:1], ""))
    text.rstrip()
    return Padding(text, (0, 2), expand=False)


def _shows(block: Block) -> bool:
    return not isinstance(block, Actions | Figure | Folded | Entries)


def _in_order(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks, with each gist at the end of its section, the most important last."""
    held: list[tuple[int, Gist]] = []
    level = 0
    for block in blocks:
        if isinstance(block, Gist):
            held.append((level, block))
            continue
        if isinstance(block, Heading):
            while held and held[-1][0] >= block.level:
                yield from _ending(held.pop()[1])
            level = block.level
        yield block
    while held:
        yield from _ending(held.pop()[1])


def _ending(gist: Gist) -> Iterator[Block]:
    yield _EMPTY
    yield from reversed(gist.blocks)


def _are_separated(previous: Block, block: Block) -> bool:
    """Whether there is an empty line between two blocks."""
    if isinstance(block, Heading):
        return previous != _EMPTY
    if isinstance(previous, Heading) or _EMPTY in (previous, block):
        return False
    return isinstance(previous, TableBlock) or isinstance(block, TableBlock)


def _leaf(block: Block) -> Iterator[RenderableType]:
    match block:
        case Paragraph():
            yield _paragraph(block)
        case TableBlock():
            if block.title:
                yield HangingText(Text(_on_a_line(block.title), style="bold"))
            yield FittedTable(block, quiet=block.quiet)
            if block.note:
                yield HangingText(Text(_set_in(block.note), style="dim"))
        case Difference():
            yield difference(block.lines)
        case CodeBlock():
            yield Padding(Text(printable(block.text)), (0, 2), expand=False)
        case SideBySide():
            yield _sides(block.sides)
        case Bullets():
            yield from (HangingText(Text(f"  {_set_in(item)}")) for item in block.items)


def _heading(heading: Heading) -> HangingText:
    return HangingText(Text(_on_a_line(heading.text), style="bold"))


def _paragraph(block: Paragraph) -> HangingText:
    lead = _word(block.lead) if isinstance(block.lead, Marked) else Text(_on_a_line(block.lead), style="bold")
    between = " " if block.lead and block.text else ""
    return HangingText(Text.assemble(lead, between, (_set_in(block.text), "dim" if block.quiet else "")))


def _sides(sides: Sequence[PairSide]) -> Grid:
    both = Grid.grid(expand=True, padding=(0, 1))
    for _ in sides:
        both.add_column(ratio=1)
    both.add_row(*map(_side, sides))
    return both


def _side(side: PairSide) -> Panel:
    body: list[RenderableType] = []
    if side.prompt_end:
        body += [Text(printable(side.prompt_end), style="dim"), _divider("end of the prompt; completion")]
    body.append(Text(_clip(side.text.strip("\n").rstrip())))
    if side.cut_off:
        body.append(Text("… cut off at the token limit", style="dim italic"))
    if side.copier:
        body.append(_divider(side.copier))
    if side.copied:
        body.append(Text(_clip(side.copied.strip("\n").rstrip(), _MESSAGE_SHOWN), style="dim"))
    if side.rests_on:
        body.append(Text(f"\n{printable(side.rests_on)}", style="dim"))
    if side.message:
        body.append(Text("\n" + _clip(side.message.strip(), _MESSAGE_SHOWN), style="italic"))
    inside, below = Group(*body), _word(side.verdict)
    title = Text(_on_a_line(side.title))
    return Panel(inside, title=title, title_align="left", subtitle=below, subtitle_align="left")


def _divider(text: str) -> Rule:
    """A line inside a panel, with a title for what follows."""
    return Rule(Text(_on_a_line(text), style="dim"), characters="╌", style="dim", align="left")


def _word(marked: Marked | None) -> Text:
    return Text() if marked is None else Text(_on_a_line(marked.text), style=_STYLES.get(marked.mark, ""))


def _on_a_line(text: str) -> str:
    """Keep a text on one line: a separate line could pass for one of Counterlens."""
    return printable(text, keep="")


def _set_in(text: str) -> str:
    """Indent a text of several lines, so that no line can pass for one of Counterlens."""
    return printable(text).replace("\n", "\n  ")


def _clip(text: str, lines: int = _LINES_SHOWN) -> str:
    rows = [printable(row) for row in text.splitlines()]
    if len(rows) <= lines:
        return "\n".join(rows)
    return "\n".join([*rows[:lines], f"… {len(rows) - lines} more lines"])
