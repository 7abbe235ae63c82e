"""What a reader who waits hears before a probe ends, and that hearing it changes no answer."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from counterlens.errors import Cancelled
from counterlens.models.base import Capability, Completion, Prompt
from counterlens.probes.options import make
from counterlens.probes.pairs.completion import CompletionProbe
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.wording import meaning, not_asked
from counterlens.probes.probe import Context, Target
from counterlens.progress import EndOfTime, Steps, TimeBudget
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.probes.pairs.test_completion import PARITY, RIGHT, Scripted

MUTATIONS = ["if-else-flip", "operand-swap", "refactor-condition", "rename-generic"]


class Counted(Scripted):
    """Right before a change and not after it; counts the prompts of each request."""

    def __init__(self, *more: Capability) -> None:
        super().__init__(lambda _: RIGHT[True])
        self.info = replace(self.info, capabilities=self.info.capabilities | set(more))
        self.requests: list[int] = []

    def complete(self, prompts: Sequence[Prompt], **options: Any) -> list[Completion]:
        self.requests.append(len(prompts))
        return super().complete(prompts, **options)


def probed(
    model: Counted, facts: list[str] | None, text: str = PARITY, budget: TimeBudget | None = None
) -> PairsRecord:
    completion = CompletionProbe()
    heard = None if facts is None else facts.append
    context = Context(model, best_sandbox, Steps(facts=heard, budget=budget))
    options = make(completion.options, {"mutations": MUTATIONS})
    return completion.run(context, Target(Document(text, Path("parity.py")), "parity"), options)


@pytest.mark.parametrize("capability", [Capability.EXACT, Capability.BATCH])
def test_facts_come_before_the_end_and_change_no_answer(capability: Capability) -> None:
    heard, silent = Counted(capability), Counted(capability)
    facts: list[str] = []
    record = probed(heard, facts)
    assert record == probed(silent, None)
    assert sorted(heard.asked) == sorted(silent.asked)
    assert re.fullmatch(r"\d+ places to rewrite, by \d+ mutations", facts[0])
    assert facts[1] == "judged by 2 doctests"
    assert facts[2].startswith(f"{len(record.pairs)} pairs at ")
    exact = capability is Capability.EXACT
    first = sum(heard.requests) if exact else heard.requests[0]  # others are asked again, in the end
    assert f"{first} prompts" in facts[2]
    findings = facts[3:]
    assert len(findings) == len(record.pairs)
    assert findings[0].startswith("line 9, if-else-flip: right before the change, wrong after it")
    if exact:
        assert (len(heard.requests) > 1, len(silent.requests)) == (True, 1)
    else:  # what a request is composed of may matter to such a model
        assert (heard.requests, heard.asked) == (silent.requests, silent.asked)


class Ending(Counted):
    """The time is over after some requests."""

    def __init__(self, requests: int, *more: Capability) -> None:
        super().__init__(*more)
        self.budget, self._most = Limited(60), requests
        Limited.over.clear()

    def complete(self, prompts: Sequence[Prompt], **options: Any) -> list[Completion]:
        answers = super().complete(prompts, **options)
        if len(self.requests) >= self._most:
            Limited.over.set()
        return answers


class Limited(TimeBudget):
    """A time that is over when a test says so, whatever the machine does."""

    over = Event()

    @property
    def left(self) -> float:
        return 0.0 if self.over.is_set() else 1e9


@pytest.mark.parametrize("capability", [Capability.EXACT, Capability.BATCH])
def test_a_probe_ends_with_what_its_time_allowed_the_most_telling_first(capability: Capability) -> None:
    whole, model = probed(Counted(capability), None), Ending(1, capability)
    record = probed(model, None, budget=model.budget)
    assert 1 <= len(record.pairs) < len(whole.pairs)
    # Whether a verdict is stable is not asked any more.
    every = [(pair.mutation, pair.start_line, pair.outcome, pair.original.completion) for pair in whole.pairs]
    for pair in record.pairs:
        assert (pair.mutation, pair.start_line, pair.outcome, pair.original.completion) in every
    assert record.pairs[0].discriminating is True  # a copy fails in it
    assert not record.placebos
    unasked = [
        site for site in record.refused if site.reason == "there was no time to ask about it within 60 s"
    ]
    assert len(record.pairs) + len(unasked) == len(whole.pairs)
    allowed = f"{len(record.pairs)} of {len(whole.pairs)} pairs"
    assert meaning(replace(record, function="parity")).endswith(
        f"The 60 s of its budget allowed {allowed}, the most telling first."
    )
    assert {reason for _, reason, _ in not_asked(record)} >= {unasked[0].reason}


class Endless(Ending):
    """Its second request ends when it is cancelled, as that of a model on a busy machine."""

    def complete(self, prompts: Sequence[Prompt], **options: Any) -> list[Completion]:
        if self.requests:
            Limited.over.set()
            assert options["cancel"].is_set()
            raise Cancelled
        return super().complete(prompts, **options)


def test_a_request_in_progress_ends_with_the_time() -> None:
    model = Endless(9, Capability.EXACT)
    record = probed(model, None, budget=model.budget)
    assert len(record.pairs) == 1


def test_the_end_of_the_time_is_also_that_of_cancelled_work() -> None:
    cancel = Event()
    cancel.set()
    assert EndOfTime(cancel, TimeBudget(1e9)).is_set()
    assert not EndOfTime(Event(), TimeBudget(1e9)).is_set()
    assert EndOfTime(None, TimeBudget(1, time.monotonic() - 2)).is_set()


def test_a_budget_that_suffices_changes_nothing() -> None:
    whole = probed(Counted(Capability.EXACT), None)
    assert probed(Counted(Capability.EXACT), None, budget=TimeBudget(1e6)) == whole
    assert "budget" not in meaning(replace(whole, function="parity"))


def test_without_any_time_one_pair_is_asked_all_the_same() -> None:
    whole, model = probed(Counted(Capability.EXACT), None), Counted(Capability.EXACT)
    record = probed(model, None, budget=TimeBudget(1, time.monotonic() - 2))
    assert (len(record.pairs), model.requests) == (1, [2])
    late = [site.reason for site in record.refused if site.reason.startswith("there was no time")]
    assert len(late) == len(whole.pairs) - 1
