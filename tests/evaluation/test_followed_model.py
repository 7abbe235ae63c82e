"""Prompts are followed as they are answered."""

from __future__ import annotations

from threading import Event

from counterlens.evaluation.followed_model import FollowedModel
from counterlens.models.base import Prompt
from counterlens.models.callback import CallbackModel


def test_each_prompt_of_a_call_is_reported_when_it_is_answered() -> None:
    noted: list[int] = []
    asked: list[tuple[int, int]] = []

    def ask(_request: object, _cancel: Event) -> str:
        asked.append((len(asked), sum(noted)))
        return "    return 1\n"

    shown: list[tuple[int, int]] = []
    model = FollowedModel(CallbackModel("m", "m", "nowhere", ask), lambda count, _: noted.append(count))
    prompts = [Prompt(f"def f{number}():\n", 8) for number in range(3)]
    assert len(model.complete(prompts, progress=lambda done, total: shown.append((done, total)))) == 3
    assert asked == [(0, 0), (1, 1), (2, 2)]  # the earlier ones were known by then
    assert noted == [1, 1, 1]
    assert shown == [(1, 3), (2, 3), (3, 3)]
