"""`blank-line`: a blank line is added or removed."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.mutations.base import Concept
from counterlens.mutations.edits import insert, replace
from counterlens.mutations.mutation import Mutation, MutationContext, Site, SiteRefused
from counterlens.mutations.parsed import FunctionSpan, ParsedSource

INSERTED, REMOVED = "inserted a blank line", "removed a blank line"


class BlankLine(Mutation[MutationContext]):
    """Insert a blank line before a statement of a function, or remove one."""

    id = "blank-line"
    concept = Concept.NOTHING
    source = "this project: a negative control"

    def sites(self, context: MutationContext) -> Iterator[Site | SiteRefused]:
        """A site for each line that can get a blank line before it, and for each blank line."""
        module = context.module
        for function in module.functions:
            lines = module.lines_of(function)
            if not lines:
                yield SiteRefused(function.start, "no statement in it starts a line")
            for line in lines:
                rest = module.data[line : module.next_line(line)]
                start = line + (len(rest) - len(rest.lstrip()))
                yield Site((start, start + 1), INSERTED, (insert(line, module.newline),))
            for start, end in _blank_lines(module, function, min(lines, default=function.end)):
                yield Site((start, end), REMOVED, (replace(start, end, ""),))


def _blank_lines(module: ParsedSource, function: FunctionSpan, first: int) -> Iterator[tuple[int, int]]:
    """Byte ranges of the blank lines between a function's statements and directly before the first one."""
    start = module.line_start(first - 1)
    while start > function.start and not module.data[start:first].strip():
        first, start = start, module.line_start(start - 1)
    line = first
    while line < function.end:
        after = module.next_line(line)
        blank = not module.data[line:after].strip()
        if blank and not module.in_string(line) and module.function_at(line) is function:
            yield line, after
        line = after
