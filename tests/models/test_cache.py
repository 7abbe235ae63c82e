"""Answers that were given before."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from counterlens.models.base import Capability, Completion, ModelInfo, Prompt, Reply, Stop, TokenScores
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.llama.model import LlamaModel
from counterlens.models.wrapped import WrappedModel


class Counting(WrappedModel):
    """Counts what the model behind it is asked in each call."""

    def __init__(self, model: LlamaModel) -> None:
        super().__init__(model)
        self.asked: list[int] = []

    def complete(self, prompts: Sequence[Prompt], **options: Any) -> list[Completion]:
        self.asked.append(len(prompts))
        return self.model.complete(prompts, **options)

    def score_continuations(self, context: str, texts: Sequence[str], **options: Any) -> list[TokenScores]:
        self.asked.append(len(texts))
        return self.model.score_continuations(context, texts, **options)


def test_completions_are_kept_by_prompt_limit_and_stop(model: LlamaModel, tmp_path: Path) -> None:
    cached = CachedModel(model, AnswerStore(tmp_path / "a.sqlite"))
    prompts = [Prompt("x = ", 4), Prompt("x = ", 5), Prompt("x = ", 4, Stop(texts=("\n",)))]
    first = cached.complete(prompts)
    assert [answer.tokens for answer in first][:2] == [4, 5]
    assert cached.complete(prompts) == first


def test_earlier_turns_belong_to_the_question(model: LlamaModel, tmp_path: Path) -> None:
    counting = Counting(model)
    cached = CachedModel(counting, AnswerStore(tmp_path / "a.sqlite"))
    for turns in ((), (("1 + 1?", "2"),), (("1 + 1?", "3"),), (("1 + 1?", "2"),)):
        cached.complete([Prompt("2 + 2?", 4, reply=Reply("Add.", "", turns=turns))])
    assert counting.asked == [1, 1, 1]
    for _ in range(2):
        cached.complete([Prompt("2 + 2?", 4, reply=Reply("Add.", "", begun="It is"))])
    assert counting.asked == [1, 1, 1, 1]


def test_an_answer_of_one_device_is_not_one_of_another(model: LlamaModel, tmp_path: Path) -> None:
    class Elsewhere(Counting):
        @property
        def info(self) -> ModelInfo:
            return replace(self.model.info, device="CUDA0 (a card), 3 of 9 layers")

    store, here, elsewhere = AnswerStore(tmp_path / "a.sqlite"), Counting(model), Elsewhere(model)
    for _ in range(2):
        for asked in (here, elsewhere):
            CachedModel(asked, store).complete([Prompt("x = ", 2)])
    assert (here.asked, elsewhere.asked) == ([1], [1])


class Inexact(Counting):
    """What decodes together rounds together."""

    @property
    def info(self) -> ModelInfo:
        info = self.model.info
        return replace(info, capabilities=info.capabilities - {Capability.EXACT}, decoding="")

    def offers(self, capability: Capability, **options: Any) -> bool:
        return capability is not Capability.EXACT and self.model.offers(capability, **options)


PROMPTS = [Prompt("x = ", 4), Prompt("y = ", 4), Prompt("z = ", 4)]


def test_an_exact_answer_is_one_of_its_prompt_and_never_asked_for_twice(
    model: LlamaModel, tmp_path: Path
) -> None:
    counting = Counting(model)
    cached = CachedModel(counting, AnswerStore(tmp_path / "a.sqlite"))
    first = cached.complete(PROMPTS[:2])
    assert cached.complete([PROMPTS[2], PROMPTS[1], PROMPTS[0]])[1:] == first[::-1]
    assert counting.asked == [2, 1]


def test_ties_are_kept_and_a_detour_is_another_request(model: LlamaModel, tmp_path: Path) -> None:
    counting = Counting(model)
    cached = CachedModel(counting, AnswerStore(tmp_path / "a.sqlite"))
    prompts = [Prompt("x = [1, 2,", 6), Prompt("x = [1, 2,", 6, detours=(1,))]
    first = cached.complete(prompts)
    assert cached.complete(prompts) == first == model.complete(prompts)
    assert counting.asked == [2]
    assert first[0].text != first[1].text


def test_an_answer_of_a_batch_that_is_not_exact_is_one_of_that_batch(
    model: LlamaModel, tmp_path: Path
) -> None:
    counting = Inexact(model)
    cached = CachedModel(counting, AnswerStore(tmp_path / "a.sqlite"))
    together = cached.complete(PROMPTS)
    assert cached.complete(PROMPTS) == together
    assert counting.asked == [3]
    cached.complete(PROMPTS[:2])
    assert counting.asked == [3, 2]


def test_answers_that_are_not_exact_are_not_taken_for_exact_ones(model: LlamaModel, tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "a.sqlite")
    CachedModel(Inexact(model), store).complete(PROMPTS[:1])
    counting = Counting(model)
    CachedModel(counting, store).complete(PROMPTS[:1])
    assert counting.asked == [1]


def test_continuations_are_kept_as_they_were_asked_for(model: LlamaModel, tmp_path: Path) -> None:
    counting = Counting(model)
    cached = CachedModel(counting, AnswerStore(tmp_path / "a.sqlite"))
    first = cached.score_continuations("if x", [" == 1", " != 1"])
    again = cached.score_continuations("if x", [" == 1", " != 1"])
    assert [scores.logprob.tolist() for scores in again] == [scores.logprob.tolist() for scores in first]
    assert [scores.alternative_text for scores in again] == [scores.alternative_text for scores in first]
    assert counting.asked == [2]
    cached.score_continuations("if x", [" == 1"])
    assert counting.asked == [2, 1]
    cached.score_continuations("if x", [" == 1"], unscored=[3])
    assert counting.asked == [2, 1, 1], "fewer scores are another answer"


def test_a_damaged_store_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    path.write_bytes(b"this is no database" * 100)
    store = AnswerStore(path)
    store.put(b"k", b"v")
    assert store.get(b"k") == b"v"


def test_a_store_that_cannot_be_written_holds_nothing(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    store = AnswerStore(blocked / "a.sqlite")
    store.put(b"k", b"v")
    assert store.get(b"k") is None


def test_the_oldest_answers_are_forgotten_first(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "a.sqlite", limit=60_000)
    for i in range(1024):
        store.put(str(i).encode(), bytes(100))
    assert store.get(b"0") is None
    assert store.get(b"1023") is not None


def test_many_threads_and_two_stores_share_a_file(tmp_path: Path) -> None:
    stores = [AnswerStore(tmp_path / "a.sqlite") for _ in range(2)]

    def work(n: int) -> None:
        for i in range(50):
            stores[n % 2].put(f"{n}-{i}".encode(), b"v")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(stores[0].get(f"{n}-{i}".encode()) == b"v" for n in range(4) for i in range(50))
