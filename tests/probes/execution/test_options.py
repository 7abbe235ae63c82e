"""The options of the execution probes change what is done."""

from __future__ import annotations

from typing import Any, cast

import pytest

from counterlens.errors import OptionError, SourceError
from counterlens.models.base import Model
from counterlens.probes.execution.coherence import CoherenceProbe
from counterlens.probes.options import make, plain_options
from counterlens.probes.probe import Context
from counterlens.probes.registry import PROBES
from counterlens.probes.subjects import targets_in
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.probes.execution.asking import Scripted, probed

SOURCE = '''\
def double(x):
    """Give twice a number.

    >>> double(4)
    8
    """
    y = x + x
    return y
'''
SLOW = SOURCE.replace("    y =", "    import time\n    time.sleep(1.5)\n    y =")
PROBES_HERE = ("execution", "dependent-execution", "specification", "coherence")


def answer(text: str) -> str:
    return "    return x + x\n" if text.endswith('"""\n') else " 8"


def allowed(probe: str, **options: Any) -> list[int]:
    """How much the model may say, prompt by prompt."""
    model = Scripted(answer)
    (target,) = targets_in(Document(SOURCE))
    chosen = PROBES[probe]
    chosen.run(Context(cast(Model, model), best_sandbox), target, make(chosen.options, options))
    return [prompt.max_tokens for prompt in model.asked]


@pytest.mark.parametrize(
    ("probe", "tokens"),
    [
        ("execution", {128, 384}),
        ("dependent-execution", {128, 384}),
        ("specification", {384}),
        ("coherence", {128}),
    ],
)
def test_the_most_tokens_of_an_answer(probe: str, tokens: set[int]) -> None:
    assert set(allowed(probe)) == tokens
    assert set(allowed(probe, max_tokens=700)) == {700}
    assert len(allowed(probe)) <= PROBES[probe].estimate(
        targets_in(Document(SOURCE))[0], make(PROBES[probe].options, {}), cast(Model, None)
    )


@pytest.mark.parametrize("probe", PROBES_HERE)
def test_the_time_limit_of_a_call(probe: str) -> None:
    (target,) = targets_in(Document(SLOW))
    chosen = PROBES[probe]
    context = Context(cast(Model, Scripted(answer)), best_sandbox)
    with pytest.raises(SourceError, match=r"does not end in time|take longer"):
        chosen.run(context, target, make(chosen.options, {"timeout": 0.7}))


@pytest.mark.parametrize("probe", PROBES_HERE)
def test_what_a_probe_does_not_take_is_refused(probe: str) -> None:
    declared = plain_options(make(PROBES[probe].options, {}))
    more = {"unroll"} if probe == "execution" else set()
    more |= {"protocol"} if probe != "coherence" else set()
    assert set(declared) == {"seed", "timeout", "max_tokens"} | more
    with pytest.raises(OptionError, match="no option"):
        make(PROBES[probe].options, {"windows": True})


def test_a_method_is_left_out_and_asks_for_nothing() -> None:
    source = "class A:\n" + "\n".join(f"    {line}" for line in SOURCE.splitlines()) + "\n"
    run = probed("coherence", answer, source)
    assert run.left_out == {"it is a method or an inner function, which no call by itself reaches": 1}
    with pytest.raises(SourceError, match="no call by itself"):
        CoherenceProbe().estimate(
            targets_in(Document(source))[0], make(CoherenceProbe.options, {}), cast(Model, None)
        )
