"""Completions that are drawn: as likely as the model says, a function of prompt, seed and number alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterlens.errors import ModelError
from counterlens.models.base import Draw, Prompt, Reply, Stop
from counterlens.models.llama.model import LlamaModel
from counterlens.models.local.completing import TokenDrawing

PROMPT = Prompt("def area(width, height):\n    return", 12, Stop(indent=0))


def draws(prompt: Prompt, count: int, temperature: float = 1.0, seed: int = 0) -> list[Prompt]:
    return [replace(prompt, draw=Draw(temperature, seed, i)) for i in range(count)]


def test_a_draw_depends_on_nothing_that_is_asked_beside_it(model: LlamaModel) -> None:
    every = draws(PROMPT, 6)
    alone = [model.complete([one])[0] for one in every]
    assert model.complete([*every[3:], replace(PROMPT), *every[:3]])[:3] == alone[3:]
    assert len({answer.text for answer in alone}) > 1
    other = model.complete(draws(PROMPT, 6, seed=1))
    assert [answer.text for answer in other] != [answer.text for answer in alone]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_tokens_are_drawn_as_often_as_the_softmax_says(temperature: float) -> None:
    logits = np.array([1.0, 3.0, -2.0, 2.5, 0.0], np.float32)
    weights = np.exp(logits.astype(np.float64) / temperature)
    drawing = TokenDrawing(Draw(temperature, 7, 0), "text")
    counted = np.bincount([drawing(logits) for _ in range(20_000)], minlength=5)
    assert counted / 20_000 == pytest.approx(weights / weights.sum(), abs=0.015)


def test_at_a_low_temperature_the_likeliest_is_drawn(model: LlamaModel) -> None:
    (greedy,) = model.complete([PROMPT])
    assert {answer.text for answer in model.complete(draws(PROMPT, 4, temperature=0.01))} == {greedy.text}


def test_an_answer_in_a_given_form_is_not_drawn(model: LlamaModel) -> None:
    prompt = Prompt("Yes or no? Answer:", 4, reply=Reply("", 'root ::= "yes" | "no"'))
    with pytest.raises(ModelError, match="sampled"):
        model.complete(draws(prompt, 1))
