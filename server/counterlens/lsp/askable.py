"""The number of prompts of a completion probe for each function of a document, counted a few at a time.

Each function is parsed by itself, without the rest of its file: this is a hundred times cheaper, and differs
only if other lines matter. A count is kept while the text of the function is unchanged.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterable

from counterlens.errors import CounterlensError
from counterlens.lsp.analysis import Analysis
from counterlens.probes.pairs.counterfactuals import prompts_of, rewritings
from counterlens.probes.prompts.language import prompting_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions


class Askable:
    """The number of prompts of a probe, per function."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._functions = functions(analysis.document)

    def known(self) -> dict[str, int]:
        """Prompts of the counted functions, by qualified name; 0 if the model cannot be asked anything."""
        counted = self._analysis.askable
        named = (
            (function.qualname, counted.get(self._analysis.source_of(function)))
            for function in self._functions
        )
        return {name: prompts for name, prompts in named if prompts is not None}

    def count(self, seconds: float) -> bool:
        """Count more functions, visible ones first.

        Args:
            seconds: Time budget.

        Returns:
            Whether all functions are counted.
        """
        until, counted = time.monotonic() + seconds, self._analysis.askable
        for function in self._nearest():
            source = self._analysis.source_of(function)
            if source in counted:
                continue
            if time.monotonic() > until:
                return False
            counted[source] = _prompts(self._analysis.document, function)
        current = {self._analysis.source_of(function) for function in self._functions}
        for gone in counted.keys() - current:
            counted.pop(gone, None)
        return True

    def _nearest(self) -> Iterable[Function]:
        """The functions, by distance from the visible lines."""
        shown = self._analysis.visible
        if shown is None:
            return self._functions
        first, last = shown.start.line + 1, shown.end.line + 1
        return sorted(
            self._functions,
            key=lambda function: max(first - function.end_line, function.start_line - last, 0),
        )


def _prompts(document: Document, function: Function) -> int:
    line = document.data.rfind(b"\n", 0, function.start) + 1
    text = textwrap.dedent(document.data[line : function.end].decode("utf-8", "replace"))
    try:
        alone = Document(prompting_of(document.language).alone(text), language=document.language)
        _, surveyed = rewritings(alone, function.name, None, seed=0)
    except CounterlensError:  # it does not parse by itself
        return 0
    return prompts_of(surveyed.counterfactuals)
