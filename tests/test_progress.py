"""Steps: each is reported, and none begins once the work is cancelled."""

from __future__ import annotations

from threading import Event

import pytest

from counterlens.errors import Cancelled
from counterlens.progress import Steps


def test_steps_are_reported_until_they_are_cancelled() -> None:
    cancel, seen = Event(), list[tuple[str, int, int]]()
    steps = Steps(cancel, lambda *step: seen.append(step))
    steps.next("first")
    steps.next("second", 1, 4)
    cancel.set()
    with pytest.raises(Cancelled):
        steps.next("third", 2, 4)
    steps.report("second", 3, 4)
    assert seen == [("first", 0, 1), ("second", 1, 4), ("second", 3, 4)]


def test_nobody_has_to_listen() -> None:
    Steps().next("anything")
