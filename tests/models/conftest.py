"""The engines' tests use the whole embedded model."""

from __future__ import annotations

import pytest

from counterlens.models.llama.model import LlamaModel


@pytest.fixture(scope="session")
def model(embedded: LlamaModel) -> LlamaModel:
    """The embedded model, in place of a short one."""
    return embedded
