"""Closed questions: the probability of each candidate after each of many questions, in shared calls."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from os.path import commonprefix
from threading import Event

from counterlens.models.base import Capability, Model, Progress, Prompt

_TOGETHER = 128
"""Scored texts per request, of models that only score."""


def candidate_logprobs(
    model: Model,
    prompts: Sequence[Prompt],
    *,
    cancel: Event | None = None,
    progress: Progress | None = None,
) -> list[tuple[float, ...]]:
    """The log-probability of each candidate of each question, in nats.

    A model with `Capability.CHOOSE` answers all of them like other prompts: they share its calls, also with
    those of other functions, and a question gets the same bits alone. Of other models, the texts of question
    and candidate are scored, which is exact only up to rounding; they need `Capability.SCORE`.

    Args:
        prompts: Closed questions, best ordered so that those with a common beginning are adjacent.
        progress: Called with (finished steps, all steps).

    Raises:
        ModelError: the model cannot answer, or returns no token probabilities.
        Cancelled: `cancel` was set.
    """
    if model.offers(Capability.CHOOSE, cancel=cancel):
        answers = model.complete(prompts, cancel=cancel, progress=progress)
        return [answer.candidates for answer in answers]
    texts = [(prompt.text, candidate) for prompt in prompts for candidate in prompt.candidates]
    shared = commonprefix([text for text, _ in texts]).rpartition("\n")[0]  # noqa: RUF071 - of texts
    logprobs: list[float] = []
    for low, high in pairwise([*range(0, len(texts), _TOGETHER), len(texts)]):
        asked = [(text[len(shared) :], candidate) for text, candidate in texts[low:high]]
        read = [len(text.encode()) for text, _ in asked]
        whole = [text + candidate for text, candidate in asked]
        scores = model.score_continuations(shared, whole, unscored=read, alternatives=0, cancel=cancel)
        logprobs += [
            float(each.logprob[each.end > before].sum()) for each, before in zip(scores, read, strict=True)
        ]
        if progress:
            progress(high, len(texts))
    left = iter(logprobs)
    return [tuple(next(left) for _ in prompt.candidates) for prompt in prompts]
