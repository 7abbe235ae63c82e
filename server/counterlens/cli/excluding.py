"""The option that excludes tests, for commands that run tests but no probe."""

from __future__ import annotations

import click

from counterlens.probes.options import specs
from counterlens.probes.pairs.completion import CompletionOptions

_EXCLUDED = specs(CompletionOptions)["excluded_tests"]
excluded_tests_option = click.option(
    "--excluded-tests", multiple=True, metavar=_EXCLUDED.metavar, help=_EXCLUDED.help
)
