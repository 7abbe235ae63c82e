"""What a run will ask: every function of the data, of every model, in an order that never changes."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from counterlens.datasets import Dataset, open_dataset
from counterlens.datasets.repository import PREFIX, repository
from counterlens.errors import CounterlensError, DataError, SourceError
from counterlens.evaluation.settings import TASKS, Settings
from counterlens.evaluation.store import Item
from counterlens.mutations import survey
from counterlens.probes.completion import preserving
from counterlens.probes.subjects import targets_of
from counterlens.probes.task import Target
from counterlens.sandbox.base import Sandbox

SAMPLED = 12  # functions whose counterfactuals are counted for the estimate
_STYLES = 2  # questions on a call of the execution task

Report = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Plan:
    """What will be asked.

    Attributes:
        settings: Of the run.
        dataset: Where the functions come from.
        targets: The functions, in the order of the data, by their names in it.
        items: The questions: model by model, each in the order of the functions.
    """

    settings: Settings
    dataset: Dataset
    targets: Mapping[str, Target]
    items: tuple[Item, ...]

    @property
    def digest(self) -> str:
        """The SHA-256 over what is asked: names, functions and sources."""
        total = hashlib.sha256()
        for item in self.items:
            total.update(f"{item.id}\0{item.function}\0{item.source}\n".encode())
        return total.hexdigest()

    def prompts(self) -> float | None:
        """About how many prompts a function needs, from a seeded sample; None where none could be told."""
        if self.settings.task == "execution":
            return float(_STYLES)
        chosen = list(self.targets.values())
        if len(chosen) > SAMPLED:
            chosen = random.Random(self.settings.seed).sample(chosen, SAMPLED)  # noqa: S311 - no secret
        counts = [count for target in chosen if (count := _prompts(target, self.settings)) is not None]
        return sum(counts) / len(counts) if counts else None


def make_plan(settings: Settings, sandbox: Sandbox, report: Report | None = None) -> Plan:
    """Read the data and lay out the questions.

    Args:
        settings: Of the run.
        sandbox: Where tests will run.
        report: Called with what is being done, steps done and steps in all.

    Raises:
        DataError: the data is not there, or gives no function.
        CounterlensError: a task, a mutation or a model is named that does not exist, or twice.
    """
    if settings.task not in TASKS:
        raise CounterlensError(f"there is no task {settings.task}", f"There are: {', '.join(TASKS)}")
    if len(set(settings.models)) < len(settings.models):
        raise CounterlensError("a model is named twice", "Name each model once")
    preserving(settings.mutations)
    dataset = _opened(settings, sandbox, report)
    found = targets_of(
        dataset,
        limit=settings.limit,
        seed=settings.seed,
        sandbox=sandbox,
        buggy=settings.task == "repair",
    )
    targets = {target.name: target for target in found}
    if len(targets) < len(found):
        raise DataError(f"{dataset.path} gives several functions the same name", "Names must differ")
    return Plan(settings, dataset, targets, tuple(_items(settings.models, targets)))


def _opened(settings: Settings, sandbox: Sandbox, report: Report | None) -> Dataset:
    if settings.data.startswith(PREFIX):
        return repository(
            settings.data, since=settings.since, patterns=settings.paths, sandbox=sandbox, report=report
        )
    if settings.since is not None or settings.paths:
        raise CounterlensError(
            "--since and --paths choose files of a repository", "Use them with --data repo:PATH"
        )
    return open_dataset(settings.data)


def _items(models: Sequence[str], targets: Mapping[str, Target]) -> list[Item]:
    sources = {name: hashlib.sha256(target.document.data).hexdigest() for name, target in targets.items()}
    asked = [(model, name, target) for model in models for name, target in targets.items()]
    return [
        Item(position, f"{model}|{name}", model, name, target.qualname, sources[name])
        for position, (model, name, target) in enumerate(asked)
    ]


def _prompts(target: Target, settings: Settings) -> int | None:
    """Prompts for one function, before any counterfactual is dropped."""
    try:
        found = survey(
            target.document.text,
            mutations=preserving(settings.mutations),
            function=target.qualname,
            seed=settings.seed,
            prefix_ratio=settings.prefix_ratio,
            without=settings.without,
        )
    except SourceError:
        return None
    made = [one for one in found.counterfactuals if one.cut is not None or settings.task == "repair"]
    if settings.task == "repair":
        return len(made) + 1 if made else 0
    return len(made) + len({one.cut.original for one in made if one.cut is not None})


def absolute(data: str) -> str:
    """A dataset's name or path as it is kept: paths absolute, so that a run is resumed from anywhere."""
    name, colon, rest = data.partition(":")
    if Path(data).expanduser().exists():
        return str(Path(data).expanduser().resolve())
    if colon and (data.startswith(PREFIX) or Path(rest).expanduser().exists()):
        return f"{name}:{Path(rest or '.').expanduser().resolve()}"
    return data
