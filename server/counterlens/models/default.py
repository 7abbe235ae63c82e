"""The default model: the user's choice, else the recommended code model, else the embedded one."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass

from counterlens.atomic_file import replace_file
from counterlens.errors import ModelError
from counterlens.models.code_models import CodeModel, code_model, code_model_here
from counterlens.models.entries import user_file, user_model
from counterlens.models.files import EMBEDDED_MODEL

RECOMMENDED = "qwen2.5-coder-0.5b"
"""The code model that is asked by default, where it is on the machine."""

VARIABLE = "COUNTERLENS_MODEL"

_LINE = re.compile(r"(?m)^model[ \t]*=.*\n?")
_TABLE = re.compile(r"(?m)^[ \t]*\[")


@dataclass(frozen=True, slots=True)
class DefaultModel:
    """The model of questions that name none.

    Attributes:
        spec: The model, as `counterlens.models.load` names it.
        chosen: Whether the user chose it.
    """

    spec: str
    chosen: bool

    @property
    def advice(self) -> str:
        """What the user should know about it; empty if there is nothing."""
        if self.chosen or self.spec != EMBEDDED_MODEL:
            return ""
        return (
            f"asking the embedded model, SmolLM2-135M, which is weak at code; for a code model: "
            f"counterlens models fetch {RECOMMENDED} ({recommended_model().bytes / 1e9:.1f} GB)"
        )


EMBEDDED_BY_DEFAULT = DefaultModel(EMBEDDED_MODEL, chosen=False)


def default_model() -> DefaultModel:
    """The default model: COUNTERLENS_MODEL, else `counterlens models use`, else what is on this machine.

    Raises:
        OptionError: the user's settings file cannot be read.
    """
    chosen = os.environ.get(VARIABLE, "").strip() or user_model()
    if chosen:
        return DefaultModel(chosen, chosen=True)
    if code_model_here(recommended_model()) is None:
        return EMBEDDED_BY_DEFAULT
    return DefaultModel(RECOMMENDED, chosen=False)


def recommended_model() -> CodeModel:
    """The recommended code model."""
    model = code_model(RECOMMENDED)
    if model is None:
        raise LookupError(RECOMMENDED)
    return model


def use_by_default(spec: str) -> None:
    """Make a model the user's default, in their settings file.

    Args:
        spec: See `counterlens.models.load`.

    Raises:
        OptionError: the file cannot be read.
        ModelError: it cannot be written.
    """
    user_model()  # refuses a file with invalid content
    path = user_file()
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    table = _TABLE.search(text)
    end = table.start() if table else len(text)
    lines = f"{_LINE.sub('', text[:end]).rstrip()}\nmodel = {json.dumps(spec)}\n".lstrip()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, lines + (f"\n{text[end:]}" if table else ""))
    except OSError as error:
        raise ModelError(f"{path} cannot be written: {error.strerror or error}") from error
