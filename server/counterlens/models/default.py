"""The default model: the user's choice, else the recommended code model, else the embedded one."""

from __future__ import annotations

import os
from dataclasses import dataclass

from counterlens.models.code_models import CodeModel, code_model, code_model_here
from counterlens.models.entries import user_file, user_model
from counterlens.models.files import EMBEDDED_MODEL

RECOMMENDED = "qwen2.5-coder-0.5b"
"""The code model that is asked by default, where it is on the machine."""

VARIABLE = "COUNTERLENS_MODEL"


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
        size = f"{recommended_model().bytes / 1e9:.1f} GB"
        return (
            f"no code model is here, so the default is the embedded model, SmolLM2-135M, which is weak at "
            f"code; fetch one with: counterlens models fetch {RECOMMENDED} ({size})"
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
        OptionError: the file cannot be read, or written.
    """
    user_model()  # refuses a file with invalid content
    path = user_file()
    from counterlens.models.settings_changes import with_model, write_settings

    write_settings(path, with_model(path, spec))
