"""What is known of llama.cpp's server: a short model cannot count, so a test of the endpoint would fail."""

from __future__ import annotations

from pathlib import Path

from counterlens.models.remote.scoring.scorer import Ability, Memory


class Remembered(Memory):
    """Every endpoint was tested before, and is made to generate a text."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "abilities.json")

    def recall(self, identity: str) -> Ability:  # noqa: ARG002
        """Like `Memory.recall`."""
        return Ability("llama_server")
