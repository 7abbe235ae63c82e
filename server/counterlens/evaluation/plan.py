"""The plan of a run: every function of the data, for every model, in a fixed order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from counterlens.datasets import Dataset, open_dataset
from counterlens.datasets.base import PREFIX
from counterlens.datasets.counterparts import Counterparts, counterparts
from counterlens.datasets.repository import repository
from counterlens.errors import CounterlensError, DataError
from counterlens.evaluation.decided import require_excess
from counterlens.evaluation.run_consent import require_consent
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.spending import check_max_cost
from counterlens.evaluation.store import Item
from counterlens.judging.base import LIMITS, MAP_SECONDS, lasting
from counterlens.models.base import Api
from counterlens.probes.common_options import source_language
from counterlens.probes.dataset_subjects import not_drawn, targets_of
from counterlens.probes.options import ProbeOptions
from counterlens.probes.probe import Need, Target
from counterlens.probes.protocols import require_api
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import is_suited, require_suited
from counterlens.progress import ProgressCallback
from counterlens.sandbox.base import Sandbox


@dataclass(frozen=True)
class Plan:
    """The plan.

    Attributes:
        dataset: The source of the functions.
        targets: The functions of each task, by their names in the data, in its order.
        items: The items: model by model, task by task, each in the order of the functions.
        not_drawn: Problems that cannot be probed, with the reason.
        translated_from: The counterparts that functions are translated from, by their language.
    """

    settings: RunSettings
    dataset: Dataset
    targets: Mapping[str, Mapping[str, Target]]
    items: tuple[Item, ...]
    not_drawn: Mapping[str, str] = field(default_factory=dict)
    translated_from: Mapping[str, Counterparts] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The SHA-256 of the names, functions and sources of the plan."""
        total = hashlib.sha256()
        for item in self.items:
            total.update(f"{item.id}\0{item.function}\0{item.source}\n".encode())
        return total.hexdigest()

    def target(self, item: Item) -> Target:
        """The function of an item."""
        return self.targets[item.task][item.problem]


def make_plan(settings: RunSettings, sandbox: Sandbox, progress: ProgressCallback | None = None) -> Plan:
    """Read the data and create the items.

    Args:
        sandbox: The sandbox for tests.
        progress: Called with a description of the current step.

    Raises:
        ForeignRunError: the run came from somebody else, and the user did not choose its repository.
        DataError: the data is missing, or has no usable function, or none in a language to translate from.
        SourceError: a task does not support the language of the data, or is for none of its functions.
        OptionError: an option, or a model's prompt format, contradicts another option or the data.
        CounterlensError: a task, a mutation or a model does not exist, or is named twice.
    """
    require_consent(settings)
    _check(settings)
    dataset = _open_data(settings, sandbox, progress)
    chosen = partial(targets_of, dataset, limit=settings.limit, seed=settings.seed, sandbox=sandbox)
    drawn: dict[tuple[bool, float, str | None], dict[str, Target]] = {}
    sources: dict[str, Counterparts] = {}
    keys = {task: _key(task, settings.options_of(task)) for task in settings.tasks}
    targets = {}
    for task, key in keys.items():
        buggy, seconds, language = key
        if language is not None and language not in sources:
            sources[language] = counterparts(dataset, language)
        if key not in drawn:
            sharing = [other for other in settings.tasks if keys[other] == key]
            selection = chosen(
                buggy=buggy,
                limits=lasting(seconds),
                translated_from=sources[language] if language is not None else None,
                suited=partial(_suits_all, settings, sharing),
            )
            drawn[key] = {target.name: target for target in selection}
            if len(drawn[key]) < len(selection):
                raise DataError(f"{dataset.path} gives several functions the same name", "Names must differ")
        options = settings.options_of(task)
        targets[task] = drawn[key]
        require_suited(PROBES[task], list(drawn[key].values()), options)
    items = tuple(_items(settings.models, targets))
    return Plan(settings, dataset, targets, items, not_drawn(dataset), sources)


def _key(task: str, options: ProbeOptions) -> tuple[bool, float, str | None]:
    """What decides which functions a task can have: tasks with the same key share a sample."""
    seconds = float(getattr(options, "timeout", LIMITS.seconds))
    return Need.BUG in PROBES[task].needs, seconds, source_language(options)


def _suits_all(settings: RunSettings, tasks: Sequence[str], target: Target) -> bool:
    return all(is_suited(PROBES[task], target, settings.options_of(task)) for task in tasks)


def _check(settings: RunSettings) -> None:
    """Check everything that can be checked before the data is read."""
    for task in settings.tasks:
        if Need.CORPUS in PROBES[task].needs and getattr(settings.options_of(task), "corpus", None) is None:
            raise CounterlensError(
                f"the task {task} needs a corpus in which to count operators",
                "Give Python files or a dataset with --corpus",
            )
        for model in settings.models:
            require_api(settings.options_of(task).chosen_protocol, Api.named(settings.served(model)[0]))
    check_max_cost(settings)
    if settings.until_decided:
        require_excess(settings.tasks)
    if len(set(settings.models)) < len(settings.models):
        raise CounterlensError("a model is given twice", "Give each model once")


def _open_data(settings: RunSettings, sandbox: Sandbox, progress: ProgressCallback | None) -> Dataset:
    if settings.data.startswith(PREFIX):
        options = [settings.options_of(task) for task in settings.tasks]
        bounds = (getattr(task_options, "map_timeout", None) for task_options in options)
        excluded = next(
            (tests for task_options in options if (tests := getattr(task_options, "excluded_tests", ()))), ()
        )
        return repository(
            settings.data,
            since=settings.since,
            patterns=settings.paths,
            sandbox=sandbox,
            progress=progress,
            map_timeout=max((bound for bound in bounds if bound is not None), default=MAP_SECONDS),
            excluded=excluded,
        )
    if settings.since is not None or settings.paths:
        raise CounterlensError(
            "--since and --paths choose files of a repository", "Use them with --data repo:PATH"
        )
    return open_dataset(settings.data)


def _items(models: Sequence[str], targets: Mapping[str, Mapping[str, Target]]) -> Iterator[Item]:
    position = 0
    for model in models:
        for task, functions in targets.items():
            for name, target in functions.items():
                source = hashlib.sha256(target.document.data)
                if target.counterpart is not None:
                    source.update(b"\0" + target.counterpart.data)
                digest = source.hexdigest()
                yield Item(position, f"{model}|{task}|{name}", model, name, target.qualname, digest, task)
                position += 1
