"""Engines for the models and programs of a run: what every engine offers.

An engine changes where work is done and never what comes of it: the items of a plan are carried out by the
same code, which asks the engine's models and judges in the engine's sandbox.
"""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from counterlens.errors import ModelError
from counterlens.evaluation.settings import RunSettings
from counterlens.models.base import Model
from counterlens.models.registry import Options, load
from counterlens.probes.registry import PROBES
from counterlens.sandbox.base import Sandbox


class EvaluationEngine(Protocol):
    """Models and a sandbox, here or elsewhere. Leave it as a context to give back what it holds."""

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox for programs."""
        ...

    @property
    def jobs(self) -> int:
        """How many items are to be in work together, unless the user says."""
        ...

    def open(self, spec: str, settings: RunSettings) -> Model:
        """A model of a run; close it afterwards.

        Raises:
            ModelError: it cannot be opened, or does not give what a task needs.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


def opened(spec: str, settings: RunSettings) -> Model:
    """A model of a run, opened by this process; close it afterwards.

    Raises:
        ModelError: it cannot be opened, or does not give what a task needs.
    """
    return fitting(load(spec, options_of(settings)), settings)


def options_of(settings: RunSettings) -> Options:
    """How the models of a run are opened."""
    return Options(
        threads=settings.threads,
        base_url=settings.base_url,
        api=settings.api,
        mask=settings.mask,
        exact=settings.exact,
        thinking_tokens=settings.thinking_tokens,
        entries=settings.entries,
    )


def fitting(model: Model, settings: RunSettings) -> Model:
    """A model that gives what the tasks need; one that does not is closed.

    Raises:
        ModelError: it does not; or it cannot be asked.
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
