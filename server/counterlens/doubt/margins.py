"""The margin of each kind: the gain in likelihood that makes an alternative a mark.

    python benchmarks/doubt.py --data DATA --fit

prints them. They were fitted for precision, with the model below; another one's probabilities are less or
more spread out, so its marks may be more or fewer. A kind whose margin is infinite is silent: the model's
preference shows too little there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

FITTED_FOR = "SmolLM2-135M-Instruct Q4_1"
"""The model whose preferences they were fitted on."""

SILENT = math.inf

MARGINS: Mapping[str, float] = MappingProxyType({"order": 6.3, "attribute": 14.0})
"""Nats, by the id of the kind; a kind that is not named is silent."""
