"""A prompted task: does a model see which calls of a function return the same?"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import combinations, islice

from counterlens.judging.base import lasting
from counterlens.probes.execution.language import execution_of
from counterlens.probes.execution.printing import inputs_of
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
        """Pairs of the first four calls; similar calls are the rival that needs no model."""
        function, limits = reachable(target), lasting(options.timeout)
        language, setting = execution_of(target.document.language), context.setting(limits)
        inputs = islice(inputs_of(context, target, function, seed=options.seed, limits=limits), 4)
        calls = [each.call for each in inputs]
        results = {call: language.output_of(target.document, call, setting).value for call in calls}
        for first, second in combinations(results, 2):
            yield ClosedQuestion(
                asked=self.main,
                question=f"Do {first} and {second} return the same?",
                candidates=("yes", "no"),
                truth="yes" if language.values.equal(results[first], results[second]) else "no",
                rivals={"similar calls": (SequenceMatcher(None, first, second).ratio(), 0.0)},
            )
