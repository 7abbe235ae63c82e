"""The language server with a model that answers immediately, and margins for it; run as a module."""

from __future__ import annotations

import math
from typing import Any

from counterlens.doubt import marking
from counterlens.lsp import doubt_tests, fitting
from counterlens.lsp.server import create_server
from counterlens.models.base import TokenScores
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


def main() -> None:
    """Serve over standard input and output."""
    marking.doubts.__kwdefaults__ = {**(marking.doubts.__kwdefaults__ or {}), "margins": MARGINS}
    doubt_tests.BUSY = math.inf  # whatever else the machine does
    fitting.FUNCTIONS = FITTED_ON
    server = create_server()
    server.host.open = lambda _spec, _options: Reader(LIKES)
    server.start_io()


if __name__ == "__main__":
    main()
