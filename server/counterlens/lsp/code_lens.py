"""Code lenses: an offer to probe each function, and what came of it."""

from __future__ import annotations

from lsprotocol import types

from counterlens.lsp.analysis import Analysis
from counterlens.lsp.places import Places
from counterlens.probes.session import Probed
from counterlens.syntax.functions import functions

PROBE_COMMAND = "counterlens.probe"


def code_lenses(analysis: Analysis, places: Places) -> list[types.CodeLens]:
    """One lens over each function."""
    lenses = []
    for function in functions(analysis.document):
        known = analysis.probed.get(function.qualname)
        lenses.append(
            types.CodeLens(
                range=places.range(function.header, function.header),
                command=types.Command(
                    title="Probe counterfactually" + (f" · {_result(known[1])}" if known else ""),
                    command=PROBE_COMMAND,
                    arguments=[{"uri": analysis.uri, "function": function.qualname}],
                ),
            )
        )
    return lenses


def _result(probed: Probed) -> str:
    average = probed.probe.average
    if average.n:
        return f"{average.count} of {average.n} changed the verdict"
    return "uninformative" if probed.probe.pairs else "nothing to change"
