"""A report as data: blocks that a terminal, Markdown, HTML and LaTeX show each in its own way.

Nothing here is escaped, and nothing is styled: `reports/render` does both. Backquotes mark code in
paragraphs, items and titles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from counterlens.metrics.table import Cell, Table

_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


@dataclass(frozen=True, slots=True)
class Marked:
    """A word that is marked for what it says, such as a verdict; a colour only repeats it.

    Attributes:
        text: The word.
        mark: Its marks: `passed`, `failed`, `refused`, `pending`, an outcome of a pair.
    """

    text: str
    mark: str


@dataclass(frozen=True, slots=True)
class HeadingLink:
    """A word that leads to a heading of the report.

    Attributes:
        text: The word.
        target: The id of the heading.
        linked: Whether by a link; otherwise by a button with `data-jump`, for a host whose script does it.
    """

    text: str
    target: str
    linked: bool = True


@dataclass(frozen=True, slots=True)
class Shaded:
    """A share that a page shades by its size; elsewhere its text says the same.

    Attributes:
        text: Its text.
        share: From 0 to 1; None for what is not shaded, such as one of very few.
    """

    text: str
    share: float | None = None


ReportCell = Cell | Marked | HeadingLink | Shaded


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; one with an id can be jumped to."""

    level: int
    text: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences. A quiet one behind a heading stands on its line if there is one line for both.

    Attributes:
        text: The sentences.
        lead: What stands out before them.
        quiet: Whether it may be overlooked.
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
        rows: Its rows, as long as `columns`; the first cell of a row is its head.
        note: A note for readers.
        quiet: Whether it may be overlooked.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[ReportCell, ...], ...]
    note: str = ""
    quiet: bool = False

    @classmethod
    def of(cls, table: Table) -> TableBlock:
        """A table of figures as a block."""
        return cls(table.title, table.columns, table.rows, table.note)


@dataclass(frozen=True, slots=True)
class Difference:
    """A unified difference, line by line."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A text that is shown as it stands."""

    text: str
    language: str = "text"


@dataclass(frozen=True, slots=True)
class PairSide:
    """The completion on one side of a pair.

    Attributes:
        title: Its code, such as `after the original`.
        prompt_end: The last line of the prompt, which the model did not write.
        text: Its text.
        verdict: Its outcome.
        language: Of the text.
        cut_off: Whether it ends at the token limit.
        rests_on: The evidence of the verdict; empty if nothing was run.
        failed: The case that failed; empty if none did.
        message: The outcome.
        copier: What a model that copies would have come to; empty if that is not told.
        copied: The text of such a model; empty if it adds nothing.
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
    """Both sides of a pair, under headings of a level where they have any."""

    level: int
    sides: tuple[PairSide, ...]


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Actions:
    """Buttons for a host that can do something with a pair.

    Attributes:
        pair: The number of the pair, from 0.
        about: Its accessible name.
        offers: The action and the title of each button.
    """

    pair: int
    about: str
    offers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot for a page; elsewhere the tables of the report say the same.

    Attributes:
        title: Its content.
        description: The same for someone who does not see it.
        table: Its figures.
        spec: It as Vega-Lite.
        svg: It drawn, if it is not Vega-Lite.
    """

    title: str
    description: str
    table: TableBlock
    spec: Mapping[str, Any] | None = None
    svg: str = ""


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that a page shows when they are asked for.

    Attributes:
        title: Their content.
        blocks: The blocks.
        outcome: Its outcome, if one word can say it.
        id: The anchor of the place, for links.
        facets: The filters of a page, such as the mutation.
        kept: Whether Markdown, which cannot fold, shows it all the same.
    """

    title: str
    blocks: tuple[Block, ...]
    outcome: Marked | None = None
    id: str = ""
    facets: Mapping[str, str] = field(default_factory=dict)
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One of `Entries`; `facets` as of `Folded`."""

    blocks: tuple[Block, ...]
    facets: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Entries:
    """Many entries with what a page can narrow them down by; Markdown shows those with something `kept`.

    Attributes:
        entries: The entries.
        choices: The values of each filter, with their labels.
        searched: The facet that is searched for a word.
    """

    entries: tuple[Entry, ...]
    choices: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    searched: str = ""


@dataclass(frozen=True, slots=True)
class Gist:
    """The result of a section: first on a page, and last at a terminal, which shows its end."""

    blocks: tuple[Block, ...]


Leaf = Heading | Paragraph | TableBlock | Difference | CodeBlock | SideBySide | Bullets | Actions
"""Blocks that hold no others."""
Block = Leaf | Figure | Folded | Entries | Gist


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report.

    Attributes:
        title: The title of a page or a file; the blocks have headings of their own.
        blocks: Its content.
    """

    title: str
    blocks: tuple[Block, ...]


def pruned(blocks: Iterable[Block], shows: Callable[[Block], bool]) -> Iterator[Block]:
    """The blocks that a form shows, without headings that nothing would stand under."""
    headings: list[Heading] = []
    for block in blocks:
        if isinstance(block, Heading):
            headings = [*(heading for heading in headings if heading.level < block.level), block]
        elif shows(block):
            yield from headings
            headings = []
            yield block


def capitalised(text: str) -> str:
    """A phrase as a sentence begins."""
    return text[:1].upper() + text[1:]


def inline(text: str) -> list[tuple[str, bool]]:
    """A text in pieces, each with whether it is code: it stands between equally many backquotes."""
    pieces, at = [], 0
    for code in _CODE.finditer(text):
        inside = code[2].strip() if len(code[1]) > 1 else code[2]
        pieces += [(text[at : code.start()], False), (inside, True)]
        at = code.end()
    return [piece for piece in [*pieces, (text[at:], False)] if piece[0]]
