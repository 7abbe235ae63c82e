"""A prompted task: does a model see which calls of a function return the same?"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import combinations

from counterlens.judging.base import lasting
from counterlens.probes.execution.calls import worthwhile_calls
from counterlens.probes.execution.language import execution_of
from counterlens.probes.execution.questions import reachable
from counterlens.probes.probe import Context, Source, Target
from counterlens.probes.prompts.closed_task import ClosedOptions, ClosedQuestion, ClosedTask


class SameResultTask(ClosedTask):
    """Asks about pairs of calls, which run in the sandbox."""

    id = "same-result"
    title = "does it see which calls return the same?"
    source = Source("ours")
    main = "same result"

    def closed_questions(
        self, context: Context, target: Target, options: ClosedOptions
    ) -> Iterator[ClosedQuestion]:
        """Pairs of the four calls that tell most; similar calls are the rival that needs no model."""
        limits, equal = lasting(options.timeout), execution_of(target.document.language).values.equal
        calls = worthwhile_calls(context, target, reachable(target), seed=options.seed, limits=limits)[:4]
        for first, second in combinations(calls, 2):
            texts = first.input.call, second.input.call
            yield ClosedQuestion(
                asked=self.main,
                question=f"Do {texts[0]} and {texts[1]} return the same?",
                candidates=("yes", "no"),
                truth="yes" if equal(first.gives.value, second.gives.value) else "no",
                rivals={"similar calls": (SequenceMatcher(None, *texts).ratio(), 0.0)},
            )
