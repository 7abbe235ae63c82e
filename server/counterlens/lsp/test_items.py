"""The content of an editor's list of tests: a file's functions, each with the mutations to probe it with.

Command `counterlens.testItems`: argument `{uri, function?}`, answer `TestItems`. No model is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from counterlens.errors import CounterlensError
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import error_text, translate_known
from counterlens.lsp.targets import function_named, open_probed, plain
from counterlens.mutations import mutated
from counterlens.probes.pairs.counterfactuals import not_asked, preserving, rewritings
from counterlens.syntax.document import Document
from counterlens.syntax.functions import functions

COMMAND = "counterlens.testItems"


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.command(COMMAND)(_items)


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


async def _items(ls: CounterlensServer, argument: Any = None) -> TestItems:
    """List the tests."""
    try:
        if not plain(argument).get("function"):
            return _functions(ls, open_probed(ls, argument))
        analysis, function = function_named(ls, argument)
        document = analysis.document
        mutations = await ls.offload(mutations_of, document, function.qualname)
    except CounterlensError as error:
        return TestItems(error=error_text(error))
    return TestItems(document.version, mutations=mutations)


def _functions(ls: CounterlensServer, analysis: Analysis) -> TestItems:
    places = ls.places(analysis)
    # The last of several definitions of one name is in effect, and a probe takes it.
    named = {function.qualname: function for function in functions(analysis.document)}
    items = (FunctionItem(name, places.range(item.start, item.end)) for name, item in named.items())
    return TestItems(analysis.document.version, functions=tuple(items))


def mutations_of(document: Document, qualname: str) -> tuple[MutationItem, ...]:
    """The preserving mutations that apply to a function, in the order of the registry.

    Takes up to a second on a long file.

    Raises:
        SourceError: there is no such function, or the file does not parse.
    """
    _, surveyed = rewritings(document, qualname, None, seed=0)
    refused = not_asked(surveyed)
    items, known = [], mutated(document.language).mutations
    for name in preserving(None, language=document.language):
        lines = {
            made.start_line - 1 for made in surveyed.counterfactuals if made.mutation == name and made.cut
        }
        reasons = dict.fromkeys(site.reason for site in refused if site.mutation == name)
        if lines or reasons:
            why = "" if lines else "; ".join(map(translate_known, reasons))
            items.append(MutationItem(name, str(known[name].concept), tuple(sorted(lines)), why))
    return tuple(items)
