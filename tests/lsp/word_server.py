"""The language server with a model that answers immediately, and margins for it; run as a module.

With `--writes` the model also writes functions from their docstrings, always the same.
"""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from counterlens.doubt import marking
from counterlens.lsp import doubt_tests, fitting
from counterlens.lsp.server import create_server
from counterlens.models.base import Capability, Completion, ModelInfo, Prompt, TokenScores
from counterlens.probes.reading import marking as reading_marking
from counterlens.probes.reading.readings import Consensus, Majority
from tests.doubt.conftest import WordModel
from tests.doubt.test_marking import LIKES

MARGINS = {"comparison": 3.0}
FITTED_ON = 3
LONG = 30.0


class Reader(WordModel):
    """Reads code that is marked `# slowly` until it is interrupted."""

    def score(self, text: str, **given: Any) -> TokenScores:
        """The log-probability of each word."""
        if "# slowly" in text and (cancel := given.get("cancel")) is not None:
            cancel.wait(LONG)
        return super().score(text, **given)


class Writer(Reader):
    """Writes the same body whatever it is asked."""

    @property
    def info(self) -> ModelInfo:
        """It can also be sampled."""
        return replace(super().info, capabilities=frozenset(Capability) - {Capability.MASKED})

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        """The same for each; a docstring may say for which file to wait."""
        for path in re.findall(r"Wait for (\S+)\.", "".join(prompt.text for prompt in prompts)):
            until = time.monotonic() + LONG
            while not Path(path).exists() and time.monotonic() < until:
                time.sleep(0.1)
        return [Completion("    return -(-n // 2)\n", "stop", 9) for _ in prompts]


def main() -> None:
    """Serve over standard input and output."""
    marking.doubts.__kwdefaults__ = {**(marking.doubts.__kwdefaults__ or {}), "margins": MARGINS}
    doubt_tests.BUSY = math.inf  # whatever else the machine does
    fitting.FUNCTIONS = FITTED_ON
    server = create_server()
    writes = "--writes" in sys.argv
    if writes:
        reading_marking.FITTED = {"words": Consensus(Majority(4, 1.0))}
    server.host.open = lambda _spec, _options: Writer(LIKES) if writes else Reader(LIKES)
    server.start_io()


if __name__ == "__main__":
    main()
