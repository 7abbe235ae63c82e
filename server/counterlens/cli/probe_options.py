"""The flags of probes: `--task`, and those of declared options (`probes/options.py`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click
from click.core import ParameterSource

from counterlens.cli.flags import flag_of_option
from counterlens.cli.lazy import CONFIG
from counterlens.evaluation.settings_file import SettingsFile, nearest, read
from counterlens.probes.options import OptionSpec, declared, specs
from counterlens.probes.probe import Probe
from counterlens.probes.registry import PROBES

Command = TypeVar("Command", bound=Callable[..., Any])
_FILE = "counterlens.settings_file"


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


_OPENING = ("api", "mask", "threads", "gpu_layers", "exact", "thinking_tokens")  # options for opening a model


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
    known = declared(chosen)
    fixed = {name for probe in chosen for name in probe.options.published.get(protocol, {})}
    return [name for name in given if name not in filed or (name in known and name not in fixed)]


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
    return _taking(declared(PROBES.values()), command, named=True)


def options_of(task: str, *names: str) -> Callable[[Command], Command]:
    """Add some flags of one probe to a command, which gets them as `given`."""

    def decorate(command: Command) -> Command:
        known = declared([PROBES[task]])
        return _taking({name: known[name] for name in names}, command, named=False)

    return decorate


def _taking(known: dict[str, tuple[OptionSpec, list[str]]], command: Command, *, named: bool) -> Command:
    """A command with the flags of some options; `named`: their help names the tasks."""

    @wraps(command)
    def gathered(*arguments: Any, **values: Any) -> Any:
        taken = {name: values.pop(name) for name in known}
        given = {name: value for name, value in taken.items() if value not in (None, ())}
        return command(*arguments, given=given, **values)

    decorated: Any = gathered
    for name, (spec, takers) in reversed(known.items()):
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
