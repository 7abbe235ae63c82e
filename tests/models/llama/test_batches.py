"""Requests of one call decode together: completions as if alone, scores up to rounding."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import Capability, Prompt, Stop
from counterlens.models.llama.model import LlamaModel
from tests.conftest import short_model

HEAD = '''def mean(values):
    """The arithmetic mean of some numbers.

    >>> mean([1, 2, 3])
    2.0
    """
'''
NAMES = ["total", "sum_of_all", "s", "acc", "result"]
PROMPTS = [Prompt(f"{HEAD}    {name} = 0\n    for v in values:\n", 24, Stop(indent=0)) for name in NAMES]
CONTINUATIONS = [" == 0", " != 0", " < 0", " > 0 or value is None", ""]
CONTEXT = "def sign(value):\n    if value"


def test_a_batch_gives_the_same_whatever_ran_before(model: LlamaModel) -> None:
    with LlamaModel(short_model(endless=True), spec="fresh") as fresh:
        expected = fresh.complete(PROMPTS)
    model.complete(PROMPTS[:2])
    model.score(HEAD)
    assert model.complete(PROMPTS) == expected
    model.complete([Prompt("x = 1\n" * 80, 4)])
    assert model.complete(PROMPTS) == expected


def test_answers_come_in_the_order_of_the_prompts_and_belong_to_them(embedded: LlamaModel) -> None:
    for prompt, answer in zip(PROMPTS, embedded.complete(PROMPTS), strict=True):
        name = prompt.text.rsplit(" = 0", 1)[0].rsplit(" ", 1)[1]
        assert name in answer.text


def test_equal_prompts_are_answered_once_and_alike(model: LlamaModel) -> None:
    done: list[tuple[int, int]] = []
    answers = model.complete([PROMPTS[0], PROMPTS[1], PROMPTS[0]], progress=lambda *step: done.append(step))
    assert answers[0] == answers[2]
    assert done == [(1, 2), (2, 2)]


def test_each_prompt_has_its_own_limit_and_stop(embedded: LlamaModel) -> None:
    text = "numbers = [1, 2, 3,"
    short, long, stopped = embedded.complete(
        [Prompt(text, 3), Prompt(text, 9), Prompt(text, 9, Stop(texts=("5",)))]
    )
    assert (short.tokens, long.tokens, short.finish) == (3, 9, "length")
    assert long.text.startswith(short.text)
    assert stopped.finish == "stop"
    assert "5" not in stopped.text


def test_more_than_fits_into_memory_is_split_and_still_answered() -> None:
    with LlamaModel(short_model(endless=True), spec="small", context=512) as small:
        prompts = [Prompt("x = 1\n" * 60 + f"y{i} =", 2) for i in range(12)]
        answers = small.complete(prompts)
    assert len(answers) == 12
    assert all(answer.tokens == 2 for answer in answers)


def test_a_batch_ends_soon_after_it_is_cancelled_and_the_next_is_right(model: LlamaModel) -> None:
    expected = model.complete(PROMPTS)
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    with pytest.raises(Cancelled):
        model.complete([Prompt(f"numbers = [{i}, 2, 3,", 1000) for i in range(6)], cancel=cancel)
    assert model.complete(PROMPTS) == expected


def test_an_impossible_prompt_is_refused_before_anything_is_decoded(model: LlamaModel) -> None:
    with pytest.raises(ModelError, match="empty prompt"):
        model.complete([PROMPTS[0], Prompt("", 8)])
    assert model.complete([]) == []


def test_continuations_are_scored_as_they_are_alone_but_for_rounding(model: LlamaModel) -> None:
    assert Capability.BATCH in model.info.capabilities
    found = model.score_continuations(CONTEXT, CONTINUATIONS, alternatives=3)
    for text, scores in zip(CONTINUATIONS, found, strict=True):
        alone = model.score(text, context=CONTEXT, alternatives=3)
        assert scores.text == text
        np.testing.assert_array_equal(scores.end, alone.end)
        np.testing.assert_array_equal(scores.context, alone.context)
        np.testing.assert_allclose(scores.logprob, alone.logprob, atol=0.6)
        np.testing.assert_allclose(scores.entropy, alone.entropy, atol=0.6)
        assert scores.alternative_logprob.shape == (len(alone), 3)
    assert len(found[-1]) == 0


def test_equal_continuations_score_alike_and_the_same_whatever_ran_before(model: LlamaModel) -> None:
    first = model.score_continuations(CONTEXT, [*CONTINUATIONS, CONTINUATIONS[0]])
    model.complete(PROMPTS[:3])
    again = model.score_continuations(CONTEXT, [*CONTINUATIONS, CONTINUATIONS[0]])
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.logprob, other.logprob)
    np.testing.assert_allclose(first[0].logprob, first[-1].logprob, atol=1e-6)


def test_long_continuations_and_a_long_context(model: LlamaModel) -> None:
    body = "".join(f"    x{i} = {i} + value\n" for i in range(16))
    texts = ["\n" + body, "\n" + body.replace("+", "-"), " "]
    found = model.score_continuations(CONTEXT * 5, texts)
    for text, scores in zip(texts, found, strict=True):
        alone = model.score(text, context=CONTEXT * 5)
        np.testing.assert_array_equal(scores.end, alone.end)
        assert np.abs(scores.logprob - alone.logprob).mean() < 0.15
        assert not np.isnan(scores.logprob).any()


def test_without_a_context_the_first_token_is_unscored(model: LlamaModel) -> None:
    one, other = model.score_continuations("", ["x = 1", "y = 2"])
    assert np.isnan(one.logprob[0])
    assert np.isnan(other.logprob[0])
    assert not np.isnan(one.logprob[1:]).any()


def test_a_context_that_is_too_long_loses_its_oldest_tokens_a_continuation_is_refused() -> None:
    with LlamaModel(short_model(endless=True), spec="small", context=256) as small:
        one, other = small.score_continuations("x = 1\n" * 200, ["y = 2\n", "z = 3\nz = 4\n"])
        assert int(other.context[-1]) == 255
        assert int(one.context[0]) == int(other.context[0])
        with pytest.raises(ModelError, match="does not fit"):
            small.score_continuations("x", ["y = 2\n" * 200, "z"])


def test_what_is_held_of_a_context_for_the_next_call_changes_no_score(model: LlamaModel) -> None:
    context = "".join(f"x{i} = {i}\n" for i in range(16))
    texts = ["y = x1 + x2\nz = y\n", "y = x1 + x3\nz = y\n", "y = x1 + x3\nz = x\n"]
    with LlamaModel(short_model(endless=True), spec="fresh") as fresh:
        expected = fresh.score_continuations(context, texts)
    for before in (context[:200], context + "y = 0\nz =", "a = 1\n" + context):
        model.score_continuations(before, [" 1", " 2\n" * 9])
        for one, other in zip(model.score_continuations(context, texts), expected, strict=True):
            np.testing.assert_array_equal(one.logprob, other.logprob)
    model.complete(PROMPTS[:1])
    for one, other in zip(model.score_continuations(context, texts), expected, strict=True):
        np.testing.assert_array_equal(one.logprob, other.logprob)


def test_a_beginning_that_needs_no_scores_is_only_read(model: LlamaModel) -> None:
    texts = [
        text + word for text in ("def f(x): # even?", "def f(x): # even? prime?") for word in (" yes", " no")
    ]
    read = [len(text.rpartition(" ")[0]) for text in texts]
    whole = model.score_continuations("x = 1\n", texts, alternatives=2)
    tails = model.score_continuations("x = 1\n", texts, unscored=read, alternatives=2)
    for tail, scores, start in zip(tails, whole, read, strict=True):
        asked = scores.end > start
        assert tail.end.tolist() == scores.end.tolist()
        assert np.isnan(tail.logprob[~asked]).all()
        np.testing.assert_allclose(tail.logprob[asked], scores.logprob[asked], atol=0.1)
        assert len(tail.alternative_logprob) == len(scores.alternative_logprob)
    assert len(model.score_continuations("", ["x = 1"], unscored=[5])[0]) == len(model.score("x = 1"))
