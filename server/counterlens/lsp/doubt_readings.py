"""Readings in the background: functions whose docstring and code disagree, after the tests in idle time."""

from __future__ import annotations

from threading import Event

from counterlens.doubt.disagreeing import DisagreeingFunction
from counterlens.doubt.scope import DoubtScope
from counterlens.errors import SourceError
from counterlens.judging.base import LIMITS, Setting, lasting
from counterlens.judging.projects import interpreter_for
from counterlens.lsp.base import LOG
from counterlens.lsp.consent import has_consent
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.settings import EditorSettings
from counterlens.probes.probe import Context
from counterlens.probes.reading.marking import (
    docstring_mark,
    marking_rule,
    stated_mark,
)
from counterlens.progress import Steps
from counterlens.sandbox.base import Sandbox
from counterlens.sandbox.registry import best_sandbox


def run_stated(scope: DoubtScope, settings: EditorSettings, cancel: Event) -> DisagreeingFunction | None:
    """The mark of a function that does not return what its docstring states.

    Raises:
        SandboxError, Cancelled: as `stated_mark`.
    """
    if not has_consent(settings.allow_weaker_sandbox):
        return None
    return stated_mark(scope, _setting(scope, settings, best_sandbox(), cancel))


def read_docstring(
    host: ModelHost, scope: DoubtScope, settings: EditorSettings, cancel: Event
) -> DisagreeingFunction | None:
    """The mark of a function that does otherwise than versions that a model writes; takes seconds.

    What the model wrote is cached by what it was shown, so that after an edit of the body the code only runs.

    Raises:
        ModelError, SandboxError, Cancelled: as `docstring_mark`.
    """
    if not has_consent(settings.allow_weaker_sandbox):
        return None
    sandbox = best_sandbox()
    setting = _setting(scope, settings, sandbox, cancel)
    with host.use_model(settings, background=True) as model:
        rule = marking_rule(model)
        if rule is None:
            return None
        try:
            return docstring_mark(Context(model, lambda: sandbox, Steps(cancel)), scope, setting, rule)
        except SourceError as error:
            LOG.debug("%s: its docstring is not read: %s", scope.function.qualname, error.message)
            return None


def _setting(scope: DoubtScope, settings: EditorSettings, sandbox: Sandbox, cancel: Event) -> Setting:
    timeout = settings.probe.get("timeout")
    return Setting(
        sandbox,
        interpreter_for(scope.document.path),
        lasting(timeout) if timeout else LIMITS,
        cancel,
        excluded=tuple(settings.probe.get("excluded_tests", ())),
    )
