"""The completion probe: what it asks, what it counts, and what it refuses to count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.judging.base import Evidence, Judge, Judgement, Verdict
from counterlens.metrics.summary import summarize
from counterlens.models.base import Capability, Completion, Model, ModelInfo, Prompt
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.options import ProbeOptions, make
from counterlens.probes.pairs.completion import CompletionProbe
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.wording import meaning
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import read, write_record
from counterlens.probes.runner import identify, run_probe
from counterlens.progress import Steps
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

PARITY = '''def parity(n):
    """Say whether n is even or odd.

    >>> parity(4)
    'even'
    >>> parity(7)
    'odd'
    """
    if n % 2 == 0:
        return "even"
    else:
        return "odd"
'''
RIGHT = {True: '        return "even"\n    else:\n        return "odd"\n'}
RIGHT[False] = RIGHT[True].replace("even", "?").replace("odd", "even").replace("?", "odd")
WRONG = "        return None\n"
ENDLESS = "        import time\n        while True:\n            time.sleep(1)\n"


class Scripted(Model):
    """A model whose answers are a function of the prompt: for the counting, not for the asking."""

    info = ModelInfo("scripted", "scripted", "0", "local", frozenset({Capability.COMPLETE}))

    def __init__(self, answer: Callable[[str], str]) -> None:
        self._answer = answer
        self.asked: list[str] = []

    def complete(self, prompts: Sequence[Prompt], **_options: Any) -> list[Completion]:
        self.asked += [prompt.text for prompt in prompts]
        return [Completion(self._answer(prompt.text), "stop", 1) for prompt in prompts]


def probe(
    model: Model,
    text: str = PARITY,
    *,
    judge: Judge | None = None,
    cancel: Event | None = None,
    unjudged: bool = True,
    **options: Any,
) -> PairsRecord:
    """Probe parity; what is read back from its JSON is the same record."""
    completion, given = CompletionProbe(), {"mutations": ["if-else-flip"], **options}
    context = Context(model, best_sandbox, Steps(cancel), unjudged=unjudged)
    target = Target(Document(text, Path("parity.py")), "parity", judge)
    record = completion.run(context, target, make(completion.options, given))
    record = identify(record, completion, model.info, target, ProbeOptions())
    assert read(write_record(record), PairsRecord) == record
    return record


def unflipped(prompt: str) -> bool:
    return prompt.endswith("if n % 2 == 0:\n")


@pytest.mark.parametrize(
    ("answer", "verdicts", "effect", "said"),
    [
        (lambda p: RIGHT[unflipped(p)], ("passed", "passed"), 0, "only recognises"),
        (lambda _: RIGHT[True], ("passed", "failed"), 1, "as if nothing had changed"),
        (lambda p: RIGHT[True] if unflipped(p) else WRONG, ("passed", "failed"), 1, "no longer completed"),
        (
            lambda p: WRONG if unflipped(p) else RIGHT[False],
            ("failed", "passed"),
            1,
            "failed on the original parity",
        ),
        (lambda _: WRONG, ("failed", "failed"), None, "no version of parity"),
        (lambda _: "        return (\n", ("invalid", "invalid"), None, "no version of parity"),
        (lambda _: ENDLESS, ("timed_out", "timed_out"), None, "no version of parity"),
    ],
    ids=["holds", "copies", "breaks", "reverse", "neither", "invalid", "endless"],
)
def test_verdicts_effects_and_words(
    answer: Callable[[str], str], verdicts: tuple[str, str], effect: int | None, said: str
) -> None:
    found = probe(Scripted(answer), **({"timeout": 1.5} if "timed_out" in verdicts else {}))
    (pair,) = found.pairs
    assert (pair.original.verdict, pair.counterfactual.verdict) == verdicts
    assert pair.effect is not None
    assert (pair.effect.mutation_effect if pair.effect.informative else None) == effect
    assert summarize(found.observations).average.n == (effect is not None)
    assert said in meaning(found)


def test_both_sides_are_cut_at_the_same_place_and_each_prompt_is_asked_once() -> None:
    model = Scripted(lambda p: RIGHT[unflipped(p)])
    probe(model, mutations=["if-else-flip", "operand-swap", "refactor-condition"])
    assert len(model.asked) == len(set(model.asked))
    flipped = [prompt for prompt in model.asked if prompt.endswith("!= 0:\n")]
    assert flipped == [PARITY.split("        return")[0].replace("==", "!=")]


def test_without_tests_a_function_is_judged_by_what_it_does() -> None:
    found = probe(Scripted(lambda p: RIGHT[unflipped(p)]), PARITY.replace(">>>", "for example"))
    assert found.judged_by is not None
    assert "differential execution, 2 of 2 branches" in found.judged_by
    assert all(pair.effect is not None for pair in found.pairs)
    assert {pair.original.verdict for pair in found.pairs} == {Judgement.PASSED}


def test_where_nothing_can_judge_nothing_is_counted() -> None:
    bare = "import not_installed_anywhere\n\n\n" + PARITY.replace(">>>", "for example")
    found = probe(Scripted(lambda p: RIGHT[unflipped(p)]), bare)
    assert found.judged_by is None
    assert {pair.original.verdict for pair in found.pairs} == {Judgement.REFUSED}
    assert all(pair.effect is None for pair in found.pairs)
    assert "cannot be imported: install what it imports into the environment" in meaning(found)
    assert found.note == "the likelihood effect is unknown: this model returns no token probabilities"
    with pytest.raises(SourceError, match="nothing can judge parity"):
        probe(Scripted(str), bare, unjudged=False)


def test_a_mutation_that_breaks_the_meaning_or_does_not_exist_is_refused() -> None:
    with pytest.raises(CounterlensError, match="breaks the meaning"):
        probe(Scripted(str), mutations=["negate-condition"])
    with pytest.raises(CounterlensError, match="there is no mutation"):
        probe(Scripted(str), mutations=["flip"])


def test_a_function_that_is_wrong_already_is_refused() -> None:
    with pytest.raises(SourceError, match="fails its own tests"):
        probe(Scripted(str), PARITY.replace("n % 2 == 0", "n % 2 == 1"))


def test_tests_that_take_too_long_are_named_as_such() -> None:
    class Slow(Judge):
        attribution, tests = "doctest", 1

        def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
            assert program == PARITY
            assert cancel is None
            return Verdict(Judgement.TIMED_OUT, Evidence("doctest", 1))

    with pytest.raises(SourceError, match=r"longer than 10 s .*--timeout"):
        probe(Scripted(str), judge=Slow())


def test_it_can_be_cancelled() -> None:
    cancel = Event()
    cancel.set()
    with pytest.raises(Cancelled):
        probe(Scripted(str), cancel=cancel)


def test_crlf_functions_are_completed_and_judged_like_others() -> None:
    found = probe(Scripted(lambda p: RIGHT[unflipped(p)]), PARITY.replace("\n", "\r\n"))
    average = summarize(found.observations).average
    assert average.count == 0
    assert average.n == 1


def test_the_identity_has_no_effect_on_the_real_model(embedded: LlamaModel) -> None:
    found = [probe(embedded, max_tokens=24, placebos=1) for _ in range(2)]
    completions = [(p.original.completion, p.counterfactual.completion) for f in found for p in f.pairs]
    assert completions[0] == completions[1]
    (pair,) = found[0].pairs
    assert pair.original.verdict == "passed"
    assert write_record(found[0]) == write_record(found[1])


def test_a_record_holds_the_counterfactual_and_where_the_prompt_ended() -> None:
    text = PARITY.replace("even", "evän")
    found = probe(Scripted(lambda _: RIGHT[True]), text, mutations=["if-else-flip", "operand-swap"])
    flip, swap = found.pairs
    assert "if n % 2 != 0:" in flip.source(text)
    assert flip.source(text).count("evän") == text.count("evän")
    assert "if 0 == n % 2:" in swap.source(text)
    assert (flip.original.prompt_end, flip.counterfactual.prompt_end) == (
        "    if n % 2 == 0:",
        "    if n % 2 != 0:",
    )
    assert flip.original.completion == RIGHT[True]


def test_the_runner_says_which_probe_model_and_function_a_record_is_of() -> None:
    target = Target(Document(PARITY.replace("== 0", "== 1")), "parity", id="some/parity")
    completion = CompletionProbe()
    record = run_probe(completion, Context(Scripted(str), best_sandbox), target, make(completion.options, {}))
    assert (record.probe, record.model, record.target) == ("completion", "scripted", "some/parity")
    assert not record.probed
    assert record.reason.startswith("parity fails its own tests")
    assert read(write_record(record), PairsRecord) == record
