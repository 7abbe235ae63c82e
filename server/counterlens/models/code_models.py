"""The code models offered by name."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import msgspec

from counterlens.models.base import Api

_FILE = "code_models.toml"


@dataclass(frozen=True, slots=True)
class CodeModel:
    """One offered model.

    Attributes:
        id: Name on the command line.
        name: Display name.
        repository: Repository on the hub.
        file: The GGUF file in it.
        parameters: Approximate number of parameters.
        bytes: Size of the file, in bytes; approximate without `sha256`.
        also_known: Names in other programs, in lower case.
        commercial: Whether the licence allows commercial use.
        sha256: SHA-256 of the official file; empty if it is not known.
        packages: Lines of a requirements file: packages of the Python registry with the parts of the file.
        part_bytes: Size of each part but the last.
        api: The prompt format in which it completes code best, as measured by `benchmarks/prompt_formats.py`.
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
    api: Api = Api.COMPLETIONS

    @property
    def quantization(self) -> str:
        """How the weights are stored, such as `Q4_K_M`, from the name of the file."""
        return re.split(r"[.-]", self.file)[-2].upper()


@cache
def code_models() -> tuple[CodeModel, ...]:
    """The offered models, smallest first."""
    listed = tomllib.loads((files(__package__) / _FILE).read_text(encoding="utf-8"))["model"]
    return tuple(sorted(msgspec.convert(listed, list[CodeModel]), key=lambda offered: offered.bytes))


def code_model(name: str) -> CodeModel | None:
    """The offered model with this id; None if there is none."""
    return next((offered for offered in code_models() if offered.id == name), None)
