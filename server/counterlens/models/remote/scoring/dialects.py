"""The methods of getting token probabilities, best first.

To add one: a file with a class like `ScoringDialect`, and a line here. The test of an endpoint (probing.py)
determines whether it works there.
"""

from __future__ import annotations

from typing import Final

from counterlens.models.remote.scoring.dialect import ScoringDialect
from counterlens.models.remote.scoring.echo import Echo
from counterlens.models.remote.scoring.generation_only import GenerationOnly
from counterlens.models.remote.scoring.llama_server import LlamaServer
from counterlens.models.remote.scoring.prompt_logprobs import PromptLogprobs
from counterlens.models.remote.scoring.sglang import SGLang
from counterlens.models.remote.scoring.tgi import TextGenerationInference

GENERATION_ONLY: Final = GenerationOnly()
SCORING_DIALECTS: Final[tuple[ScoringDialect, ...]] = (
    PromptLogprobs(),
    SGLang(),
    Echo(),
    LlamaServer(),
    TextGenerationInference(),
)


def dialect_named(name: str) -> ScoringDialect | None:
    """The dialect with a name, if there is one."""
    return next((each for each in (*SCORING_DIALECTS, GENERATION_ONLY) if each.name == name), None)
