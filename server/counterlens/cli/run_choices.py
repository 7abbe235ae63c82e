"""The choices of a run on the command line: its flags, and the values that a settings file adds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from counterlens.cli.default_model import default_for_command
from counterlens.cli.flags import declared_options
from counterlens.cli.options import (
    entries_of,
    refuse_untaken,
    sandbox_option,
    strong_sandbox,
    typed_parameters,
)
from counterlens.cli.probe_options import (
    from_file,
    parameters_from_file,
    probe_options,
    taken_from,
)
from counterlens.cli.runs import agreed_settings
from counterlens.cli.saying import say
from counterlens.datasets.base import PREFIX
from counterlens.datasets.registry import absolute
from counterlens.errors import DataError
from counterlens.evaluation.engines.base import EvaluationEngine
from counterlens.evaluation.engines.registry import ENGINES, LOCAL, Where
from counterlens.evaluation.settings import RunOptions, RunSettings, SettingsUsed
from counterlens.models.entries import ModelEntry
from counterlens.models.registry import SOME_TAKE, takes
from counterlens.probes.options import flag_of, specs
from counterlens.probes.protocols import own_task
from counterlens.probes.registry import PROBES

Command = TypeVar("Command", bound=Callable[..., Any])
_ENGINE = ("engine", "address", "replicas")
_GATE = ("fail_under", "min_informative")  # which do not affect a run
_OWN = tuple(name for name in specs(RunOptions) if name not in _GATE)


def run_options(command: Command) -> Command:
    """Add the flags of commands that make a run; `RunChoices.of` reads them."""
    decorated: Any = sandbox_option(command)
    for option in (
        click.option("--plan", "only_plan", is_flag=True, help="Show the plan, and stop."),
        click.option(
            "--replicas",
            type=click.IntRange(1, 1024),
            metavar="N",
            help="With ray: replicas of each model; one per node by default.",
        ),
        click.option(
            "--address",
            metavar="HOST:PORT",
            envvar="RAY_ADDRESS",
            help="With ray: address of the cluster's head; auto: the cluster of this machine.",
        ),
        click.option(
            "--engine",
            type=click.Choice(list(ENGINES)),
            default=LOCAL,
            show_default=True,
            help="Run on this machine (local), or on the nodes of a Ray cluster; the results are the same.",
        ),
        probe_options,
        click.option("--base-url", metavar="URL", help="Base URL of a remote model."),
        declared_options(RunOptions),
    ):
        decorated = option(decorated)
    return cast("Command", decorated)


class RunChoices:
    """The choices from the command line, or else from the settings file.

    Args:
        chosen: All choices, by the names of `RunSettings`.
        explicit: Names of choices from the command line.
        given: Values of probe options, by name.
        filed: Names of choices from the file.
    """

    def __init__(
        self,
        chosen: dict[str, Any],
        explicit: frozenset[str],
        given: Mapping[str, Any],
        filed: frozenset[str] = frozenset(),
        file: SettingsUsed | None = None,
    ) -> None:
        self._chosen, self._explicit, self._given = chosen, explicit, dict(given)
        self._filed, self._file = filed, file

    @classmethod
    def of(cls, context: click.Context, given: Mapping[str, Any], **fixed: Any) -> RunChoices:
        """Read the command line.

        Args:
            given: Options of probes.
            fixed: Choices made by the command itself, such as its data.
        """
        values, file = context.params, from_file(context)
        explicit = typed_parameters(values)
        chosen = {name: values[name] for name in (*_OWN, "base_url", "data", "since") if name in values}
        chosen |= fixed
        if chosen["data"] is None and file is not None:
            chosen["data"] = f"{PREFIX}{file.path.parent}"
        if chosen["data"] is not None:
            chosen["data"] = absolute(chosen["data"])
        named = parameters_from_file(context) - set(fixed)
        task = own_task(given.get("protocol") or "")
        if task and "tasks" not in explicit | named:
            chosen["tasks"] = (task,)
        if "paths" in named and file is not None:
            of_code = (chosen["data"] or "").startswith(PREFIX)
            root = Path((chosen["data"] or "").removeprefix(PREFIX))
            chosen["paths"] = file.paths_below(root) if of_code else ()
        if given.get("corpus"):
            given = {**given, "corpus": absolute(given["corpus"])}
        taken = {*taken_from(given, named, [PROBES[task] for task in chosen["tasks"]])}
        used = sorted(named & ({*_OWN} | taken))
        note = SettingsUsed(file.path.name, file.sha256, tuple(used)) if file and used else None
        kept = {name: value for name, value in given.items() if name in taken}
        return cls(chosen, explicit, kept, frozenset(named), note)

    @property
    def data(self) -> str | None:
        """The data, if named."""
        return cast("str | None", self._chosen["data"])

    def _applied(self, models: Sequence[str], entries: tuple[ModelEntry, ...]) -> SettingsUsed | None:
        """The choices of the file, without those that affect no model, such as threads of a remote one."""
        chose = self._file.chose if self._file else ()
        applied = tuple(
            name
            for name in chose
            if name not in SOME_TAKE or any(takes(model, name, entries) for model in models)
        )
        return replace(self._file, chose=applied) if self._file and applied else None

    def settings(self, out: Path | None = None, kept: RunSettings | None = None) -> RunSettings:
        """The settings of the run: the stored ones, if it is resumed; other given options must agree.

        Args:
            out: The folder of the run, for messages; None for a plan.

        Raises:
            DataError: they do not agree, or there is nothing to resume and no data is named.
            OptionError: no task takes an option.
            ForeignRunError: somebody else started the run, and the user does not agree to what it names.
        """
        if kept is None:
            if self._chosen["data"] is None:
                raise DataError(f"there is no run in {out} to resume", "Start one with --data NAME_OR_PATH")
            models = self._chosen["models"] or (default_for_command(),)
            chosen = {**self._chosen, "models": models}
            made = RunSettings.of(given=self._given, settings_file=self._file, **chosen)
            asked = [*made.models, *([made.encoder] if made.encoder else [])]
            entries = entries_of(*asked)
            refuse_untaken(self._explicit & SOME_TAKE.keys(), asked, entries)
            return replace(made, entries=entries, settings_file=self._applied(asked, entries))
        differing = [
            f"--{name.replace('_', '-')} was {getattr(kept, name)!r}, now {self._chosen[name]!r}"
            for name in sorted(self._explicit & self._chosen.keys() - {"max_cost"})
            if getattr(kept, name) != self._chosen[name]
            # The order of a run with a time limit is its own, whatever the limit.
            and not (name == "minutes" and kept.minutes and self._chosen[name])
        ]
        given = {name: value for name, value in self._given.items() if name not in self._filed}
        again = RunSettings.of(kept.tasks, kept.data, given)
        for name in given:
            for task, stored in kept.options.items():
                options = {**PROBES[task].options.earlier, **stored}
                if name in options and options[name] != again.options[task][name]:
                    flag = flag_of(PROBES.values(), name)
                    differing.append(f"{flag} was {options[name]!r}, now {again.options[task][name]!r}")
                    break
        if differing:
            raise DataError(
                f"the run in {out} was started with other options: {'; '.join(differing)}",
                f"--resume uses the stored ones: counterlens bench --resume --out {out}; or choose another "
                f"folder",
            )
        own = {name: self._chosen[name] if name in self._explicit else None for name in ("base_url", "data")}
        spent = {name: self._chosen[name] for name in ("max_cost", "minutes") if name in self._explicit}
        return replace(agreed_settings(kept, kept.models, **own), **spent)


def engine_of(context: click.Context) -> EvaluationEngine:
    """The engine chosen by the options.

    Raises:
        click.UsageError: this engine does not have a given option.
    """
    name, address, replicas = (context.params[option] for option in _ENGINE)
    if name == LOCAL and typed_parameters(("address", "replicas")):
        raise click.UsageError("--address and --replicas need --engine ray")

    def warn(what: str) -> None:
        say(f"warning: {what}", err=True, colour="yellow")

    return ENGINES[name](strong_sandbox(), Where(address, replicas, warn))
