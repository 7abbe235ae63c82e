"""Closed questions: each candidate has its probability, the same in any company."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterlens.errors import ModelError
from counterlens.models.base import Capability, Completion, Prompt, Reply
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.closed import candidate_logprobs
from counterlens.models.llama.model import LlamaModel
from counterlens.models.wrapped import WrappedModel
from tests.conftest import short_model

PROGRAM = "def mean(values):\n    total = sum(values)\n    return total / len(values)\n\n"
WORDS = (" yes", " no")
LINES = ("total = sum(values)", "return total / len(values)", "return total", "def mean(values):")
QUESTIONS = [
    Prompt(f"{PROGRAM}Does line {line} run for mean([1])? Answer yes or no:", candidates=WORDS)
    for line in range(1, 4)
] + [
    Prompt(f"{PROGRAM}Which line is wrong?\n", candidates=LINES),
    Prompt(f"{PROGRAM}Which line is first?\n", candidates=tuple(reversed(LINES))),
    Prompt(f"{PROGRAM}mean([{'1, ' * 60}1]) ==", candidates=(" 1", " 1.0", " 61", " None")),
]


@pytest.fixture(scope="module")
def alone(model: LlamaModel) -> list[tuple[float, ...]]:
    """The answers to questions that were asked one at a time."""
    return [answer for prompt in QUESTIONS for answer in candidate_logprobs(model, [prompt])]


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, len(QUESTIONS) - 1), min_size=2, max_size=12))
def test_a_question_has_the_same_bits_beside_others_as_alone(
    model: LlamaModel, alone: list[tuple[float, ...]], chosen: list[int]
) -> None:
    beside = [Prompt(f"x{n} = ", 5) for n in range(len(chosen))]  # completions share the calls, too
    answers = model.complete([*(QUESTIONS[n] for n in chosen), *beside])
    assert [answer.candidates for answer in answers[: len(chosen)]] == [alone[n] for n in chosen]
    assert all(answer.candidates == () for answer in answers[len(chosen) :])


class Scoring(WrappedModel):
    """A model that scores, and does not choose."""

    def offers(self, capability: Capability, **options: Any) -> bool:
        return capability is not Capability.CHOOSE and super().offers(capability, **options)

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        raise AssertionError(f"{len(prompts)} prompts were sent")


def test_scores_of_whole_texts_say_the_same_up_to_rounding(
    model: LlamaModel, alone: list[tuple[float, ...]]
) -> None:
    scored = candidate_logprobs(Scoring(model), QUESTIONS)
    for exact, other in zip(alone, scored, strict=True):
        np.testing.assert_allclose(exact, other, atol=0.3)


def test_a_question_in_a_chat_is_answered_after_the_beginning_of_the_answer(model: LlamaModel) -> None:
    assert Capability.INSTRUCT in model.info.capabilities
    by_template = Reply("Answer with a number.", "", turns=(("2 + 2", "4"),), by_template=True)
    asked = Prompt("3 + 4", reply=by_template, candidates=("7", "7\n", "8\n", "71\n"))
    unmarked = replace(asked, reply=replace(by_template, by_template=False))
    plain = replace(asked, reply=None)
    with LlamaModel(short_model(endless=True), spec="chat", api="chat") as chat:
        same, usual, other = (
            candidate_logprobs(*of)[0] for of in ((model, [asked]), (chat, [unmarked]), (model, [plain]))
        )
    assert same == usual != other
    assert model.complete([asked])[0].text == max(zip(same, asked.candidates, strict=True))[1]


def test_a_line_break_stands_for_the_end_of_an_answer_in_a_chat(embedded: LlamaModel) -> None:
    shots = (("Say 5", "5"), ("Say 3", "3"))
    reply = Reply("Answer with a number.", "", turns=shots, by_template=True)
    asked = Prompt("Say 7", reply=reply, candidates=("7", "7\n"))
    ((begun, ended),) = candidate_logprobs(embedded, [asked])
    assert begun > ended > begun - 1  # it stops there; a line break in its text would be unlikely


def test_one_token_has_the_probability_with_which_it_is_generated(model: LlamaModel) -> None:
    text = f"{PROGRAM}Is it right? The answer is"
    (generated,) = model.complete([Prompt(text, 1, reply=Reply("", ""), logprobs=True)])
    (answer,) = model.complete([Prompt(text, candidates=(generated.text, " zebra"))])
    assert answer.text == generated.text
    assert (answer.finish, answer.tokens) == ("stop", 0)
    assert generated.logprobs is not None
    assert answer.candidates[0] == generated.logprobs[0][1] > answer.candidates[1]


def test_all_continuations_together_are_not_likelier_than_certain(model: LlamaModel) -> None:
    letters = tuple(chr(code) for code in range(33, 127))
    (answer,) = candidate_logprobs(model, [Prompt(PROGRAM, candidates=letters)])
    assert np.exp(answer).sum() <= 1 + 1e-6


def test_answers_are_cached_by_their_candidates(model: LlamaModel, tmp_path: Path) -> None:
    cached = CachedModel(model, AnswerStore(tmp_path / "answers.sqlite"))
    first = cached.complete(QUESTIONS)
    assert cached.recalling().complete(QUESTIONS) == first
    other = Prompt(QUESTIONS[0].text, candidates=(" no", " yes"))
    assert cached.complete([other])[0].candidates == tuple(reversed(first[0].candidates))


def test_an_empty_candidate_is_refused(model: LlamaModel) -> None:
    with pytest.raises(ModelError, match="candidate of a closed question is empty"):
        model.complete([Prompt("Is it?", candidates=(" yes", ""))])
