"""A function that fails its own tests: the likeliest alternative with which it passes them.

Tests show more than the model's preference, so here alternatives of all kinds are run, also of the silent
ones, in the order in which the model finds their first tokens likely. Few tests are passed by accident, too:
a fix is settled only if no other alternative that passes them is as likely and does something else.
"""

from __future__ import annotations

from itertools import islice
from threading import Event

from counterlens.attribution.base import Judge, Judgement, Setting
from counterlens.confidence.ignoring import ignored
from counterlens.doubt.generating import changed_text
from counterlens.doubt.marking import Doubt, Telling, silenced
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.scoring import LEAST_HEAD, Trial, ranked_by_head
from counterlens.doubt.telling_apart import StudiedVersion
from counterlens.models.base import Model

MOST = 60
"""Maximum number of alternatives to run per function."""
MOST_ENDLESS = 3
"""Maximum number of alternatives that may time out."""
LEAST_GAIN = -4.0
"""Nats: a fix is not much less likely than the existing code; a few tests pass by accident, too."""
CLEAR = 4.0
"""Nats: an alternative that passes the tests rivals the likeliest one if it is less than that behind it."""


def fix_for(
    model: Model,
    scope: DoubtScope,
    judge: Judge,
    failing: str,
    setting: Setting,
    *,
    cancel: Event | None = None,
) -> Doubt | None:
    """The likeliest alternative with which a function passes its tests; None if no likely one does.

    If the tests do not decide between it and another one, the doubt names its rival.

    Args:
        model: The model, which says in what order they are tried.
        scope: The function, which fails them as it stands.
        judge: Its tests.
        failing: The failing test, and its message.
        setting: Where alternatives are compared with each other.
        cancel: Set it to give up.

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
            return Doubt(scope, best, Telling.SAME, failing, rival.alternative, apart)
    return Doubt(scope, best, Telling.FAIL, failing)


def _passing(model: Model, scope: DoubtScope, judge: Judge, cancel: Event | None) -> list[Trial]:
    """The likely alternatives that pass; after the first one only those that may be as likely are run."""
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
