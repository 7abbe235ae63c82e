"""A report as data: blocks that a terminal, Markdown, HTML and LaTeX each show in their own way.

Nothing here is escaped or styled; `reports/render` does both. Backquotes mark code in paragraphs, items and
titles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import Proportion
from counterlens.metrics.table import Cell, Table

FEW = 10
"""Number of cases below which a share says how many there are."""
_WORDED_FIGURE = re.compile(r"[<+-]?\d+(\.\d+)?(e[+-]?\d+)?")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def cell_text(cell: ReportCell) -> str:
    """A cell as text: figures with two digits, or more if they matter, and their interval."""
    match cell:
        case None | Proportion(value=None) | Estimate(value=None):
            return "--"
        case Marked() | HeadingLink() | Shaded():
            return cell.text
        case Proportion():
            few = f", n = {cell.n}" if cell.n < FEW else ""
            return f"{cell.value:.0%} [{_show_bound(cell.low)}, {_show_bound(cell.high)}]{few}"
        case Estimate(value=value, low=low, high=high) if value is not None:
            digits = 3 if 0 < abs(value) < 0.1 else 2
            has_interval = low is not None and high is not None and cell.n > 1
            interval = f" [{low:.{digits}f}, {high:.{digits}f}]" if has_interval else ""
            return f"{value:.{digits}f}{interval}"
        case float():
            return f"{cell:.3f}" if abs(cell) < 0.1 else f"{cell:.2f}"
    return str(cell)


def figure_columns(columns: Sequence[str], rows: Sequence[Sequence[ReportCell]]) -> set[int]:
    """The indices of columns of figures alone, which are aligned right."""
    return {i for i in range(len(columns)) if all(is_figure(row[i]) for row in rows)}


def is_figure(cell: ReportCell) -> bool:
    """Whether a cell is a figure, or text in the form of one, such as `+0.05` or `4e-07`."""
    if isinstance(cell, Shaded):
        return True
    if isinstance(cell, Marked | HeadingLink):
        return False
    return not isinstance(cell, str) or _WORDED_FIGURE.fullmatch(cell) is not None


def _show_bound(value: float | None) -> str:
    return "--" if value is None else f"{value:.0%}"


@dataclass(frozen=True, slots=True)
class Marked:
    """A word with a mark for its meaning, such as a verdict; colour only repeats the word.

    Attributes:
        mark: One of `passed`, `failed`, `refused`, `pending`, or an outcome of a pair.
    """

    text: str
    mark: str


@dataclass(frozen=True, slots=True)
class HeadingLink:
    """A word that links to a heading of the report.

    Attributes:
        target: The id of the heading.
        linked: Whether to use a link; otherwise a button with `data-jump`, for a host whose script handles
            it.
    """

    text: str
    target: str
    linked: bool = True


@dataclass(frozen=True, slots=True)
class Shaded:
    """A share that a page shades by its size; elsewhere its text is enough.

    Attributes:
        share: From 0 to 1; None for no shade, such as a share of very few.
    """

    text: str
    share: float | None = None


ReportCell = Cell | Marked | HeadingLink | Shaded


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; one with an id can be a link target."""

    level: int
    text: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences. A quiet one after a heading is on the same line if the format allows it.

    Attributes:
        lead: An emphasised beginning.
        quiet: Whether it is less important.
    """

    text: str = ""
    lead: str | Marked = ""
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table.

    Attributes:
        title: Its content.
        columns: The names of its columns.
        rows: Its rows, as long as `columns`; the first cell of a row is its header.
        note: A note for readers.
        quiet: Whether it is less important.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[ReportCell, ...], ...]
    note: str = ""
    quiet: bool = False

    @classmethod
    def of(cls, table: Table) -> TableBlock:
        """Convert a table of figures to a block."""
        return cls(table.title, table.columns, table.rows, table.note)


@dataclass(frozen=True, slots=True)
class Difference:
    """A unified difference, line by line."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A text that is shown unchanged."""

    text: str
    language: str = "text"


@dataclass(frozen=True, slots=True)
class PairSide:
    """The completion on one side of a pair.

    Attributes:
        title: The code before it, such as `after the original`.
        prompt_end: The last line of the prompt.
        language: Language of the code.
        cut_off: Whether it ends at the token limit.
        rests_on: The evidence of the verdict; empty if nothing ran.
        failed: The case that failed; empty if none did.
        message: The message of the verdict.
        copier: The verdict of a copied completion; empty if it is not shown.
        copied: The copied completion; empty if it adds nothing.
    """

    title: str
    prompt_end: str
    text: str
    verdict: Marked
    language: str = "python"
    cut_off: bool = False
    rests_on: str = ""
    failed: str = ""
    message: str = ""
    copier: str = ""
    copied: str = ""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Both sides of a pair, under headings of a level if they have any."""

    level: int
    sides: tuple[PairSide, ...]


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Actions:
    """Buttons for a host that can act on a pair.

    Attributes:
        pair: The number of the pair, from 0.
        about: Its accessible name.
        offers: Action and title of each button.
    """

    pair: int
    about: str
    offers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot for a page; elsewhere the tables of the report replace it.

    Attributes:
        title: Its content.
        description: A description for readers who cannot see it.
    """

    title: str
    description: str
    table: TableBlock
    svg: str


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that a page shows on request.

    Attributes:
        title: Their content.
        outcome: Its outcome, if it is a single word.
        id: Anchor for links.
        facets: Values for the filters of a page, such as the mutation.
        kept: Whether Markdown, which cannot fold, shows it.
    """

    title: str
    blocks: tuple[Block, ...]
    outcome: Marked | None = None
    id: str = ""
    facets: Mapping[str, str] = field(default_factory=dict)
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One of `Entries`; `facets` as in `Folded`."""

    blocks: tuple[Block, ...]
    facets: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Entries:
    """Many entries with filters for a page; Markdown shows those with something `kept`.

    Attributes:
        choices: The values of each filter, with their labels.
        searched: The facet that is searched for a word.
    """

    entries: tuple[Entry, ...]
    choices: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    searched: str = ""


@dataclass(frozen=True, slots=True)
class Gist:
    """The result of a section: first on a page, and last at a terminal, where the end is visible."""

    blocks: tuple[Block, ...]


Leaf = Heading | Paragraph | TableBlock | Difference | CodeBlock | SideBySide | Bullets | Actions
"""Blocks without inner blocks."""
Block = Leaf | Figure | Folded | Entries | Gist


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report.

    Attributes:
        title: Title of a page or a file; the blocks have separate headings.
    """

    title: str
    blocks: tuple[Block, ...]


def prune(blocks: Iterable[Block], shows: Callable[[Block], bool]) -> Iterator[Block]:
    """The blocks that a format shows, without headings of empty sections."""
    headings: list[Heading] = []
    for block in blocks:
        if isinstance(block, Heading):
            headings = [*(heading for heading in headings if heading.level < block.level), block]
        elif shows(block):
            yield from headings
            headings = []
            yield block


def capitalise(text: str) -> str:
    """A phrase with a capital letter, as at the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def inline(text: str) -> list[tuple[str, bool]]:
    """Split a text into pieces, each with whether it is code: between equal numbers of backquotes."""
    pieces, at = [], 0
    for code in _CODE.finditer(text):
        inside = code[2].strip() if len(code[1]) > 1 else code[2]
        pieces += [(text[at : code.start()], False), (inside, True)]
        at = code.end()
    return [piece for piece in [*pieces, (text[at:], False)] if piece[0]]
