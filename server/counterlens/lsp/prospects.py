"""What is known about a probe before it runs: how often the model completes such functions, and refusals.

Nothing of this runs a program, so it is also known in an untrusted folder.
"""

from __future__ import annotations

from dataclasses import dataclass

from counterlens.judging.base import WeakAssertion
from counterlens.lsp.language import t
from counterlens.models.code_models import code_models
from counterlens.models.files import EMBEDDED_MODEL, note, recall
from counterlens.syntax.functions import Function

_MEMORY = "editor-completions.json"
_SHORT_LINES = 12  # a function with at most so many lines is short
_TELLING = 3  # functions from which a share is stated
_HOPELESS = 8  # functions of a kind without one completed, from which no other is offered
_WEAK = 0.4  # share of completed functions below which a larger model is named


@dataclass(frozen=True, slots=True)
class CompletionCounts:
    """How many of the probed functions a model completed so that the tests passed."""

    completed: int = 0
    probed: int = 0

    def __add__(self, other: CompletionCounts) -> CompletionCounts:
        return CompletionCounts(self.completed + other.completed, self.probed + other.probed)


def counts_of_kind(model: str, function: Function) -> CompletionCounts:
    """The counts of a model for functions about as long as this one."""
    return _counts(model, _kind(function))


def note_completion(model: str, function: Function, *, completed: bool) -> None:
    """Count one more probed function."""
    kind = _kind(function)
    counts = _counts(model, kind) + CompletionCounts(int(completed), 1)
    note(_MEMORY, f"{model} {kind}", f"{counts.completed}/{counts.probed}")


def is_hopeless(counts: CompletionCounts) -> bool:
    """Whether a model has completed none of so many such functions that a probe will say nothing."""
    return counts.probed >= _HOPELESS and not counts.completed


def prospect(model: str, name: str) -> str:
    """What a model can do here, in a sentence, before a probe."""
    counts = _counts(model, "short") + _counts(model, "long")
    if counts.probed < _TELLING:
        said = t("How often {model} completes your functions is being measured", model=name)
        weak = model == EMBEDDED_MODEL
    else:
        share = counts.completed / counts.probed
        said = t(
            "{model} completed {share} of the {n} functions probed so far",
            model=name,
            share=f"{100 * share:.0f} %",
            n=counts.probed,
        )
        weak = share < _WEAK
    larger = _larger(model) if weak else ""
    return (
        t("{said}; {larger} is likelier to tell you something", said=said, larger=larger) if larger else said
    )


def refusal(weak: WeakAssertion) -> str:
    """Why a probe will be refused, and what to do, in a clause."""
    values = {"assertion": weak.assertion, "accepts": weak.accepts, "instead": weak.instead}
    if weak.instead:
        return t("`{assertion}` also accepts {accepts}: compare with `{instead}`", **values)
    if weak.assertion.startswith(("assert ", "self.")):
        return t("`{assertion}` also accepts {accepts}: compare with the expected result", **values)
    return t("no test looks at the result of `{assertion}`: compare it with the expected one", **values)


def _counts(model: str, kind: str) -> CompletionCounts:
    completed, _, probed = str(recall(_MEMORY, f"{model} {kind}") or "").partition("/")
    if completed.isdecimal() and probed.isdecimal() and int(completed) <= int(probed):
        return CompletionCounts(int(completed), int(probed))
    return CompletionCounts()


def _kind(function: Function) -> str:
    return "short" if function.end_line - function.start_line < _SHORT_LINES else "long"


def _larger(model: str) -> str:
    """The name of the next larger code model that is offered; empty if none is known to be larger."""
    offered = code_models()
    if model == EMBEDDED_MODEL:
        return offered[0].name
    ours = next((each for each in offered if each.id == model or model.endswith(each.file)), None)
    larger = [each for each in offered if ours is not None and each.parameters > ours.parameters]
    return larger[0].name if larger else ""
