"""The counterfactuals of a function, for an editor to show beside the original.

Command `counterlens.counterfactuals`: argument `{uri, function? | position?}`, answer `Listing`. The code
action "Show counterfactual…" is for clients that say with `initialize` that they show results themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol import types

from counterlens.lsp.analysis import Analysis
from counterlens.lsp.places import Places
from counterlens.mutations import survey
from counterlens.syntax.document import Document
from counterlens.syntax.functions import function_at

COMMAND = "counterlens.counterfactuals"
SHOW_COMMAND = "counterlens.showCounterfactual"
"""A command of the client: let the user choose one and open the difference."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One counterfactual.

    Attributes:
        mutation: The id of the mutation.
        concept: What it perturbs.
        preserving: Whether it keeps the meaning.
        line: First line of the site in the original, 0-based.
        description: What was done, in one sentence.
        assumptions: What had to be assumed for it to be preserving.
        source: The whole mutated text.
    """

    mutation: str
    concept: str
    preserving: bool
    line: int
    description: str
    assumptions: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Refused:
    """One site where a mutation was refused."""

    mutation: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Listing:
    """What there is to show of one function, what was refused, and why there is nothing if there is not."""

    function: str
    counterfactuals: tuple[Listed, ...]
    refused: tuple[Refused, ...]
    error: str | None = None


def listing(document: Document, qualname: str) -> Listing:
    """All counterfactuals of a function; takes up to a second on a long file.

    Raises:
        SourceError: the document does not parse.
    """
    found = survey(document.text, function=qualname)
    return Listing(
        function=qualname,
        counterfactuals=tuple(
            Listed(
                one.mutation,
                one.concept,
                one.preserving,
                one.start_line - 1,
                one.description,
                one.assumptions,
                one.source,
            )
            for one in found.counterfactuals
        ),
        refused=tuple(Refused(one.mutation, one.line - 1, one.reason) for one in found.refusals),
    )


def code_actions(analysis: Analysis, places: Places, where: types.Range) -> list[types.CodeAction]:
    """The offer to show a counterfactual of the function at a place."""
    function = function_at(analysis.document, places.offset(where.start))
    if function is None:
        return []
    return [
        types.CodeAction(
            title="Show counterfactual…",
            kind=types.CodeActionKind.Refactor,
            command=types.Command(
                title="Show counterfactual…",
                command=SHOW_COMMAND,
                arguments=[{"uri": analysis.uri, "function": function.qualname}],
            ),
        )
    ]
