"""What is measured of a model once, noted for copies of it with another header: they compute the same."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from counterlens.models.base import Prompt
from counterlens.models.files import _memory, _notes, identity, note
from counterlens.models.llama import exactness, rounding
from counterlens.models.llama.model import LlamaModel


def note_measurements(copy: Path, original: Path) -> None:
    """Note for a copy what was measured of the original, so that it is not measured again.

    Args:
        copy: A model file with the weights and the settings of the original.
    """
    for memory, circumstances, measured in _measurements(original):
        note(memory, identity(copy) + circumstances, measured)


@cache
def _measurements(model_file: Path) -> list[tuple[str, str, str]]:
    """What is known of a model: the memory, the rest of its key, and the value."""
    with LlamaModel(model_file, spec="original") as model:
        model.complete([Prompt("x = ", 1)])
    known = identity(model_file)
    return [
        (memory, key.removeprefix(known), str(measured))
        for memory in (exactness._MEMORY, rounding._MEMORY)
        for key, measured in _notes(_memory(memory)).items()
        if key.startswith(known)
    ]
