"""A placeholder for a model that is not open yet."""

from __future__ import annotations

from threading import Event
from typing import cast

from counterlens.models.base import Capability, Model


class _Unopened:
    """A stand-in for a model in a plan, with every capability."""

    def offers(self, _capability: Capability, *, cancel: Event | None = None) -> bool:
        return not (cancel and cancel.is_set())


UNOPENED = cast("Model", _Unopened())
"""The placeholder for `Probe.estimate`."""
