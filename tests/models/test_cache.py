"""Answers that were given before."""

from __future__ import annotations

import threading
from pathlib import Path

from counterlens.models.base import Prompt, Stop
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.llama.model import LlamaModel


def test_completions_are_kept_by_prompt_limit_and_stop(model: LlamaModel, tmp_path: Path) -> None:
    cached = CachedModel(model, AnswerStore(tmp_path / "a.sqlite"))
    prompts = [Prompt("x = ", 4), Prompt("x = ", 5), Prompt("x = ", 4, Stop(texts=("\n",)))]
    first = cached.complete(prompts)
    assert [answer.tokens for answer in first][:2] == [4, 5]
    assert cached.complete(list(reversed(prompts))) == list(reversed(first))
    mixed = cached.complete([prompts[0], Prompt("y = ", 4)])
    assert mixed[0] == first[0]


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
