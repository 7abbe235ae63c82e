"""The placeholder of a model that is not open yet."""

from __future__ import annotations

from threading import Event
from typing import cast

from counterlens.models.base import Capability, Model


class _Unopened:
    """All that a plan wants to know of a model is what it offers: everything."""

    def offers(self, _capability: Capability, *, cancel: Event | None = None) -> bool:
        return not (cancel and cancel.is_set())


UNOPENED = cast("Model", _Unopened())
"""For `Probe.estimate`."""
