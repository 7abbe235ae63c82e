"""The code models offered by name, with their estimated speed on this machine."""

from __future__ import annotations

import re
import time
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from threading import Event

import msgspec

from counterlens.models.base import Model, Prompt
from counterlens.models.files import EMBEDDED_BYTES, known, note

_FILE = "code_models.toml"
_MEMORY, _KEY = "model-speeds.json", "embedded"
_MEASURED = Prompt("def fizz(n):\n    for i in range(n):\n        print(", 48)


@dataclass(frozen=True, slots=True)
class CodeModel:
    """One offered model.

    Attributes:
        id: Name on the command line.
        name: Display name.
        repository: Repository on the hub.
        file: The GGUF file in it.
        licence: Its licence.
        parameters: Approximate number of parameters.
        bytes: Size of the file, in bytes; approximate without `sha256`.
        also_known: Names in other programs, in lower case.
        commercial: Whether the licence allows commercial use.
        sha256: SHA-256 of the official file; empty if it is not known.
        packages: Lines of a requirements file: packages of the Python registry with the parts of the file.
        part_bytes: Size of each part but the last.
    """

    id: str
    name: str
    repository: str
    file: str
    licence: str
    parameters: int
    bytes: int
    also_known: tuple[str, ...] = ()
    commercial: bool = True
    sha256: str = ""
    packages: tuple[str, ...] = ()
    part_bytes: int = 0

    @property
    def quantization(self) -> str:
        """How the weights are stored, such as `Q4_K_M`, from the name of the file."""
        return re.split(r"[.-]", self.file)[-2].upper()

    def speed(self, embedded: float) -> float:
        """Estimated tokens per second: each token reads the whole file once.

        Args:
            embedded: Tokens per second of the embedded model.
        """
        return embedded * EMBEDDED_BYTES / self.bytes


@cache
def code_models() -> tuple[CodeModel, ...]:
    """The offered models, smallest first."""
    listed = tomllib.loads((files(__package__) / _FILE).read_text(encoding="utf-8"))["model"]
    return tuple(sorted(msgspec.convert(listed, list[CodeModel]), key=lambda offered: offered.bytes))


def code_model(name: str) -> CodeModel | None:
    """The offered model with this id; None if there is none."""
    return next((offered for offered in code_models() if offered.id == name), None)


def noted_speed() -> float | None:
    """Measured speed of the embedded model on this machine, in tokens per second; None if not measured."""
    speed = known(_MEMORY, _KEY)
    return float(speed) if isinstance(speed, str) else None


def measured_speed(embedded: Model, cancel: Event | None = None) -> float:
    """Measure the speed of the embedded model, in tokens per second; takes about one second.

    Args:
        embedded: The model, without a response cache.
        cancel: Set to cancel.

    Raises:
        Cancelled: `cancel` was set.
    """
    embedded.complete([Prompt(_MEASURED.text, 1)], cancel=cancel)  # a warm-up
    started = time.perf_counter()
    (answer,) = embedded.complete([_MEASURED], cancel=cancel)
    speed = max(1, answer.tokens) / max(time.perf_counter() - started, 1e-6)
    note(_MEMORY, _KEY, f"{speed:.2f}")
    return speed
