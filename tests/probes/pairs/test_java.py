"""The probes of pairs on a Java method, judged by a `main` in the sandbox."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from counterlens.errors import SourceError
from counterlens.judging.base import LIMITS
from counterlens.judging.languages import judging_of
from counterlens.metrics.effects import PairOutcome
from counterlens.models.base import Model, Prompt
from counterlens.probes.options import make
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.probe import Context, Target
from counterlens.probes.registry import PROBES
from counterlens.probes.subjects import given_judge
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.probes.pairs.test_completion import Scripted

PARITY = """\
class Parity {
    /** Whether n is even. */
    static String parity(int n) {
        int rest = n % 2;
        if (rest == 0) {
            return "even";
        } else {
            return "odd";
        }
    }
}
"""
TESTS = """\
class Main {
    public static void main(String[] args) {
        if (!Parity.parity(4).equals("even") || !Parity.parity(7).equals("odd")) throw new AssertionError();
    }
}
"""
RIGHT = '            return "even";\n        } else {\n            return "odd";\n        }\n    }'
FLIPPED = RIGHT.replace("even", "?").replace("odd", "even").replace("?", "odd")


@pytest.fixture(autouse=True)
def _kit() -> None:
    """Skips where Java programs cannot be run."""
    if missing := judging_of("java").missing():
        pytest.skip(missing)


def probed(model: Model, task: str = "completion", text: str = PARITY, **options: Any) -> PairsRecord:
    document = Document(text, Path("Parity.java"), "java")
    judge = given_judge(TESTS, "Parity.parity", PARITY, "java", best_sandbox(), LIMITS)
    given = {"mutations": ["if-else-flip"], **options}
    probe, target = PROBES[task], Target(document, "parity", judge)
    record = probe.run(Context(model, best_sandbox), target, make(probe.options, given))
    assert isinstance(record, PairsRecord)
    return record


def answering(right: str, flipped: str) -> Callable[[str], str]:
    return lambda prompt: right if "rest == 0" in prompt.splitlines()[-1] else flipped


@pytest.mark.parametrize(
    ("right", "flipped", "outcome"),
    [
        (RIGHT, FLIPPED, PairOutcome.HELD),
        (RIGHT, RIGHT, PairOutcome.LOST),
        ("}", FLIPPED, PairOutcome.GAINED),
    ],
    ids=["reads", "copies", "writes what does not compile"],
)
def test_a_method_is_completed_and_judged(right: str, flipped: str, outcome: PairOutcome) -> None:
    record = probed(Scripted(answering(right, flipped)), placebos=1)
    (pair,) = record.pairs
    assert pair.outcome == outcome
    assert pair.discriminating
    assert not pair.contested
    (placebo,) = record.placebos
    assert placebo.mutation == "blank-line"
    assert record.judged_by == "1 given test"


def test_a_model_is_stopped_where_the_method_ends() -> None:
    asked: list[Prompt] = []

    class Kept(Scripted):
        def complete(self, prompts: Any, **options: Any) -> Any:
            asked.extend(prompts)
            return super().complete(prompts, **options)

    probed(Kept(answering(RIGHT, FLIPPED)), placebos=0)
    assert {prompt.stop.braces for prompt in asked} == {2}
    assert all("/** Whether" in prompt.text and prompt.suffix == "\n}\n" for prompt in asked)


def test_tests_that_do_not_see_the_method_judge_nothing() -> None:
    blind = "class Main { public static void main(String[] a) { new Parity(); } }"
    judge = given_judge(blind, "Parity.parity", PARITY, "java", best_sandbox(), LIMITS)
    target, probe = Target(Document(PARITY, language="java"), "parity", judge), PROBES["completion"]
    with pytest.raises(SourceError, match="pass even without its body"):
        probe.run(Context(Scripted(lambda _: RIGHT), best_sandbox), target, make(probe.options, {}))


def test_a_method_with_a_bug_is_repaired() -> None:
    bug = PARITY.replace('"odd"', '"even"')

    def answer(prompt: str) -> str:
        condition, rest = ("!=", FLIPPED) if "rest != 0" in prompt else ("==", RIGHT)
        return f"        int rest = n % 2;\n        if (rest {condition} 0) {{\n{rest}"

    (pair,) = probed(Scripted(answer), "repair", bug).pairs
    assert pair.outcome == PairOutcome.HELD
    assert "// parity has a bug." in pair.original.prompt
