"""A model behind its response cache: opened in one step, closed in one step."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from counterlens.models.base import Prompt
from counterlens.models.cache import AnswerStore
from counterlens.models.opening import open_cached
from counterlens.models.registry import Options
from tests.models.test_base import Echo


class Counted(Echo):
    """Counts its requests."""

    def __init__(self) -> None:
        self.asked, self.closed = 0, False

    def complete(self, prompts, **options):  # type: ignore[no-untyped-def]
        self.asked += len(prompts)
        return super().complete(prompts, **options)

    def close(self) -> None:
        self.closed = True


def test_a_shared_store_outlives_the_models(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "a.sqlite")
    models = [Counted(), Counted()]
    for model in models:
        with open_cached("any", store=store, load=lambda _spec, _options, model=model: model) as cached:
            assert cached.complete([Prompt("x")])[0].text == "x"
    assert [model.asked for model in models] == [1, 0]
    assert all(model.closed for model in models)
    store.put(b"k", b"v")
    assert store.get(b"k") == b"v"


def test_without_a_store_the_users_own_is_used_and_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda _name: str(tmp_path))
    given: list[tuple[str, Options]] = []
    first, second = Counted(), Counted()
    for model in (first, second):

        def load(spec: str, options: Options, model: Counted = model) -> Counted:
            given.append((spec, options))
            return model

        with open_cached("m", Options(threads=2), load=load) as cached:
            cached.complete([Prompt("x")])
        assert cached._store.get(b"k") is None  # closed: it holds nothing
    assert (first.asked, second.asked) == (1, 0)
    assert given == [("m", Options(threads=2))] * 2
    assert (tmp_path / "answers.sqlite").exists()
