"""The command `counterlens.mutants`: what the tests of a function do not see, as tests to paste.

Argument `{uri, function? | position?}`, answer `MutantsAnswer`. The tests run in the sandbox.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types

from counterlens.doubt.generating import scopes
from counterlens.judging.base import LIMITS, Setting, lasting
from counterlens.judging.projects import interpreter_for
from counterlens.languages.language import Feature
from counterlens.lsp.actions import function_action
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.consent import may_be_trusted, require_consent, require_trusted_workspace
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.progress import Announcements, ask_first, refusing, show_markdown
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.targets import function_named
from counterlens.models.base import Capability
from counterlens.progress import Steps
from counterlens.reports.export.survivors import survivor_sentence
from counterlens.reports.render.markdown import fence
from counterlens.sandbox.registry import best_sandbox
from counterlens.survivors import Search, Survival
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, function_at, has_feature, require_feature

COMMAND = "counterlens.mutants"
SHOW_COMMAND = "counterlens.showMutants"
"""A command of the client: open the tests that `COMMAND` proposes."""
FINDING = "tests"
"""The id of the result in the view of a function."""


def register(server: CounterlensServer) -> None:
    server.command(COMMAND)(_mutants)
    server.code_actions.append(_code_actions)


@dataclass(frozen=True, slots=True)
class MutantsAnswer:
    """The answer of `counterlens.mutants`: the result in one sentence, and the proposed tests as Python."""

    ok: bool
    function: str = ""
    version: int = 0
    summary: str = ""
    tests: str = ""
    error: str | None = None


@refusing(partial(MutantsAnswer, ok=False), "The search for mutants was cancelled.")
async def _mutants(ls: CounterlensServer, argument: Any = None) -> MutantsAnswer:
    """Find what the tests of a function miss."""
    settings = ls.settings
    analysis, function = function_named(ls, argument)
    document = analysis.document
    require_feature(document, Feature.DOUBTS)
    await require_trusted_workspace(ls, document.path or Path())
    await require_consent(ls, given_before=settings.allow_weaker_sandbox)
    source, name = analysis.source_of(function), function.name
    announcements = Announcements(
        f"Looking for what the tests of {name} miss",
        f"mutating {name}",
        f"the tests of {name} were examined",
        f"the search for what the tests of {name} miss was cancelled",
    )

    def work(steps: Steps) -> Survival:
        return _survival(ls.host, settings, document, function, steps)

    survival = await ask_first(ls, settings, analysis, announcements, work)
    summary = _summary(survival)
    if analysis.source_of(function) == source:
        analysis.note(function, findings={FINDING: summary})
        ls.changed(analysis)
    tests = "\n\n".join(
        f"# {' '.join(survivor_sentence(each).split())}\n{each.test}" for each in survival.survivors
    )
    if not ls.client_shows_results:
        report = f"{summary}\n\n{fence(tests, 'python')}\n" if tests else f"{summary}\n"
        await show_markdown(ls, f"tests {function.name}", f"{function.name}: {summary}", report)
    return MutantsAnswer(True, function.qualname, document.version, summary, tests)


def _survival(
    host: ModelHost, settings: EditorSettings, document: Document, function: Function, steps: Steps
) -> Survival:
    """What the tests of a function, or of the one around it, let through; takes seconds."""
    scope = next(
        candidate
        for candidate in scopes(document)
        if candidate.function.start <= function.start < candidate.function.end
    )
    timeout = settings.probe.get("timeout")
    limits = lasting(timeout) if timeout else LIMITS
    excluded = tuple(settings.probe.get("excluded_tests", ()))
    python = interpreter_for(document.path)
    setting = Setting(best_sandbox(), python, limits, steps.cancel, vetted=True, excluded=excluded)
    with host.use_model(settings) as model:
        scores = model.offers(Capability.SCORE, cancel=steps.cancel)
        return Search(setting, (lambda: model) if scores else None, steps=steps).survival(scope)


def _summary(survival: Survival) -> str:
    """The result in one sentence."""
    if survival.reason:
        return f"no mutants could be judged: {survival.reason}"
    if not survival.different:
        return f"no test is missing: {survival.mutants} mutants were tried"
    return (
        f"{survival.different} of {survival.mutants} mutants pass the tests; {len(survival.survivors)} tests "
        "would fail on them"
    )


def _code_actions(
    ls: CounterlensServer, analysis: Analysis, params: types.CodeActionParams
) -> list[types.CodeAction]:
    """The code action for the function at a place, if its tests may run."""
    document = analysis.document
    function = function_at(document, ls.places(analysis).offset(params.range.start))
    if function is None or not has_feature(document, Feature.DOUBTS):
        return []
    if not may_be_trusted(ls, document.path or Path()):
        return []
    title = "What do the tests miss?"
    return [function_action(ls, analysis, function.qualname, title, SHOW_COMMAND, COMMAND)]
