"""The repair probe: a bug, in several shapes; the tests judge what is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from counterlens.errors import SourceError
from counterlens.judging.base import Evidence, Judge, Judgement, Verdict
from counterlens.models.base import Capability, Completion, Model, ModelInfo, Prompt
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.options import ProbeOptions, make
from counterlens.probes.pairs.completion import CompletionProbe
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.repair import RepairProbe
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.gap import Gap
from counterlens.probes.record import read, write_record
from counterlens.probes.runner import identify
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

BUGGY = '''import math


class Shapes:
    def kind(self, sides):
        """Name a shape.

        >>> Shapes().kind(3)
        'triangle'
        >>> Shapes().kind(4)
        'other'
        """
        if sides != 3:
            return "triangle"
        else:
            return "other"
'''
FIXED = '        if sides == 3:\n            return "triangle"\n        return "other"\n'
DOCUMENT = Document(BUGGY, Path("shapes.py"))


class Scripted(Model):
    """A model whose answers are a function of the prompt: for the counting, not for the asking."""

    info = ModelInfo("scripted", "scripted", "0", "local", frozenset({Capability.COMPLETE}))

    def __init__(self, answer: Callable[[str], str]) -> None:
        self._answer = answer

    def complete(self, prompts: Sequence[Prompt], **_options: Any) -> list[Completion]:
        return [Completion(self._answer(prompt.text), "stop", 1) for prompt in prompts]


def repaired(model: Model, text: str = BUGGY, *mutations: str) -> PairsRecord:
    repair = RepairProbe()
    target = Target(Document(text, Path("shapes.py")), "Shapes.kind")
    record = repair.run(Context(model, best_sandbox), target, make(repair.options, {"mutations": mutations}))
    record = identify(record, repair, model.info, target, ProbeOptions())
    assert read(write_record(record), PairsRecord) == record
    return record


def repair(answer: Callable[[str], str], text: str = BUGGY) -> PairsRecord:
    return repaired(cast(Model, Scripted(answer)), text, "if-else-flip")


def test_the_model_sees_the_bug_and_goes_on_after_the_header_of_the_mended_function() -> None:
    gap = Gap.repair(DOCUMENT, find_function(DOCUMENT, "Shapes.kind"))
    assert gap.shown.count("def kind(self, sides):") == 2
    assert gap.shown.count("sides != 3") == 1
    assert gap.shown.rstrip().endswith('"""')
    assert gap.removed.startswith("        if sides != 3")
    assert gap.fill(FIXED) == BUGGY[: BUGGY.index("        if sides")] + FIXED


def test_a_bug_that_is_mended_in_one_shape_only_is_an_effect() -> None:
    (pair,) = repair(lambda shown: FIXED if "sides != 3" in shown else "        return sides\n").pairs
    assert (pair.original.verdict, pair.counterfactual.verdict) == ("passed", "failed")
    assert pair.cut is None, "pairs of one function share the prompt for the original, which counts once"
    assert pair.effect is not None
    assert pair.effect.signed == -1
    (pair,) = repair(lambda _: FIXED).pairs
    assert pair.effect is not None
    assert pair.effect.mutation_effect == 0


@pytest.mark.parametrize(
    "imports", ["import math\n    ", "from math import pi\n    import re  # both\n    # so\n    "]
)
def test_the_text_behind_an_import_stays_in_the_prompt(imports: str) -> None:
    text = f'def area(r):\n    {imports}"""The area of a circle."""\n    return r\n'
    gap = Gap.repair(Document(text), find_function(Document(text), "area"))
    assert gap.shown.count("The area of a circle.") == 2
    assert gap.removed == "    return r"
    assert gap.before + gap.removed + gap.after == text


def test_an_import_without_a_text_behind_it_is_part_of_the_hole() -> None:
    text = "def area(r):\n    import math\n    return r\n"
    gap = Gap.repair(Document(text), find_function(Document(text), "area"))
    assert gap.removed == "    import math\n    return r"


def test_nothing_to_repair_and_nothing_to_judge_by_are_refused() -> None:
    with pytest.raises(SourceError, match="passes its own tests"):
        repair(lambda _: FIXED, BUGGY.replace("!=", "=="))
    with pytest.raises(SourceError, match="no tests"):
        repair(lambda _: FIXED, BUGGY.replace(">>>", "as in"))


def test_flaky_tests_block_the_figures(tmp_path: Path) -> None:
    source = '''def parity(n):
    """Say whether a number is even.

    >>> parity(2)
    'even'
    """
    if n % 2 == 0:
        return "even"
    else:
        return "odd"
'''
    path = tmp_path / "parity.py"
    path.write_text(source)
    seen = tmp_path / "seen"
    document = Document(source, path)

    class Flaky(Judge):
        """Judges like the real one, and the third time the same program otherwise."""

        attribution, tests = "tests", 1

        def judge(self, program: str, **_: Any) -> Any:
            count = len(seen.read_text()) if seen.exists() else 0
            right = "raise NotImplementedError" not in program
            if program == source:
                seen.write_text("x" * (count + 1))
                right = count == 0
            return Verdict(Judgement.PASSED if right else Judgement.FAILED, Evidence("tests", 1))

    completion = CompletionProbe()
    with pytest.raises(SourceError, match="flaky"):
        completion.run(
            Context(cast(Model, Scripted(lambda _: '        return "even"\n')), best_sandbox),
            Target(document, "parity", cast(Any, Flaky())),
            make(completion.options, {"mutations": ["if-else-flip"]}),
        )


def test_the_real_model_writes_a_body_that_is_judged(embedded: LlamaModel) -> None:
    found = repaired(embedded, BUGGY, "operand-swap", "if-else-flip")
    assert (
        RepairProbe()
        .summary([found])
        .startswith(
            (
                "The model fixed kind",
                "The model fixed no version of kind",
                "The model's success in fixing kind",
            )
        )
    )
    assert found.pairs
    for pair in found.pairs:
        assert pair.original.completion
        assert pair.effect is not None
