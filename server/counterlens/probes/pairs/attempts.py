"""The completions of a function and its counterfactuals, with their verdicts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterlens.errors import Cancelled
from counterlens.judging.base import Evidence, HoleReach, Judgement, Verdict
from counterlens.metrics.effects import Effect
from counterlens.models.base import Model
from counterlens.mutations import Counterfactual
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.pairs.record import DrawnPair, Way
from counterlens.probes.prompts.gap import Gap
from counterlens.progress import Steps

if TYPE_CHECKING:
    from counterlens.probes.pairs.likelihood_effect import LikelihoodEffect


@dataclass(frozen=True, slots=True)
class Attempt:
    """The completion on one side of a pair, with its verdict.

    Attributes:
        completion: Its text; None if it was not requested.
        finish: `stop` or `length`, as in `Completion`.
        verdict: The judgement of the whole program.
        ties: As in `Completion`.
        ways: Alternative completions that rounding may have chosen; None if none were decoded.
    """

    completion: str | None
    finish: str
    verdict: Verdict
    ties: tuple[int, ...] = ()
    ways: tuple[Way, ...] | None = None

    @property
    def truncated(self) -> bool:
        """Whether it has no answer, see `Completion.unanswered`."""
        return self.completion == "" and self.finish == "length"


UNASKED = Attempt(
    None,
    "stop",
    Verdict(Judgement.REFUSED, Evidence("none", 0, message="no completion was requested")),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """An original and a counterfactual, both completed and judged.

    Attributes:
        gap: The original with its hole.
        mutated_gap: The counterfactual with its hole.
        original: The completion of the original.
        mutated: The completion of the counterfactual.
        likelihood: The loss in likelihood of the true rest; None if not measured.
        cut_range: The range of the cut, if there are several; None if there is one cut.
        discriminating: Whether the original's true rest after the counterfactual's prompt fails the tests;
            None if that was not judged.
        drawn: The outcomes of sampled completions; None if none were sampled.
        reached: The tests' coverage of the original's hole; None if unknown.
    """

    counterfactual: Counterfactual
    gap: Gap
    mutated_gap: Gap
    original: Attempt = UNASKED
    mutated: Attempt = UNASKED
    likelihood: LikelihoodEffect | None = None
    cut_range: tuple[float, float] | None = None
    discriminating: bool | None = None
    drawn: DrawnPair | None = None
    reached: HoleReach | None = None

    @property
    def effect(self) -> Effect | None:
        """The mutation effect; None if a side could not be judged."""
        verdicts = self.original.verdict, self.mutated.verdict
        if Judgement.REFUSED in {verdict.judgement for verdict in verdicts}:
            return None
        return Effect(*(verdict.passed for verdict in verdicts))

    @property
    def informative(self) -> bool:
        """Whether both sides were judged and one is right; nothing is claimed about other pairs."""
        return self.effect is not None and self.effect.informative

    @property
    def copied(self) -> bool:
        """Whether the model wrote the same code on both sides although different code was expected."""
        wrote = self.original.completion
        same = _normal(wrote) != "" and same_code(wrote, self.mutated.completion)
        return same and not same_code(self.gap.removed, self.mutated_gap.removed)


def attempt_all(
    model: Model,
    judging: Judging,
    gaps: Sequence[tuple[Gap, Gap]],
    max_tokens: int,
    steps: Steps,
    judged: Callable[[int, Attempt, Attempt], None] = lambda *_: None,
    together: int | None = None,
) -> dict[Gap, Attempt]:
    """Have the model fill all holes, in one batch, and judge the programs.

    If the time of `steps` is over, the holes of the last pairs are not filled.

    Args:
        judged: Called with the index of a pair and both attempts once they are judged.
        together: Number of prompts after which those are judged, for a model whose answers do not depend on
            other prompts; None for all.

    Raises:
        ModelError, Cancelled: as `Model.complete`.
    """
    holes = {gap.shown: gap for both in gaps for gap in both}
    if not holes:  # even a test of the model's capabilities would be a request
        judging.check_identity()
        return {}
    what = f"completing {len(holes)} prompts together"
    steps.next(what)
    waiting = dict(enumerate(gaps))
    attempts: dict[str, Attempt] = {}
    asked, size, slowest = list(holes.values()), together or len(holes), 0.0
    for start in range(0, len(asked), size):
        end = (
            steps.end if start else steps.cancel
        )  # the first part may take its time: it gives a finding at all
        if (start and not steps.has_time(slowest)) or (end is not None and end.is_set()):
            steps.check()
            break
        begun, part = time.monotonic(), asked[start : start + size]
        try:
            completions = model.complete(
                [gap.prompt(max_tokens) for gap in part],
                cancel=end,
                progress=lambda done, _, start=start: steps.report(what, start + done, len(holes)),  # type: ignore[misc]
            )
        except Cancelled:
            steps.check()
            break
        for number, (gap, completion) in enumerate(zip(part, completions, strict=True), start):
            steps.next("judging the completions", number, len(holes))
            verdict = judging.answer(gap, completion)
            attempts[gap.shown] = Attempt(completion.text, completion.finish, verdict, completion.ties)
        for index, (original, mutated) in list(waiting.items()):
            if {original.shown, mutated.shown} <= attempts.keys():
                judged(index, attempts[original.shown], attempts[mutated.shown])
                del waiting[index]
        slowest = max(slowest, time.monotonic() - begun)
    judging.check_identity()
    return {gap: attempts[gap.shown] for both in gaps for gap in both if gap.shown in attempts}


def pairs_of(
    sound: Sequence[Counterfactual], gaps: Sequence[tuple[Gap, Gap]], attempts: dict[Gap, Attempt]
) -> list[Pair]:
    """The pairs, in the order of the counterfactuals."""
    return [
        Pair(made, original, mutated, attempts[original], attempts[mutated])
        for made, (original, mutated) in zip(sound, gaps, strict=True)
    ]


def same_code(text: str | None, other: str | None) -> bool:
    """Whether two texts are the same except for blank lines, blanks at line ends and the kind of line end."""
    return _normal(text) == _normal(other)


def _normal(text: str | None) -> str:
    lines = (line.rstrip() for line in (text or "").replace("\r\n", "\n").splitlines())
    return "\n".join(line for line in lines if line)
