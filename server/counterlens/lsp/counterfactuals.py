"""The counterfactuals of a function, and the mutations that a list of tests offers for it. No model is asked.

Command `counterlens.counterfactuals`: argument `{uri, function? | position?}`, answer
`CounterfactualListing`, for an editor to show beside the original. The code action "Show counterfactual…" is
for clients that declare in `initialize` that they show results themselves. Command `counterlens.testItems`:
argument `{uri, function?}`, answer `TestItems`: a file's functions, each with the mutations to probe it with.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from lsprotocol import types

from counterlens.lsp.actions import function_action
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.progress import refusing
from counterlens.lsp.targets import function_named, open_probed, plain
from counterlens.mutations import mutated, survey
from counterlens.probes.pairs.counterfactuals import not_asked, preserving, rewritings
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.probes.pairs.wording import outcome
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function, function_at, functions

COMMAND = "counterlens.counterfactuals"
SHOW_COMMAND = "counterlens.showCounterfactual"
"""A command of the client: the user chooses a counterfactual, and the client opens the difference."""
ITEMS_COMMAND = "counterlens.testItems"


def register(server: CounterlensServer) -> None:
    server.command(COMMAND)(_counterfactuals)
    server.code_actions.append(_code_actions)
    server.command(ITEMS_COMMAND)(_items)


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


@refusing(partial(CounterfactualListing, "", (), ()), announced=False)
async def _counterfactuals(ls: CounterlensServer, argument: Any = None) -> CounterfactualListing:
    """List the counterfactuals of a function."""
    analysis, function = function_named(ls, argument)
    record = analysis.known_function(function.qualname).probe
    return await ls.offload(listing, analysis.document, function.qualname, record)


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
                description=made.description,
                assumptions=made.assumptions,
                source=made.source,
                outcome=str(pair.outcome) if pair else "",
                verdict=outcome(pair) if pair else "",
            )
        )
    return CounterfactualListing(
        function=qualname,
        counterfactuals=tuple(counterfactuals),
        refused=tuple(
            RefusedMutation(site.mutation, site.line - 1, site.reason) for site in surveyed.refusals
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
    return [function_action(ls, analysis, function.qualname, "Show counterfactual…", SHOW_COMMAND)]


@dataclass(frozen=True, slots=True)
class FunctionItem:
    """One function."""

    function: str
    range: types.Range


@dataclass(frozen=True, slots=True)
class MutationItem:
    """One mutation of one function."""

    mutation: str
    concept: str
    lines: tuple[int, ...]
    refused: str


@dataclass(frozen=True, slots=True)
class TestItems:
    """Either the functions of a file or the mutations of one of them; the reason if that failed."""

    version: int = 0
    functions: tuple[FunctionItem, ...] = ()
    mutations: tuple[MutationItem, ...] = ()
    error: str | None = None


@refusing(TestItems, announced=False)
async def _items(ls: CounterlensServer, argument: Any = None) -> TestItems:
    """List the tests."""
    if not plain(argument).get("function"):
        analysis = open_probed(ls, argument)
        places = ls.places(analysis)
        # The last of several definitions of one name is in effect, and a probe takes it.
        named = {function.qualname: function for function in functions(analysis.document)}
        items = (FunctionItem(name, places.range(item.start, item.end)) for name, item in named.items())
        return TestItems(analysis.document.version, functions=tuple(items))
    analysis, function = function_named(ls, argument)
    document = analysis.document
    mutations = await ls.offload(mutations_of, document, function.qualname)
    return TestItems(document.version, mutations=mutations)


def mutations_of(document: Document, qualname: str) -> tuple[MutationItem, ...]:
    """The preserving mutations that apply to a function, in the order of the registry.

    Takes up to a second on a long file.

    Raises:
        SourceError: there is no such function, or the file does not parse.
    """
    _, surveyed = rewritings(document, qualname, None, seed=0)
    refused = not_asked(surveyed)
    items, mutations = [], mutated(document.language).mutations
    for name in preserving(None, language=document.language):
        lines = {
            made.start_line - 1 for made in surveyed.counterfactuals if made.mutation == name and made.cut
        }
        reasons = dict.fromkeys(site.reason for site in refused if site.mutation == name)
        if lines or reasons:
            why = "" if lines else "; ".join(reasons)
            items.append(MutationItem(name, str(mutations[name].concept), tuple(sorted(lines)), why))
    return tuple(items)
