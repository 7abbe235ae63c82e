"""Engines for the models and programs of a run: the common interface.

An engine determines where work is done and never its result: the items of a plan are processed by the same
code, with the engine's models and in the engine's sandbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from counterlens.errors import ModelError
from counterlens.evaluation.run_consent import require_consent
from counterlens.evaluation.settings import RunSettings
from counterlens.models.base import Model
from counterlens.models.registry import Options, load
from counterlens.probes.registry import PROBES
from counterlens.sandbox.base import Sandbox


class EvaluationEngine(Protocol):
    """Models and a sandbox, here or elsewhere. A context that releases its resources at the end."""

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox for programs."""
        ...

    @property
    def programs(self) -> int:
        """Number of programs that run at a time; more wait."""
        ...

    def open(self, spec: str, settings: RunSettings) -> Model:
        """Open a model of a run; the caller closes it.

        Raises:
            ModelError: it cannot be opened, or lacks a capability that a task needs.
        """
        ...

    def why_apart(self, specs: Sequence[str], settings: RunSettings) -> str:
        """Why models of a run cannot be open at the same time, besides memory; empty if they can."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


def open_model(spec: str, settings: RunSettings) -> Model:
    """Open a model of a run in this process; the caller closes it.

    Raises:
        ModelError: it cannot be opened, or lacks a capability that a task needs.
    """
    return fitting(load(spec, options_of(spec, settings)), settings)


def options_of(spec: str, settings: RunSettings) -> Options:
    """The options for opening a model of a run.

    Raises:
        ForeignRunError: the run came from somebody else, and the user did not choose where code would go.
    """
    require_consent(settings, [spec])
    return Options.of(settings)


def fitting(model: Model, settings: RunSettings) -> Model:
    """Check that a model has the capabilities that the tasks need; close it if not.

    Raises:
        ModelError: it lacks one, or it cannot be asked.
    """
    try:
        for task in settings.tasks:
            missing = PROBES[task].missing_of(model)
            if missing is not None:
                raise ModelError(f"{missing}, which the task {task} needs", "Choose another model or task")
    except BaseException:
        model.close()
        raise
    return model
