"""Which cuts the tests can see: they fail when nothing, or a constant, stands in the place of what follows.

Where they pass all the same, they cannot tell a right completion from none, and "passed" would say nothing
about the model. Two programs are run for each cut, whatever the number of counterfactuals cut there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterlens.attribution.base import Judgement
from counterlens.mutations import Counterfactual, Refusal
from counterlens.probes.pairs.counterfactuals import gaps_of
from counterlens.probes.pairs.discrimination import cut_to_discriminate
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.prompts.gap import Gap, View
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.syntax.python_ast import parse_module

UNSEEN = (
    "what judges it passes with {0} in the place of what follows the cut, so it could judge no completion"
)
_NOTHING, _CONSTANT = "pass", "return 42"
_SHOWN = {_NOTHING: "nothing", _CONSTANT: "a constant"}


def askable(
    judging: Judging,
    document: Document,
    function: Function,
    groups: Sequence[Sequence[Counterfactual]],
    view: View,
    *,
    searches: bool,
    seen: bool,
) -> tuple[list[Counterfactual], list[Refusal]]:
    """The counterfactuals whose completions can be judged, and why others are not asked about.

    Args:
        judging: The judge, which the original and their own programs pass.
        document: The source.
        function: The function.
        groups: The counterfactuals, those that are kept or left out together in one group.
        view: What is shown beside the function.
        searches: Whether each is cut where that tells a copier apart.
        seen: Whether the tests have to see what follows its cut.
    """
    refused: list[Refusal] = []
    if searches:
        every = [made for group in groups for made in group]
        found, refused = cut_to_discriminate(judging, document, function, every, view, judging.steps)
        groups = [[made] for made in found]
    if not seen:
        return [made for group in groups for made in group], refused
    asked, blind = seen_cuts(judging, document, function, groups, view)
    return asked, [*refused, *blind]


def seen_cuts(
    judging: Judging,
    document: Document,
    function: Function,
    made: Sequence[Sequence[Counterfactual]],
    view: View,
) -> tuple[list[Counterfactual], list[Refusal]]:
    """The counterfactuals whose cuts the tests can see, and why others are left out.

    Args:
        judging: The judge, which the original passes.
        document: The source.
        function: The function.
        made: The counterfactuals, those that are kept or left out together in one group.
        view: What is shown beside the function.
    """
    kept: list[Counterfactual] = []
    refused = []
    for number, group in enumerate(made):
        judging.steps.next("looking whether the tests see what follows the cut", number, len(made))
        found = (unseen(judging, gaps_of(document, function, one, view)[0]) for one in group)
        reason = next(filter(None, found), None)
        if reason is None:
            kept += group
        else:
            first = group[0]
            refused.append(Refusal(first.mutation, first.function, first.start_line, reason))
    return kept, refused


def unseen(judging: Judging, gap: Gap) -> str | None:
    """Why the tests cannot judge what stands in a hole; None where they can, or nothing judges."""
    if judging.judged_by is None:
        return None
    for statement in (_NOTHING, _CONSTANT):
        program = emptied(gap, statement)
        if program is not None and judging.counterfactual(program).judgement is Judgement.PASSED:
            return UNSEEN.format(_SHOWN[statement])
    return None


def emptied(gap: Gap, statement: str) -> str | None:
    """The source with one statement in the place of what follows a cut; None where none makes it parse.

    A line that the cut divides is left out as a whole. A `try` that is open there is closed.
    """
    lines = gap.before.split("\n")
    last = lines.pop()
    rest = [last] if last.strip() else [line for line in gap.rest.split("\n") if line.strip()]
    start = "\n".join([*lines, ""])
    for indentation in _indentations(rest, lines):
        for closing in _closings(lines, indentation):
            text = start + indentation + statement + closing + (gap.after or gap.newline)
            if _parses(text):
                return text
    return None


def _indentations(rest: Sequence[str], lines: Sequence[str]) -> Iterator[str]:
    """Where the statement may stand: as the line that follows, or inside of the header before it."""
    if rest:
        yield _margin(rest[0])
    before = next((line for line in reversed(lines) if line.strip()), "")
    yield _margin(before)
    yield _margin(before) + "    "


def _closings(lines: Sequence[str], indentation: str) -> Iterator[str]:
    yield ""
    for line in reversed(lines):
        if line.strip() == "try:" and len(_margin(line)) < len(indentation):
            yield f"\n{_margin(line)}finally:\n{_margin(line)}    pass"


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _parses(text: str) -> bool:
    try:
        parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
