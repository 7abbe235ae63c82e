"""Open a model behind its response cache."""

from __future__ import annotations

from collections.abc import Callable

from counterlens.models import registry
from counterlens.models.base import Model
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.default import default_model
from counterlens.models.registry import Options


def open_cached(
    spec: str | None = None,
    options: Options | None = None,
    *,
    store: AnswerStore | None = None,
    load: Callable[[str, Options], Model] = registry.load,
) -> CachedModel:
    """Open a model with a response cache; close it, or use it in a `with`.

    Args:
        spec: See `load`.
        options: See `load`.
        store: The response cache, which stays open; None for the user's own, closed with the model.

    Raises:
        ModelError: there is no such model, or it cannot be opened; the message gives the reason.
    """
    model = load(spec or default_model().spec, options or Options())
    return CachedModel(model, AnswerStore() if store is None else store, owns_store=store is None)
