"""The counterfactuals of a function, for an editor to show beside the original.

Command `counterlens.counterfactuals`: argument `{uri, function? | position?}`, answer
`CounterfactualListing`. The code action "Show counterfactual…" is for clients that declare in `initialize`
that they show results themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from counterlens.errors import CounterlensError
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import error_text, t, translate_known, translator
from counterlens.lsp.targets import function_named
from counterlens.mutations import survey
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.probes.pairs.wording import outcome
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function, function_at

COMMAND = "counterlens.counterfactuals"
SHOW_COMMAND = "counterlens.showCounterfactual"
"""A command of the client: the user chooses a counterfactual, and the client opens the difference."""


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.command(COMMAND)(_counterfactuals)
    server.code_actions.append(_code_actions)


@dataclass(frozen=True, slots=True)
class ListedCounterfactual:
    """One counterfactual."""

    mutation: str
    concept: str
    preserving: bool
    line: int
    description: str
    assumptions: tuple[str, ...]
    source: str
    outcome: str = ""
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class RefusedMutation:
    """One site where a mutation was refused."""

    mutation: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class CounterfactualListing:
    """The counterfactuals of one function, the refusals, and the reason if there are none."""

    function: str
    counterfactuals: tuple[ListedCounterfactual, ...]
    refused: tuple[RefusedMutation, ...]
    error: str | None = None


async def _counterfactuals(ls: CounterlensServer, argument: Any = None) -> CounterfactualListing:
    """List the counterfactuals of a function."""
    try:
        analysis, function = function_named(ls, argument)
        known = analysis.known_function(function.qualname).probe
        return await ls.offload(listing, analysis.document, function.qualname, known)
    except CounterlensError as error:
        return CounterfactualListing("", (), (), error_text(error))


def listing(document: Document, qualname: str, probe: PairsRecord | None = None) -> CounterfactualListing:
    """All counterfactuals of a function; takes up to a second on a long file.

    Args:
        qualname: Qualified name of the function.
        probe: Results for the counterfactuals, if they were probed.

    Raises:
        SourceError: the document does not parse.
    """
    surveyed = survey(document.text, function=qualname, language=document.language)
    first = find_function(document, qualname).start_line
    pairs: dict[tuple[str, str, int], PairRecord] = {}
    if probe is not None:  # by place in the function: the lines before it may have changed since
        pairs = {
            (pair.mutation, pair.description, pair.start_line - probe.start_line): pair
            for pair in probe.pairs
        }
    counterfactuals = []
    for made in surveyed.counterfactuals:
        pair = pairs.get((made.mutation, made.description, made.start_line - first))
        counterfactuals.append(
            ListedCounterfactual(
                mutation=made.mutation,
                concept=made.concept,
                preserving=made.preserving,
                line=made.start_line - 1,
                description=translate_known(made.description),
                assumptions=made.assumptions,
                source=made.source,
                outcome=str(pair.outcome) if pair else "",
                verdict=outcome(pair, translator()) if pair else "",
            )
        )
    return CounterfactualListing(
        function=qualname,
        counterfactuals=tuple(counterfactuals),
        refused=tuple(
            RefusedMutation(site.mutation, site.line - 1, translate_known(site.reason))
            for site in surveyed.refusals
        ),
    )


def _code_actions(
    ls: CounterlensServer, analysis: Analysis, params: types.CodeActionParams
) -> list[types.CodeAction]:
    """The code action for the function at a place, for clients that have the command."""
    if not ls.client_shows_results:
        return []
    function = function_at(analysis.document, ls.places(analysis).offset(params.range.start))
    if function is None:
        return []
    arguments = [{"uri": analysis.uri, "function": function.qualname}]
    command = types.Command(t("Show counterfactual…"), SHOW_COMMAND, arguments=arguments)
    return [types.CodeAction(command.title, kind=types.CodeActionKind.Refactor, command=command)]
