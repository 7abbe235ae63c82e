"""What is true before a probe ends, for a reader who waits: what will be asked, and what each pair showed."""

from __future__ import annotations

from collections.abc import Sequence

from counterlens.counting import plural
from counterlens.judging.base import Judgement
from counterlens.models.speed import ModelSpeed
from counterlens.mutations import Counterfactual
from counterlens.probes.pairs.attempts import Attempt
from counterlens.probes.pairs.preparing import PreparedPairs
from counterlens.probes.prompts.gap import Gap

_OUTCOMES = {
    (True, True): "right in both versions",
    (True, False): "right before the change, wrong after it",
    (False, True): "wrong before the change, right after it",
    (False, False): "wrong in both versions",
}


def plan_sentence(
    prepared: PreparedPairs, gaps: Sequence[tuple[Gap, Gap]], max_tokens: int, speed: ModelSpeed | None
) -> str:
    """What is asked, and how long it takes at most on a machine that is not busy.

    Args:
        gaps: All pairs of prompts.
        speed: The speed of the model, if it was measured here.
    """
    prompts = len({gap.shown for both in gaps for gap in both})
    cuts = len({made.cut.original for made in prepared.asked if made.cut is not None})
    sentence = (
        f"{plural(len(prepared.asked), 'pair')} at {plural(cuts, 'cut')}, "
        f"{plural(prompts, 'prompt')} of up to {plural(max_tokens, 'token')}"
    )
    if speed is None:
        return sentence
    longest = prompts * max_tokens / speed.writing
    return f"{sentence}; at most about {longest:.0f} s at {speed.writing:.0f} tokens/s, as measured here"


def finding_sentence(
    made: Counterfactual, original: Attempt, mutated: Attempt, *, discriminating: bool
) -> str:
    """What one pair showed.

    Args:
        discriminating: Whether a copy of the original's rest fails in the counterfactual.
    """
    verdicts = original.verdict, mutated.verdict
    place = f"line {made.start_line}, {made.mutation}"
    if Judgement.REFUSED in {verdict.judgement for verdict in verdicts}:
        return f"{place}: not judged"
    outcome = _OUTCOMES[verdicts[0].passed, verdicts[1].passed]
    return f"{place}: {outcome}{' (a copy would fail here)' if discriminating else ''}"
