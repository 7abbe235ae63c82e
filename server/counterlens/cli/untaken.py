"""Refuses options that would have no effect."""

from __future__ import annotations

from collections.abc import Iterable

import click

from counterlens.cli.options import typed_parameters

MODEL_OPTIONS = ("model", "threads", "gpu_layers", "base_url", "api", "mask", "thinking_tokens", "no_cache")
"""Parameters of `options.model_options` and `options.cache_option`."""


def refuse_given(names: Iterable[str], reason: str) -> None:
    """Refuse parameters of the running command that are on the command line.

    Args:
        names: The parameters, as Python names.
        reason: Completes a sentence that begins with the options, such as "needs --infer".

    Raises:
        click.UsageError: one is given.
    """
    given = typed_parameters(names)
    if given:
        flags = [
            parameter.opts[0]
            for parameter in click.get_current_context().command.params
            if parameter.name in given
        ]
        raise click.UsageError(f"{', '.join(sorted(flags))}: {reason}")
