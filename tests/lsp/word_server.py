"""The language server with a model that answers immediately, and margins for it; run as a module."""

from __future__ import annotations

import math

from counterlens.doubt import marking
from counterlens.lsp import doubt_tests, fitting
from counterlens.lsp.server import create_server
from tests.doubt.conftest import WordModel
from tests.doubt.test_marking import LIKES

MARGINS = {"comparison": 3.0}
FITTED_ON = 3


def main() -> None:
    """Serve over standard input and output."""
    marking.doubts.__kwdefaults__ = {**(marking.doubts.__kwdefaults__ or {}), "margins": MARGINS}
    doubt_tests.BUSY = math.inf  # whatever else the machine does
    fitting.FUNCTIONS = FITTED_ON
    server = create_server()
    server.host.open = lambda _spec, _options: WordModel(LIKES)
    server.start_io()


if __name__ == "__main__":
    main()
