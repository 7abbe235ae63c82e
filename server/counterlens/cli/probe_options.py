"""The flags of probes: `--task`, and those of declared options (`probes/options.py`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click
from click.core import ParameterSource

from counterlens.cli.flags import flag_of_option, parameter_of_option
from counterlens.cli.lazy import CONFIG, BriefCommand
from counterlens.evaluation.settings_file import SettingsFile, nearest, read
from counterlens.probes.options import OptionSpec, declared, specs
from counterlens.probes.probe import Probe
from counterlens.probes.registry import PROBES

Command = TypeVar("Command", bound=Callable[..., Any])
_FILE = "counterlens.settings_file"
_OPENING = ("api", "mask", "threads", "gpu_layers", "exact", "thinking_tokens")  # options for opening a model
_UNSET: tuple[Any, ...] = (None, ())


def from_file(context: click.Context) -> SettingsFile | None:
    """Return the settings file named on the command line, or the nearest one, or None.

    Raises:
        OptionError: it cannot be read, or has invalid content.
    """
    if _FILE not in context.meta:
        context.meta[_FILE] = chosen_file(context, Path.cwd())
    return cast("SettingsFile | None", context.meta[_FILE])


def chosen_file(context: click.Context, folder: Path) -> SettingsFile | None:
    """Return the settings file named on the command line, or the nearest one of a folder, or None.

    Raises:
        OptionError: as `from_file`.
    """
    config, no_config = context.meta.get(CONFIG, (None, False))
    return read(config) if config else None if no_config else nearest(folder)


def use_file(context: click.Context, file: SettingsFile, single: Iterable[str], runs: Iterable[str]) -> None:
    """Let a settings file set options that the command line omits.

    Args:
        context: Context of the group of commands.
        file: The file, from `from_file`.
        single: Names of commands with one model and one target.
        runs: Names of commands that make runs.
    """
    own = {name: value for name, value in file.run.items() if name in _OPENING}
    defaults = {**file.given, **own, **({"model": file.run["models"][0]} if file.run.get("models") else {})}
    several = {**file.given, **file.run}
    context.default_map = {**dict.fromkeys(single, defaults), **dict.fromkeys(runs, several)}


def parameters_from_file(context: click.Context | None = None) -> set[str]:
    """The names of the parameters whose values come from the settings file."""
    here = context or click.get_current_context()
    return {name for name in here.params if here.get_parameter_source(name) is ParameterSource.DEFAULT_MAP}


def taken_from(
    given: Mapping[str, Any], filed: Collection[str], probes: Iterable[Probe[Any, Any]]
) -> list[str]:
    """The names of the options that apply; options from the file only if a probe takes them.

    Args:
        given: Values by option name.
        filed: Names of options from the settings file.
        probes: The probes to run.
    """
    chosen = list(probes)
    protocol = given.get("protocol") or ""
    declarations = declared(chosen)
    fixed = {name for probe in chosen for name in probe.options.published.get(protocol, {})}
    return [name for name in given if name not in filed or (name in declarations and name not in fixed)]


def task_option(
    parameter: str = "task",
    *,
    help: str,  # noqa: A002 - click's word
    more: tuple[str, ...] = (),
    **settings: Any,
) -> Callable[[Command], Command]:
    """Add `--task`, whose values are the ids of all probes.

    Args:
        parameter: The name of the command's parameter.
        more: Further values.
        settings: See `click.option`.
    """
    return click.option("--task", parameter, type=click.Choice([*PROBES, *more]), help=help, **settings)


def probe_options(command: Command) -> Command:
    """Add the flags of all probes; the command gets the given values, by option name, as `given`."""
    return _with_flags(declared(PROBES.values()), command, named=True)


class ProbeCommand(BriefCommand):
    """A command on one probe, which gets the given values of the probe's options, by name, as `given`.

    Only the chosen probe is imported. The flags of all are known where they matter: in its help, beside a
    settings file, and to name the tasks of an option that the chosen probe does not take.

    Args:
        task: Returns the chosen probe's id, given the values of the command's own parameters as typed.
        settings: See `BriefCommand`.
    """

    def __init__(self, *, task: Callable[[Mapping[str, Any]], str], **settings: Any) -> None:
        self._task_of, self._task = task, ""
        self._params_by_task: dict[str, list[click.Parameter]] = {}
        super().__init__(**settings)

    @property
    def params(self) -> list[click.Parameter]:
        """Its own parameters, and the flags of the chosen probe; of all probes if none is chosen."""
        if self._task not in self._params_by_task:
            self._params_by_task[self._task] = [*self._own, *self._flags]
        return self._params_by_task[self._task]  # click changes this list

    @params.setter
    def params(self, own: list[click.Parameter]) -> None:
        self._own = own

    @property
    def _flags(self) -> list[click.Option]:
        return _flags_of_probe(self._task) if self._task else _flags_of_all()

    def narrowed(self, parent: click.Context, args: list[str]) -> ProbeCommand:
        """The command with the flags of the chosen probe only, if it takes all of some arguments."""
        narrow, own = copy(self), click.Command(self.name, params=self._own)
        try:
            narrow._task = self._task_of(_split(own, parent, args, ignore_unknown_options=True))
            if narrow._task not in PROBES:
                return self
            values = _split(narrow, parent, args)
        except click.UsageError:
            return self
        protocols = specs(PROBES[narrow._task].options)["protocol"].choices if "protocol" in values else ()
        return narrow if values.get("protocol") in (None, *protocols) else self

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Like click's; beside a settings file with the flags of all probes, which it may set."""
        if ctx.default_map:
            self._task = ""
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command; see the class."""
        assert self.callback
        flags = {flag.name for flag in self._flags}
        given = {name: value for name, value in ctx.params.items() if name in flags and value not in _UNSET}
        own = {name: value for name, value in ctx.params.items() if name not in flags}
        return ctx.invoke(self.callback, given=given, **own)


def _split(command: click.Command, parent: click.Context, args: list[str], **settings: Any) -> dict[str, Any]:
    """The values of a command's parameters as typed, by name, without those that are not given.

    Args:
        settings: See `click.Context`.

    Raises:
        click.UsageError: an option is unknown, or lacks its value; or the user asks for help.
    """
    context = click.Context(command, parent, command.name, **settings)
    values, _, parameters = command.make_parser(context).parse_args(list(args))
    if any(parameter.is_eager for parameter in parameters):
        raise click.UsageError("this is a call for help")
    return {name: value for name, value in values.items() if isinstance(value, str | bool)}


@cache
def _flags_of_probe(task: str) -> list[click.Option]:
    return [parameter_of_option(name, spec, spec.help) for name, spec in specs(PROBES[task].options).items()]


@cache
def _flags_of_all() -> list[click.Option]:
    declarations = declared(PROBES.values())
    return [
        parameter_of_option(name, spec, _help(name, *declarations[name]))
        for name, (spec, _) in declarations.items()
    ]


def options_of(task: str, *names: str) -> Callable[[Command], Command]:
    """Add some flags of one probe to a command, which gets them as `given`."""

    def decorate(command: Command) -> Command:
        declarations = declared([PROBES[task]])
        return _with_flags({name: declarations[name] for name in names}, command, named=False)

    return decorate


def _with_flags(
    declarations: dict[str, tuple[OptionSpec, list[str]]], command: Command, *, named: bool
) -> Command:
    """A command with the flags of some options; `named`: their help names the tasks."""

    @wraps(command)
    def gathered(*arguments: Any, **values: Any) -> Any:
        taken = {name: values.pop(name) for name in declarations}
        given = {name: value for name, value in taken.items() if value not in _UNSET}
        return command(*arguments, given=given, **values)

    decorated: Any = gathered
    for name, (spec, takers) in reversed(declarations.items()):
        help_text = _help(name, spec, takers) if named else f"{spec.help}{_default(name, takers)}"
        decorated = flag_of_option(name, spec, help_text, None)(decorated)
    return cast("Command", decorated)


def _help(name: str, spec: OptionSpec, takers: list[str]) -> str:
    """The help of an option: its effect, its tasks, and its default."""
    tasks = "" if len(takers) == len(PROBES) else f" Tasks: {', '.join(takers)}."
    return f"{spec.help}{tasks}{_default(name, takers)}"


def _default(name: str, takers: list[str]) -> str:
    """The default in brackets, if there is one; per task, if the defaults differ."""
    defaults = {taker: specs(PROBES[taker].options)[name].default for taker in takers}
    first, *others = dict.fromkeys(defaults.values())
    if others:
        listed = (f"{taker} {default}" for taker, default in defaults.items() if default is not None)
        return f"  [default: {', '.join(listed)}]"
    return "" if first is None or first is False or first == () else f"  [default: {first}]"
