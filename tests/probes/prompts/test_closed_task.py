"""A closed question that cannot be asked or judged leaves its function out, with the reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from counterlens.probes.options import make
from counterlens.probes.probe import Context, Source, Target
from counterlens.probes.prompts.closed_task import ClosedOptions, ClosedQuestion, ClosedTask
from counterlens.probes.runner import run_targets
from counterlens.probes.subjects import targets_in
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.probes.execution.asking import Scripted

PROGRAM = "def f(n):\n    return n\n\n\ndef g(n):\n    return n\n"


class Rounds(ClosedTask):
    """Asks one question of each function, a bad one of `g`."""

    id = "rounds"
    title = "does it know how often a loop runs?"
    source = Source("ours")
    main = "rounds"

    def __init__(self, bad: ClosedQuestion) -> None:
        self.bad = bad

    def closed_questions(
        self,
        context: Context,  # noqa: ARG002
        target: Target,
        options: ClosedOptions,  # noqa: ARG002
    ) -> Iterator[ClosedQuestion]:
        """The question."""
        good = ClosedQuestion(asked="rounds", question="How often?", candidates=("1", "10"), truth="10")
        yield self.bad if target.qualname == "g" else good


@pytest.mark.parametrize(
    ("candidates", "truth", "scores", "reason"),
    [
        (("0", "1"), "7", (), "the true answer 7 is not among the candidates of 'How often?': 0, 1"),
        (("1",), "1", (), "needs two different candidates, not 1"),
        (("1", "1"), "1", (), "needs two different candidates, not 1, 1"),
        (("0", "1"), "1", (0.5,), "the rival 'lines' of 'How often?' has 1 score for 2 candidates"),
    ],
)
def test_a_question_that_cannot_be_judged_leaves_its_function_out(
    candidates: tuple[str, ...], truth: str, scores: tuple[float, ...], reason: str
) -> None:
    bad = ClosedQuestion(
        asked="rounds",
        question="How often?",
        candidates=candidates,
        truth=truth,
        rivals={"lines": scores} if scores else {},
    )
    task = Rounds(bad)
    targets = targets_in(Document(PROGRAM))
    run = run_targets(task, Context(Scripted(lambda _: "10"), best_sandbox), targets, make(task.options, {}))
    (record,) = run.probed
    assert [answer.right for answer in record.answers] == [True]
    (other,) = [each for each in run.records if each not in run.probed]
    assert other.reason.endswith(reason)
