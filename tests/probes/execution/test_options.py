"""The options of the execution probes change what is done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from counterlens.errors import OptionError, SourceError
from counterlens.models.base import Api, Completion, Model
from counterlens.probes.execution.prompts import STYLES, prompt
from counterlens.probes.options import make, plain_options
from counterlens.probes.probe import Context
from counterlens.probes.prompts.literals import AnswerOutcome
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import is_suited
from counterlens.probes.subjects import targets_in
from counterlens.python.prompts.values import literal
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
PROBES_HERE = ("execution", "dependent-execution", "specification")


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
    ],
)
def test_the_most_tokens_of_an_answer(probe: str, tokens: set[int]) -> None:
    usual = allowed(probe)
    assert set(usual) == tokens
    assert set(allowed(probe, max_tokens=700)) == {700}
    assert len(usual) <= PROBES[probe].estimate(
        targets_in(Document(SOURCE))[0], make(PROBES[probe].options, {}), cast(Model, Scripted(str))
    )


@pytest.mark.parametrize("probe", PROBES_HERE)
def test_the_time_limit_of_a_call(probe: str) -> None:
    (target,) = targets_in(Document(SLOW))
    chosen = PROBES[probe]
    context = Context(cast(Model, Scripted(answer)), best_sandbox)
    with pytest.raises(SourceError, match=r"times out|take longer"):
        chosen.run(context, target, make(chosen.options, {"timeout": 0.7}))


@pytest.mark.parametrize("probe", PROBES_HERE)
def test_what_a_probe_does_not_take_is_refused(probe: str) -> None:
    declared = plain_options(make(PROBES[probe].options, {}))
    more = {"unroll"} if probe == "execution" else set()
    more |= {"protocol"}
    more |= {"map_timeout", "excluded_tests"} if probe == "dependent-execution" else set()
    more |= {"from_language"} if probe in {"dependent-execution", "specification"} else set()
    assert set(declared) == {"seed", "ask_by", "timeout", "max_tokens"} | more
    with pytest.raises(OptionError, match="windows"):
        make(PROBES[probe].options, {"windows": True})


@pytest.mark.parametrize("probe", [*PROBES_HERE, "runtime"])
def test_a_method_is_refused_before_anything_is_asked(probe: str) -> None:
    """A sample then has functions that can be asked about, as far as there are any."""
    source = "class A:\n" + "\n".join(f"    {line}" for line in SOURCE.splitlines()) + "\n"
    (method,), (function,) = targets_in(Document(source)), targets_in(Document(SOURCE))
    options = make(PROBES[probe].options, {})
    assert [is_suited(PROBES[probe], target, options) for target in (method, function)] == [False, True]
    with pytest.raises(SourceError, match="nested function"):
        probed(probe, answer, source)
    with pytest.raises(SourceError, match="nested function"):
        PROBES[probe].estimate(method, options, cast(Model, None))


@pytest.mark.parametrize(
    ("api", "window", "given", "tokens"),
    [
        (Api.CHAT, None, None, 16_384),
        (Api.CHAT, 8192, None, 4096),  # the question has to fit, too
        (Api.CHAT, 8192, 100, 100),
        (Api.CHAT, None, 131_072, 131_072),
        (Api.COMPLETIONS, None, None, 384),
        (Api.COMPLETIONS, None, 20, 20),
    ],
)
def test_a_chat_model_may_reason(api: Api, window: int | None, given: int | None, tokens: int) -> None:
    info = replace(Scripted.info, api=api, context=window)
    assert prompt(info, "steps", "", "f(1)", given).max_tokens == tokens
    with pytest.raises(OptionError, match=r"131.?072"):
        make(PROBES["execution"].options, {"max_tokens": 131_073})


def test_the_protocol_sets_what_the_paper_does() -> None:
    options = make(PROBES["execution"].options, {"protocol": "codemind"})
    assert options.unroll is True
    with pytest.raises(OptionError, match="sets --unroll to True"):
        make(PROBES["execution"].options, {"protocol": "codemind", "unroll": False})
    assert set(allowed("execution", protocol="codemind")) == {512}
    assert set(allowed("execution", protocol="codemind", max_tokens=30)) == {30}
    run = probed("execution", answer, SOURCE.replace("    >>> double(4)\n    8\n", ""), protocol="codemind")
    assert run.left_out == {"no call of it with literal arguments was found": 1}
    run = probed("execution", answer, SOURCE, protocol="codemind")
    assert {record.protocol for record in run.records} == {"codemind"}
    assert all(table.title.endswith(" (protocol codemind)") for table in run.tables)


def test_under_the_protocol_an_answer_is_right_as_it_is_written() -> None:
    def outcome_of(said: str, truth: str, style: str = "direct") -> AnswerOutcome:
        found = literal(truth)
        assert found is not None
        return STYLES[style].read(Completion(said, "stop", 1), found.value, found.written).outcome

    assert outcome_of(' "a b"', "'a b'") is AnswerOutcome.RIGHT
    assert outcome_of(" a b", "'a b'") is AnswerOutcome.RIGHT  # without quotation marks, as the scripts allow
    assert outcome_of(" so\nAnswer: a b\n", "'a b'", "steps") is AnswerOutcome.RIGHT
    assert outcome_of(" [1,2]", "[1, 2]") is AnswerOutcome.RIGHT
    assert outcome_of(" 0.30000000001", "0.3") is AnswerOutcome.WRONG
    assert outcome_of(" 2.0", "2") is AnswerOutcome.OTHER_NUMBER
    assert outcome_of("", "''") is AnswerOutcome.UNPARSABLE
    assert outcome_of(" so it ends", "''", "steps") is AnswerOutcome.UNPARSABLE
