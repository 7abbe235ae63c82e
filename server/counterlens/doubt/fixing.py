"""A function that fails its own tests: the likeliest alternative that passes them.

Tests show more than the model's preference, so alternatives of all kinds run here, including silent ones, in
the order of the likelihood of their first tokens. A few tests can also be passed by accident: a fix is clear
only if no other alternative that passes is as likely and behaves differently.
"""

from __future__ import annotations

from itertools import islice
from threading import Event

from counterlens.attribution.base import Judge, Judgement, Setting
from counterlens.confidence.ignoring import ignored
from counterlens.doubt.generating import changed_text
from counterlens.doubt.marking import Doubt, Verification, silenced
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.scoring import LEAST_HEAD, Trial, ranked_by_head
from counterlens.doubt.telling_apart import StudiedVersion
from counterlens.models.base import Model

MOST = 60
"""Maximum number of alternatives to run per function."""
MOST_ENDLESS = 3
"""Maximum number of alternatives that may time out."""
LEAST_GAIN = -4.0
"""Nats: a fix may not be much less likely than the existing code; a few tests can be passed by accident."""
CLEAR = 4.0
"""Nats: an alternative that passes the tests is a rival of the likeliest one within this distance."""


def fix_for(
    model: Model,
    scope: DoubtScope,
    judge: Judge,
    failing: str,
    setting: Setting,
    *,
    cancel: Event | None = None,
) -> Doubt | None:
    """The likeliest alternative that passes a function's tests; None if no likely one does.

    The doubt names a rival if the tests do not decide between the two.

    Args:
        model: The model, which determines the order of trials.
        scope: The function, which fails its tests as it is.
        judge: Its tests.
        failing: The failing test, and its message.
        setting: The environment for comparing alternatives with each other.
        cancel: Set to cancel.

    Raises:
        UnscorableError, ModelError, Cancelled: as `ranked_by_head`.
        SandboxError, Cancelled: as `Judge.judge`.
    """
    passing = sorted(_passing(model, scope, judge, cancel), key=lambda one: -one.gain)
    if not passing:
        return None
    best, *others = passing
    version = StudiedVersion(scope, changed_text(scope.document, best.alternative), setting, cancel)
    for rival in others:
        if best.gain - rival.gain >= CLEAR:
            break
        program = changed_text(scope.document, rival.alternative)
        if not version.does_the_same(program):
            apart = version.difference(program)
            return Doubt(scope, best, Verification.SAME, failing, rival.alternative, apart)
    return Doubt(scope, best, Verification.FAIL, failing)


def _passing(model: Model, scope: DoubtScope, judge: Judge, cancel: Event | None) -> list[Trial]:
    """The likely alternatives that pass; after the first one, only those run that may be as likely."""
    comments, endless = ignored(scope.document), 0
    ranked = ranked_by_head(model, scope, cancel=cancel)
    found: list[Trial] = []
    for head, one, trial in islice((each for each in ranked if not silenced(comments, each[1])), MOST):
        if found and head < LEAST_HEAD:
            break
        verdict = judge.judge(changed_text(scope.document, one), cancel=cancel)
        if verdict.passed and (tried := trial()).gain >= LEAST_GAIN:
            found.append(tried)
        endless += verdict.judgement is Judgement.TIMED_OUT
        if endless >= MOST_ENDLESS:
            break
    return found
