"""The numerical noise of a score: smaller differences are not shown.

The same tokens of the same unit, decoded in the same groups, get bit-identical scores. Other groups (another
model server, another chunk size) round differently, as `benchmarks/noise.py` measures (docs/confidence.md).
"""

from __future__ import annotations

TOKEN_NATS = 0.22
"""Log-probability of a token: 95 of 100 differ by less. Embedded model, 128 tokens together against one."""


def distinguishable(logprob: float, two: float, noise: float = TOKEN_NATS) -> bool:
    """Whether two log-probabilities differ by more than the noise.

    Args:
        logprob: A log-probability, in nats.
        two: A log-probability, in nats.
        noise: The noise, in nats.
    """
    return abs(logprob - two) > noise
