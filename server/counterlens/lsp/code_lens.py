"""Code lenses: an offer to probe each function, and what came of it; an offer to show a counterfactual."""

from __future__ import annotations

from lsprotocol import types

from counterlens.lsp.analysis import Analysis
from counterlens.lsp.counterfactuals import SHOW_COMMAND
from counterlens.lsp.places import Places
from counterlens.probes.session import Probed
from counterlens.syntax.functions import functions

PROBE_COMMAND = "counterlens.probe"


def code_lenses(analysis: Analysis, places: Places, *, shows_counterfactuals: bool) -> list[types.CodeLens]:
    """The lenses over each function.

    Args:
        analysis: The document.
        places: Its positions.
        shows_counterfactuals: Whether the client has the command that shows a counterfactual.
    """
    lenses = []
    for function in functions(analysis.document):
        known = analysis.probed.get(function.qualname)
        where = places.range(function.header, function.header)
        arguments = [{"uri": analysis.uri, "function": function.qualname}]
        probe = "Probe counterfactually" + (f" · {_result(known[1])}" if known else "")
        lenses.append(types.CodeLens(where, types.Command(probe, PROBE_COMMAND, arguments=arguments)))
        if shows_counterfactuals:
            show = types.Command("Show counterfactual…", SHOW_COMMAND, arguments=arguments)
            lenses.append(types.CodeLens(where, show))
    return lenses


def _result(probed: Probed) -> str:
    average = probed.probe.average
    if average.n:
        return f"{average.count} of {average.n} changed the verdict"
    return "uninformative" if probed.probe.pairs else "nothing to change"
