"""A function that fails its own tests: the likeliest alternative with which it passes them.

Tests show more than the model's preference, so here alternatives of all kinds are run, also of the silent
ones, in the order in which the model finds their first tokens likely.
"""

from __future__ import annotations

from itertools import islice
from threading import Event

from counterlens.attribution.base import Judge, Judgement
from counterlens.confidence.ignoring import ignored
from counterlens.doubt.generating import changed_text
from counterlens.doubt.marking import Doubt, Telling, silenced
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.scoring import ranked_by_head
from counterlens.models.base import Model

MOST = 60
"""So many alternatives of a function are run at most."""
MOST_ENDLESS = 3
"""So many may run out of time."""
LEAST_GAIN = -4.0
"""Nats: a fix is not much less likely than what stands there; a few tests pass by accident, too."""


def fix_for(
    model: Model, scope: DoubtScope, judge: Judge, failing: str, *, cancel: Event | None = None
) -> Doubt | None:
    """The first likely alternative with which a function passes its tests; None if no tried one does.

    Args:
        model: The model, which says in what order they are tried.
        scope: The function, which fails them as it stands.
        judge: Its tests.
        failing: The failing test, and its message.
        cancel: Set it to give up.

    Raises:
        UnscorableError, ModelError, Cancelled: as `ranked_by_head`.
        SandboxError, Cancelled: as `Judge.judge`.
    """
    comments, endless = ignored(scope.document), 0
    ranked = ranked_by_head(model, scope, cancel=cancel)
    for one, trial in islice((each for each in ranked if not silenced(comments, each[0])), MOST):
        verdict = judge.judge(changed_text(scope.document, one), cancel=cancel)
        if verdict.passed and (found := trial()).gain >= LEAST_GAIN:
            return Doubt(scope, found, Telling.FAIL, failing)
        endless += verdict.judgement is Judgement.TIMED_OUT
        if endless >= MOST_ENDLESS:
            break
    return None
