"""Groups and commands as click shows them: subcommands imported on first use, and brief help."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from importlib import import_module
from typing import Any

import click

_ALL = "counterlens.help_all"
CONFIG = "counterlens.config"
"""The key in a context's data for the named settings file, and whether to read none."""


class BriefCommand(click.Command):
    """A command with a short help.

    Args:
        usual: The flags in the short help, without dashes, by the title of their group.
        settings: See `click.Command`.
    """

    def __init__(self, *, usual: Mapping[str, Sequence[str]], **settings: Any) -> None:
        self._usual = usual
        further = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=self._show_all,
            help="Show every option and exit.",
        )
        super().__init__(**{**settings, "params": [*settings.get("params", ()), further]})

    def narrowed(self, parent: click.Context, args: list[str]) -> BriefCommand:  # noqa: ARG002
        """The command with the options that some arguments need, where it can tell; otherwise itself."""
        return self

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups; those without a group only for `--help-all`."""
        options = {max(option.opts, key=len).lstrip("-"): option for option in self.get_params(ctx)}
        for title, flags in self._usual.items():
            _write(title, [options.pop(flag) for flag in flags], ctx, formatter)
        helps = [options.pop(flag) for flag in ("help", "help-all")]
        if ctx.meta.get(_ALL):
            _write("Further options", options.values(), ctx, formatter)
        _write("Help", helps, ctx, formatter)

    def _show_all(self, ctx: click.Context, _parameter: click.Parameter, given: bool) -> None:
        if given and not ctx.resilient_parsing:
            ctx.meta[_ALL] = True
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()


def _write(
    title: str, parameters: Iterable[click.Parameter], ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    records = [record for parameter in parameters if (record := parameter.get_help_record(ctx))]
    if records:
        with formatter.section(title):
            formatter.write_dl(records)


class LazyGroup(click.Group):
    """Imports a subcommand when it is called, or all of them when they are listed.

    Args:
        places: Modules of the subcommands, by name; the command has the same name in its module.
    """

    def __init__(self, *, places: Mapping[str, str], **options: Any) -> None:
        super().__init__(**options)
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names, in alphabetical order."""
        return sorted(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The subcommand with a name, if there is one."""
        place = self._places.get(cmd_name)
        if place is None:
            return None
        with without_collection():
            command = getattr(import_module(place), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand and its arguments, after a check for contradictory ones.

        Raises:
            click.UsageError: an option for one value has several.
        """
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, BriefCommand):
            command = command.narrowed(ctx, rest)
        if name is not None and command is not None:
            _require_one_value(ctx, name, command, rest)
        return name, command, rest


@contextmanager
def without_collection() -> Iterator[None]:
    """Disable garbage collection while modules are imported: it takes time and frees nothing."""
    enabled, module_count = gc.isenabled(), len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
        if len(sys.modules) > module_count:
            gc.freeze()  # later collections need not search the modules either


def _require_one_value(parent: click.Context, name: str, command: click.Command, args: list[str]) -> None:
    """Refuse repeated options, of which click would drop all values but the last."""
    parameters = [copy(each) for each in command.params]
    for parameter in filter(_takes_one, parameters):
        parameter.multiple = True
    twin = click.Command(name, params=parameters)
    context = click.Context(twin, parent, name)
    try:
        values, _, _ = twin.make_parser(context).parse_args(list(args))
    except click.UsageError:
        return  # the command's own parser reports the error
    for parameter in filter(_takes_one, command.params):
        given = dict.fromkeys(values.get(parameter.name) or ())
        if len(given) > 1:
            flag = parameter.opts[0]
            raise click.UsageError(f"{flag} takes one value, but is given {', '.join(given)}", parent)


def _takes_one(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and not (
        parameter.multiple or parameter.is_flag or parameter.count or parameter.nargs != 1
    )
