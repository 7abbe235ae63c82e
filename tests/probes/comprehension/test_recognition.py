"""Recognition: scores by hand, and no figure without error rates that allow one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from counterlens.models.base import Capability, Completion, Model, ModelInfo, Prompt, TokenScores
from counterlens.mutations import Concept
from counterlens.probes.options import make
from counterlens.probes.probe import Context
from counterlens.probes.recognition import record as rates
from counterlens.probes.recognition.probe import RecognitionProbe, min_k, seen_sentence
from counterlens.probes.recognition.record import (
    BEYOND,
    LIKELIHOOD,
    MARGIN,
    METHODS,
    MIN_K,
    RANK,
    VERBATIM,
    ModelRates,
    Rate,
    RecognitionRecord,
)
from counterlens.probes.record import read, write_record
from counterlens.probes.runner import ProbeRun, run_targets
from counterlens.probes.subjects import targets_in
from counterlens.syntax.document import Document

SOURCE = """\
def larger(first, second):
    total = first + second
    if first > second:
        total = total + first
    else:
        total = total + second
    return total * 2
"""


class Memory:
    """A model to which each word of a line that it knows is likelier than any other word."""

    def __init__(self, known: str, *, whole: bool = True) -> None:
        self.lines, self.text, self.whole = set(known.splitlines()), known, whole
        capabilities = frozenset({Capability.COMPLETE, Capability.SCORE})
        self.info = ModelInfo("memory", "memory", "memory", "local", capabilities)

    def offers(self, capability: Capability, **_: Any) -> bool:
        return capability in self.info.capabilities

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        """The rest of what it knows, from the last line of the prompt that it knows."""
        completions = []
        for prompt in prompts:
            last = next(line for line in reversed(prompt.text.splitlines()) if line in self.lines)
            completions.append(Completion(self.text.split(f"{last}\n", 1)[1], "stop", 1))
        return completions

    def score_continuations(self, _: str, texts: Sequence[str], **__: Any) -> list[TokenScores]:
        return [self._scores(text) for text in texts]

    def _scores(self, text: str) -> TokenScores:
        words = list(re.finditer(r"\S+\s*|\s+", text))
        n = len(words)
        ends = [text.find("\n", word.start()) for word in words]
        starts = [text.rfind("\n", 0, word.start()) + 1 for word in words]
        lines = [text[start : end if end >= 0 else None] for start, end in zip(starts, ends, strict=True)]
        logprob = np.array([-0.5 if line in self.lines else -2.0 for line in lines])
        return TokenScores(
            text=text,
            start=np.array([word.start() for word in words]),
            end=np.array([word.end() for word in words]),
            logprob=logprob,
            entropy=np.ones(n),
            rank=np.zeros(n, np.int64),
            alternative_logprob=np.empty((n, 0)),
            alternative_text=((),) * n,
            context=np.arange(n),
            deviation=np.full(n, 0.5) if self.whole else None,
        )


def probed(model: Memory) -> ProbeRun:
    probe = RecognitionProbe()
    run = run_targets(
        probe, Context(cast(Model, model)), targets_in(Document(SOURCE)), make(probe.options, {})
    )
    for record in run.records:
        assert read(write_record(record), RecognitionRecord) == record
    return run


def record_of(run: ProbeRun) -> RecognitionRecord:
    (record,) = run.probed
    assert isinstance(record, RecognitionRecord)
    return record


def rate(low: float | None, high: float | None, threshold: float = 0.1) -> Rate:
    return Rate(0.7, low, high, 40, 40, threshold, 0.3)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Any:
    def measure(**methods: Rate) -> None:
        known = ModelRates(
            "memory", "python", 0.5, {name.replace("_", " "): r for name, r in methods.items()}
        )
        monkeypatch.setattr(rates, "_rates", lambda: {"memory": known})

    return measure


def test_a_model_that_has_learned_the_text_prefers_it_to_every_neighbour() -> None:
    record = record_of(probed(Memory(SOURCE)))
    assert record.mean == -0.5
    assert {each.concept for each in record.neighbours} >= {Concept.CONTROL_FLOW, Concept.NAMING}
    assert all(each.mean < record.mean for each in record.neighbours)
    scores = record.scores
    assert scores[RANK] == 1
    structural = [e for e in record.neighbours if e.concept in {Concept.CONTROL_FLOW, Concept.DATA_FLOW}]
    assert scores[MARGIN] == pytest.approx(np.mean([-0.5 - each.total / each.tokens for each in structural]))
    assert scores[MIN_K] == pytest.approx((-0.5 + 1) / 0.5)
    assert scores[LIKELIHOOD] == -0.5
    assert scores[VERBATIM] == 1


def test_what_it_writes_of_the_counterfactual_is_beside_it() -> None:
    record = record_of(probed(Memory(SOURCE)))
    original, changed = record.verbatim
    assert (original.mutation, original.share) == ("", 1)
    assert changed.mutation
    assert record.scores[BEYOND] == pytest.approx(1 - changed.share)


def test_a_model_that_knows_nothing_prefers_nothing() -> None:
    record = record_of(probed(Memory("def larger(first, second):\n    other\n")))
    margins = record.margins(*Concept)
    assert max(map(abs, margins)) < 0.2  # only the header is known, whose share differs with the length


def test_only_whole_distributions_give_min_k() -> None:
    run = probed(Memory(SOURCE, whole=False))
    assert record_of(run).min_k is None
    assert "Min-K%++: the model gives no whole distributions" in run.left_out


def test_min_k_is_the_mean_of_the_lowest_fifth() -> None:
    scores = Memory(SOURCE)._scores("a b c d e f g h i j")
    logprob = np.arange(-10.0, 0.0)
    found = min_k(TokenScores(**{**{n: getattr(scores, n) for n in scores.__slots__}, "logprob": logprob}))
    assert found == pytest.approx(np.mean([(-10 + 1) / 0.5, (-9 + 1) / 0.5]))


def test_without_rates_there_is_no_figure_and_no_verdict() -> None:
    run = probed(Memory(SOURCE))
    assert run.tables == ()
    assert run.summary.startswith(
        "Whether the model has seen this code cannot be told for this model: how often"
    )


def test_an_interval_with_one_half_is_no_figure(measured: Any) -> None:
    measured(**{MARGIN: rate(0.49, 0.9), MIN_K: rate(None, None), RANK: rate(0.1, 0.4)})
    run = probed(Memory(SOURCE))
    (table,) = run.tables
    assert {row[-1] for row in table.rows} == {"cannot be told"}
    assert all(row[3] is None and row[4] is None for row in table.rows)
    assert "cannot be told for this model: in a trial with 40 functions" in run.summary
    assert "none of its scores was shown to be higher" in run.summary
    assert "chance" not in run.summary


def test_a_method_that_tells_gives_a_sentence_with_its_error_rates(measured: Any) -> None:
    measured(**{MARGIN: rate(0.6, 0.8), LIKELIHOOD: rate(0.4, 0.8)})
    run = probed(Memory(SOURCE))
    assert [table.title for table in run.tables] == [
        "how often the scores are right",
        "functions",
        "the original among its neighbours",
    ]
    functions = run.tables[1]
    assert functions.columns == ("function", MARGIN)
    assert "0.70 (95 % interval 0.60 to 0.80)" in run.summary
    assert run.summary.startswith("Its score suggests that the model has seen this code")
    low = record_of(probed(Memory("def larger(first, second):\n    other\n")))
    assert seen_sentence(low).startswith("Its score does not suggest")


def test_the_rates_of_the_product_can_be_read() -> None:
    for known in rates._rates().values():
        assert set(known.methods) <= set(METHODS)
