"""A model that prefers what it has read already: it answers at once, and the same each time."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from counterlens.models.base import Capability, Completion, Model, ModelInfo, TokenScores
from counterlens.models.registry import Backend


class ToyModel(Model):
    """Completes with `return None`; a token's probability is its share of those read so far."""

    info = ModelInfo("toy", "Toy", "toy-1", "local", frozenset({Capability.COMPLETE, Capability.SCORE}))

    def complete(self, prompts, *, cancel=None, progress=None):
        """Continue each prompt with the same line."""
        last = [
            re.match(r"\s*", (prompt.text.rstrip("\n").splitlines() or [""])[-1])[0] for prompt in prompts
        ]
        return [Completion(f"{indent}return None\n", "stop", 3) for indent in last]

    def score(self, text, *, context="", alternatives=5, cancel=None, progress=None):
        """Score words and signs by how often they were read before."""
        seen = Counter(re.findall(r"\w+|\W", context))
        tokens = [match.span() for match in re.finditer(r"\w+|\W", text)]
        logprob = []
        for start, end in tokens:
            logprob.append(np.log((1 + seen[text[start:end]]) / (1000 + seen.total())))
            seen[text[start:end]] += 1
        at = np.array([len(text[:place].encode()) for span in tokens for place in span]).reshape(-1, 2)
        n = len(tokens)
        none = ((),) * n
        return TokenScores(text, at[:, 0], at[:, 1], np.array(logprob), np.ones(n), np.zeros(n, int),
                           np.zeros((n, 0)), none, np.arange(n))  # fmt: skip


BACKEND = Backend(
    "toy", "a toy that answers at once", lambda spec: spec == "toy", lambda spec, options: ToyModel()
)
