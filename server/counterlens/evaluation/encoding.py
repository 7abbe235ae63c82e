"""The model whose embeddings are used for sentence similarity in a run, if one is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from counterlens.evaluation.run_consent import require_consent
from counterlens.evaluation.settings import RunSettings
from counterlens.models.cache import AnswerStore
from counterlens.models.opening import open_cached
from counterlens.models.registry import Options, load
from counterlens.models.sentences import ModelSentences


@contextmanager
def opened_encoder(
    settings: RunSettings, answers: AnswerStore | None = None
) -> Iterator[ModelSentences | None]:
    """The encoder of a run; None if the built-in one is used.

    It runs on the machine of the process that was started, whatever the engine: it reads single sentences.

    Args:
        settings: Settings of the run.
        answers: The cache of its vectors; None for no cache.

    Raises:
        ModelError: the encoder cannot be opened, or returns no embeddings.
        ForeignRunError: the run came from somebody else, and the user did not choose where texts would go.
    """
    if settings.encoder is None:
        yield None
        return
    require_consent(settings, [settings.encoder])
    options = Options(
        threads=settings.threads,
        gpu_layers=settings.gpu_layers,
        base_url=settings.base_url,
        entries=settings.entries,
    )
    with (
        load(settings.encoder, options)
        if answers is None
        else open_cached(settings.encoder, options, store=answers)
    ) as model:
        yield ModelSentences(model)
