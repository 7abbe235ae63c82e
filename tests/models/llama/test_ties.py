"""Near ties of greedy completions, and the ways that leave them there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import llama_cpp
import pytest

from counterlens.models.base import Api, Prompt, Stop
from counterlens.models.llama import rounding
from counterlens.models.llama.completing import LlamaCompleter
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.llama.sequences import SequenceBatch
from counterlens.models.local.encoded_prompt import Constraint
from tests.conftest import short_model

PROMPT = Prompt("def largest(numbers):\n    best = numbers[0]\n    for number in", 12, Stop(indent=0))


@pytest.fixture(scope="module")
def completer() -> LlamaCompleter:
    engine = Engine(short_model(endless=True), threads=1, context=1024)
    parts = PromptEncoder(engine, Api.COMPLETIONS), engine, Constraint(engine.pieces)
    return LlamaCompleter(*parts, rounding=1e9)


def complete(completer: LlamaCompleter, *prompts: Prompt) -> list[tuple[str, tuple[int, ...]]]:
    return [(one.text, one.ties) for one in completer.complete(prompts, lambda *_: None)]


def test_ties_are_the_gaps_below_the_rounding_the_closest_first(completer: LlamaCompleter) -> None:
    ((text, every),) = complete(completer, PROMPT)
    assert sorted(every) == list(range(len(every)))
    assert complete(replace(completer, rounding=0.0), PROMPT) == [(text, ())]
    fewer = [complete(replace(completer, rounding=nats), PROMPT)[0][1] for nats in (0.25, 1.0, 4.0)]
    assert all(ties == every[: len(ties)] for ties in fewer)
    assert len(fewer[0]) < len(fewer[2]) < len(every)


def test_a_detour_takes_the_second_token_there_and_goes_on_greedily(completer: LlamaCompleter) -> None:
    ((greedy, _),) = complete(completer, PROMPT)
    alone = [complete(completer, replace(PROMPT, detours=(at,)))[0] for at in (0, 2, 5)]
    assert all(text != greedy for text, _ in alone)
    together = complete(completer, *(replace(PROMPT, detours=(at,)) for at in (5, 0, 2)), PROMPT)
    assert together == [alone[2], alone[0], alone[1], together[3]]
    assert together[3][0] == greedy
    assert complete(completer, replace(PROMPT, detours=(200,)))[0][0] == greedy


def test_the_rounding_is_measured_once_and_a_damaged_note_is_measured_anew(
    completer: LlamaCompleter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = rounding.rounding_of(completer.engine, "this")
    assert 0.01 < found < 2
    monkeypatch.setattr(rounding, "shifts", lambda *_: [0.5])
    assert rounding.rounding_of(completer.engine, "this") == found
    (path,) = tmp_path.rglob("rounding.json")
    path.write_text(path.read_text().replace(f"{found:.3g}", "much"))
    assert rounding.rounding_of(completer.engine, "this") == 0.5


def test_every_context_of_a_batch_decodes_with_the_threads_that_were_chosen(
    completer: LlamaCompleter,
) -> None:
    batch, used = SequenceBatch(completer.engine), list[int]()
    with batch.threads(3):
        for needs in ([100], [100, 300]):  # another shape opens another context
            batch.start(needs)
            used.append(llama_cpp.llama_n_threads(batch._context))
    used.append(llama_cpp.llama_n_threads(batch._context))
    batch.close()
    assert used == [3, 3, 1]
