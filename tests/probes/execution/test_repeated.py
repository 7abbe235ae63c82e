"""The question that is asked again goes past every answer that is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from counterlens.errors import CounterlensError
from counterlens.models.base import Model
from counterlens.models.cache import AnswerStore, CachedModel, past_cache
from counterlens.probes.options import make
from counterlens.probes.probe import Context
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import State, attempt, run_targets
from counterlens.probes.subjects import targets_in
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.probes.execution.asking import Scripted

SOURCE = '''\
def double(x):
    """Give twice a number.

    >>> double(4)
    8
    """
    y = x + x
    return y
'''


def steady(text: str) -> str:
    return "    return x + x\n" if text.endswith('"""\n') else " 8"


def wavering() -> Callable[[str], str]:
    """Another answer each time."""
    said = 0

    def answer(_text: str) -> str:
        nonlocal said
        said += 1
        return f" {said}"

    return answer


def cached(answer: Callable[[str], str], store: AnswerStore) -> tuple[Context, Scripted]:
    scripted = Scripted(answer)
    return Context(CachedModel(cast(Model, scripted), store), best_sandbox), scripted


@pytest.mark.parametrize("probe", ["execution", "dependent-execution", "specification", "runtime", "output"])
def test_a_model_that_has_begun_to_waver_gets_no_figures_from_what_is_kept(
    probe: str, tmp_path: Path
) -> None:
    chosen, targets, store = PROBES[probe], targets_in(Document(SOURCE)), AnswerStore(tmp_path / "a.sqlite")
    options = make(chosen.options, {})
    first, asked = cached(steady, store)
    before = run_targets(chosen, first, targets, options)
    assert before.probed
    again, repeated = cached(steady, store)
    assert run_targets(chosen, again, targets, options).records == before.records
    assert 1 <= len(repeated.asked) < len(asked.asked)  # only what goes past the kept answers
    other, _ = cached(wavering(), store)
    with pytest.raises(CounterlensError, match="the same way twice"):
        run_targets(chosen, other, targets, options)
    failed = attempt(chosen, other, targets, options)
    assert (failed.state, failed.probed, failed.tables) == (State.FAILED, (), ())


def test_behind_several_stores_is_the_model_itself(tmp_path: Path) -> None:
    model = cast(Model, Scripted(steady))
    store = AnswerStore(tmp_path / "a.sqlite")
    assert past_cache(CachedModel(CachedModel(model, store), store)) is model
    assert past_cache(model) is model
