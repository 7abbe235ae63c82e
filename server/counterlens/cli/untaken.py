"""Refuses options that would have no effect."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.core import ParameterSource

MODEL_OPTIONS = ("model", "threads", "base_url", "api", "mask", "thinking_tokens", "no_cache")
"""Parameters of `options.model_options` and `options.cache_option`."""


def refuse_given(names: Iterable[str], reason: str) -> None:
    """Refuse parameters of the running command that are on the command line.

    Args:
        names: The parameters, as Python names.
        reason: Completes a sentence that begins with the options, such as "needs --infer".

    Raises:
        click.UsageError: one is given.
    """
    context, wanted = click.get_current_context(), set(names)
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in wanted
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"{', '.join(sorted(given))}: {reason}")
