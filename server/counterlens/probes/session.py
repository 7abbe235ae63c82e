"""One model and one sandbox, any number of functions: what the faces call to probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from counterlens.attribution.base import Judge
from counterlens.attribution.registry import find_judge, why_no_judge
from counterlens.confidence import Confidence, confidence, score_document
from counterlens.errors import ModelError, SourceError
from counterlens.models.base import Capability
from counterlens.probes.completion import with_likelihood
from counterlens.probes.pairs import Variant, probe_pairs
from counterlens.probes.results import CompletionProbe
from counterlens.probes.steps import Steps
from counterlens.probes.task import Request, Target
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions

__all__ = ["ProbeSession", "Probed", "Variant"]


@dataclass(frozen=True, slots=True)
class Probed:
    """A function's probe, with the confidence on its document.

    Attributes:
        probe: What the completion probe found.
        confidence: Scores on the definition that the function is in, None where there are none.
        note: Why there are none.
    """

    probe: CompletionProbe
    confidence: Confidence | None
    note: str | None = None


class ProbeSession:
    """Probes functions with one model.

    Args:
        request: The model, the sandbox and the choices; its targets are not looked at.
        variant: What is asked.

    Attributes:
        skipped: The functions of the file probed last that nothing could judge, and why.
    """

    def __init__(self, request: Request, variant: Variant = Variant.COMPLETE) -> None:
        self._request, self._variant = request, variant
        self._model, self._cancel, self._report = request.model, request.cancel, request.report
        self.skipped: dict[str, str] = {}

    def probe(
        self,
        document: Document,
        qualname: str,
        *,
        scored: Confidence | None = None,
        judge: Judge | None = None,
    ) -> Probed:
        """Probe one function.

        Args:
            document: The source.
            qualname: The function.
            scored: Confidence on the document, where it is known already.
            judge: What judges the function, where it was looked for already.

        Raises:
            as `probe_completion`.
        """
        probe = self._probe(document, qualname, judge)
        if probe.judged_by is None and self._variant is Variant.COMPLETE:
            probe = self._with_likelihood(probe)
        if scored is not None:
            return Probed(probe, scored)
        found, note = self._score(document, probe.function)
        return Probed(probe, found, note)

    def probe_all(self, document: Document) -> list[Probed]:
        """Probe every function of a document that has tests; for the likelihood every function.

        Raises:
            SourceError: there is none.
            And as `probe_completion`.
        """
        known = functions(document)
        if self._variant is Variant.LIKELIHOOD and known:
            return [self.probe(document, function.qualname) for function in known]
        fallback = self._variant is not Variant.REPAIR
        sandbox, limits = self._request.sandbox(), self._request.limits
        tested: dict[Function, Judge] = {}
        self.skipped = {}
        for function in known:
            judge = find_judge(
                document, function, sandbox, limits=limits, fallback=fallback, cancel=self._cancel
            )
            if judge is not None:
                tested[function] = judge
            else:
                self.skipped[function.qualname] = why_no_judge(
                    document, function, sandbox, limits=limits, fallback=fallback, cancel=self._cancel
                )
        if not tested:
            name, reason = next(iter(self.skipped.items()), ("", ""))
            raise SourceError(
                f"no function of {document.path or 'the text'} has tests to judge a completion by",
                "Add a doctest, or a test_*.py beside it; or name one function to see what the model writes. "
                f"{name}: {reason}"
                if known
                else "It has no functions at all",
            )
        return [self.probe(document, function.qualname, judge=judge) for function, judge in tested.items()]

    def probe_targets(self, targets: Sequence[Target]) -> tuple[list[Probed], dict[str, str]]:
        """Probe the functions of a dataset, by the tests that it gives; no confidence is measured.

        Returns:
            The probes, and why functions were left out, by the dataset's name of each.

        Raises:
            ModelError, SandboxError, Cancelled: as `probe_completion`.
        """
        found, left_out = [], {}
        for number, target in enumerate(targets):
            if self._report:
                self._report(f"probing {target.name}", number, len(targets))
            document = replace(target.document, path=Path(target.name))
            try:
                found.append(Probed(self._probe(document, target.qualname, target.judge), None))
            except SourceError as error:
                left_out[target.name] = error.message
        return found, left_out

    def _probe(self, document: Document, qualname: str, judge: Judge | None) -> CompletionProbe:
        return probe_pairs(self._variant, self._request, Target(document, qualname, judge))

    def _with_likelihood(self, probe: CompletionProbe) -> CompletionProbe:
        """Where nothing can judge, the likelihood effect still tells something."""
        try:
            if self._model.offers(Capability.SCORE, cancel=self._cancel):
                return with_likelihood(probe, self._model, Steps(self._cancel, self._report))
        except ModelError as error:  # the completions are worth showing without it
            return replace(probe, note=f"the likelihood effect is unknown: {error.message}")
        return replace(
            probe, note="the likelihood effect is unknown: this model gives no token probabilities"
        )

    def _score(self, document: Document, function: Function) -> tuple[Confidence | None, str | None]:
        """Confidence on the definition that a function is in, or why there is none."""

        def progress(done: int, total: int) -> None:
            if self._report:
                self._report("measuring confidence", done, total)

        try:
            if not self._model.offers(Capability.SCORE, cancel=self._cancel):
                return None, "unknown: this model gives no token probabilities"
            span = (function.start, function.end)
            scores = score_document(self._model, document, span=span, cancel=self._cancel, progress=progress)
        except (ModelError, SourceError) as error:  # what cannot be scored may yet be completed
            return None, f"unknown: {error.message}"
        return confidence(document, scores), None
