"""Commands with many options: `--help` shows the usual ones, in groups, and `--help-all` the others, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click


class BriefCommand(click.Command):
    """A command with a short help.

    Args:
        usual: The flags in the short help, without dashes, by the title of their group.
        settings: See `click.Command`.
    """

    def __init__(self, *, usual: Mapping[str, Sequence[str]], **settings: Any) -> None:
        super().__init__(**settings)
        self._usual = usual
        self.params.append(
            click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=self._show_all,
                help="Show every option and exit.",
            )
        )

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


_ALL = "counterlens.help_all"


def _write(
    title: str, parameters: Iterable[click.Parameter], ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    records = [record for parameter in parameters if (record := parameter.get_help_record(ctx))]
    if records:
        with formatter.section(title):
            formatter.write_dl(records)
