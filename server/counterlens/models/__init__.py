r"""Models: local llama.cpp in a child process, and remote OpenAI-compatible endpoints.

from counterlens.models import load

with load("smollm2-135m") as model:
    scores = model.score("def f(x):\n    return x\n")
"""

from counterlens.models.base import Capability, Completion, Model, ModelInfo, Prompt, Stop, TokenScores
from counterlens.models.registry import load

__all__ = [
    "Capability",
    "Completion",
    "Model",
    "ModelInfo",
    "Prompt",
    "Stop",
    "TokenScores",
    "load",
]
