"""The settings of a run: stored with it, so that it can be resumed and replayed from its folder alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Self

import msgspec

from counterlens.errors import CounterlensError
from counterlens.models.base import Api
from counterlens.models.default import default_model
from counterlens.models.entries import check_entry, entry_named
from counterlens.models.registry import OpeningChoices, default_api
from counterlens.probes.common_options import GpuLayers, Mask, PromptFormat, ThinkingTokens, Threads
from counterlens.probes.options import ProbeOptions, distribute, make, option, plain_options
from counterlens.probes.registry import PROBES, probe_named

LEAST_INFORMATIVE = 6
"""Informative pairs with which an exact sign test can be significant: 2 / 2^6 is 0.03, 2 / 2^5 is 0.06."""
Chosen = Mapping[str, Mapping[str, Any]]
"""The options of each task, as plain data by their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of runs that a repository may set.

    The address of a model, and the permission for a weak sandbox, are not among them: a file that comes with
    code must determine neither where code and keys are sent, nor how programs are isolated.
    """

    models: Annotated[
        tuple[str, ...],
        option(
            "Model to evaluate (repeatable): the name of a code model, a GGUF file, hf:OWNER/REPO/FILE.gguf "
            "or remote:NAME. Default: `counterlens models` marks it.",
            flag="model",
            metavar="M",
        ),
    ] = ()
    tasks: Annotated[
        tuple[str, ...], option("The probe to run (repeatable).", flag="task", choices=tuple(PROBES))
    ] = ("completion",)
    paths: Annotated[
        tuple[str, ...],
        option("With repo: only these files or folders (repeatable).", metavar="PATTERN"),
    ] = ()
    limit: Annotated[int | None, option("Sample size; --seed draws the sample.", metavar="N", low=1)] = None
    minutes: Annotated[
        float | None,
        option(
            "Minutes after which no function is begun, shared by the models; the functions are asked in "
            "random order.",
            metavar="N",
            low=0,
        ),
    ] = None
    until_decided: Annotated[
        bool,
        option(
            "Stop asking a model once its main figure is surely above or below chance: by a confidence "
            "sequence, which may be looked at all the time. --limit and --minutes hold, too.",
            flag="until-told",
        ),
    ] = False
    fail_under: Annotated[
        float | None,
        option(
            "Exit with 3 if a model keeps a smaller share of its right verdicts, with its whole interval "
            "below SHARE.",
            metavar="SHARE",
            low=0,
            high=1,
        ),
    ] = None
    min_informative: Annotated[
        int,
        option(
            "With --fail-under: exit with 4 if a model has fewer informative pairs, too few to show that it "
            "keeps less.",
            metavar="N",
            low=1,
        ),
    ] = LEAST_INFORMATIVE
    api: PromptFormat = None
    mask: Mask = "word"
    threads: Threads = 0
    gpu_layers: GpuLayers = "auto"
    thinking_tokens: ThinkingTokens = None
    max_cost: Annotated[
        float | None,
        option(
            "Cost after which no further function is started, in the currency of the models' prices; shared "
            "by the models.",
            metavar="AMOUNT",
            low=0,
        ),
    ] = None
    exact: Annotated[
        bool,
        option("Refuse a model whose completions are not exact. Local models decode exactly if they can."),
    ] = False


@dataclass(frozen=True, slots=True)
class SettingsUsed:
    """The settings of a run that come from a file.

    Attributes:
        sha256: The SHA-256 of its content.
        chose: Names of the settings that it made.
    """

    name: str
    sha256: str
    chose: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunSettings(OpeningChoices):
    """The choices of a run, among them how its models are opened.

    Attributes:
        tasks: Ids of the probes, in order of execution.
        data: A dataset's name, a path, or `repo:PATH`; paths are absolute.
        models: The models as the user named them, in order.
        limit: Maximum number of functions, sampled at random.
        seed: Random seed of the sampling; that of the probes is among their options.
        since: For `repo:`: only what differs from this revision.
        paths: For `repo:`: only these files.
        max_cost: Cost after which no further function is begun; None for no limit.
        minutes: Minutes after which no function is begun.
            None: no limit, in the order of the data.
        until_decided: Whether a model gets no further function once its figure differs from chance.
        settings_file: The settings that come from a file; None without one.
        options: All options of each task, including defaults.
        foreign: Whether they come from a run folder that this user did not start, so that addresses and
            repositories among them are not the user's choice (`run_consent.py`).
    """

    tasks: tuple[str, ...]
    data: str
    models: tuple[str, ...] = field(default_factory=lambda: (default_model().spec,))
    limit: int | None = None
    seed: int = 0
    since: str | None = None
    paths: tuple[str, ...] = ()
    max_cost: float | None = None
    minutes: float | None = None
    until_decided: bool = False
    settings_file: SettingsUsed | None = None
    options: Chosen = field(default_factory=dict)
    foreign: bool = field(default=False, compare=False)

    @classmethod
    def of(
        cls, tasks: Iterable[str], data: str, given: Mapping[str, Any] | None = None, **others: Any
    ) -> Self:
        """Settings with options given by name; each option applies to the tasks that take it.

        Args:
            tasks: Ids of probes.
            data: As the attribute.
            given: Values of options, by name.
            others: Values of further attributes.

        Raises:
            CounterlensError: a task does not exist, or is named twice.
            OptionError: no task takes an option, or its value is invalid.
        """
        probes = [probe_named(task) for task in tasks]
        ids = tuple(probe.id for probe in probes)
        if len(set(ids)) < len(ids):
            raise CounterlensError("a task is given twice", "Give each task once")
        options = distribute(probes, given or {}, PROBES.values())
        return cls(
            ids,
            data,
            options={task: plain_options(options[task]) for task in ids},
            seed=int((given or {}).get("seed", 0)),
            **others,
        )

    @property
    def task(self) -> str:
        """The tasks, in words."""
        return ", ".join(self.tasks)

    @property
    def encoder(self) -> str | None:
        """The model whose embeddings are used for sentence similarity, if a task has one."""
        return next(
            (str(options["encoder"]) for options in self.options.values() if options.get("encoder")), None
        )

    def served(self, model: str) -> tuple[str, str | None]:
        """The prompt format of a model, and its address; None for one from the environment."""
        entry = entry_named(model, self.entries)
        if entry is None:
            return self.api or default_api(model), self.base_url
        return entry.api or self.api or Api.COMPLETIONS, entry.base_url

    def options_of(self, task: str) -> ProbeOptions:
        """The options of a task."""
        kind: type[ProbeOptions] = PROBES[task].options
        return make(kind, {**kind.earlier, **self.options.get(task, {})})

    def applied(self) -> dict[str, list[str]]:
        """The tasks of each option that only some tasks take, without defaults and a protocol's values."""
        by_name: dict[str, list[str]] = {}
        for task, options in self.options.items():
            chosen = {"protocol": options["protocol"]} if options.get("protocol") else {}
            usual = plain_options(make(PROBES[task].options, chosen))
            for name, value in options.items():
                if value != usual[name] or name in chosen:
                    by_name.setdefault(name, []).append(task)
        return {name: tasks for name, tasks in by_name.items() if len(tasks) < len(self.tasks)}

    def to_json(self) -> str:
        """All settings, in the format of `from_json`."""
        stored = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "foreign"}
        return msgspec.json.encode(stored, order="sorted").decode()

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The settings in the format of `to_json`; `foreign` until their seal was checked.

        Raises:
            msgspec.MsgspecError, OptionError: they are malformed, or a named model has an invalid value.
        """
        renamed = text.replace('"budget":', '"max_cost":')  # by an earlier version
        settings = msgspec.json.decode(renamed, type=cls)
        for entry in settings.entries:
            check_entry(entry)
        return replace(settings, foreign=True)

    def differences(self, other: RunSettings) -> list[str]:
        """The settings that differ, each as `seed is 0, not 1`: this one's value, then the other's."""
        own = {field.name: (getattr(self, field.name), getattr(other, field.name)) for field in fields(self)}
        # The choices of the file are among the others, and `foreign` is not a choice.
        del own["options"], own["settings_file"], own["foreign"]
        for task in self.options.keys() & other.options.keys():
            mine, theirs = self.options[task], other.options[task]
            own |= {name: (mine.get(name), theirs.get(name)) for name in sorted({*mine, *theirs})}
        return [
            f"{name} is {mine!r}, not {theirs!r}" for name, (mine, theirs) in own.items() if mine != theirs
        ]
