"""The embedded model, loaded once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from counterlens.models import load
from counterlens.models.llama.model import LlamaModel


@pytest.fixture(scope="session")
def model() -> Iterator[LlamaModel]:
    with load("smollm2-135m") as loaded:
        assert isinstance(loaded, LlamaModel)
        yield loaded
