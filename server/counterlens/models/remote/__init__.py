"""Remote models: any OpenAI-compatible endpoint, through its completions or its chat API.

What is named here is imported when it is used: it needs an HTTP client, and commands that only ask whether an
endpoint is allowed do not.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterlens.models.remote.client import Retries, Timeouts
    from counterlens.models.remote.connecting import connect, connect_entry, models_at
    from counterlens.models.remote.model import RemoteModel

__all__ = ["RemoteModel", "Retries", "Timeouts", "connect", "connect_entry", "models_at"]

_PLACES = {
    "RemoteModel": "model",
    "Retries": "client",
    "Timeouts": "client",
    "connect": "connecting",
    "connect_entry": "connecting",
    "models_at": "connecting",
}
"""The module of each name."""


def __getattr__(name: str) -> Any:
    """Import what is named here."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
