"""`counterlens`: the subcommands, and the handling of errors.

Exit codes: 0 done, 1 failed, 2 bad usage, 3 a model certainly keeps less than `--fail-under`, 4 it has
fewer informative pairs than `--min-informative`, 130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import NoReturn

import click

import counterlens
from counterlens.cli.interrupting import INTERRUPTED, end_at_interrupt, ignore_interrupts
from counterlens.cli.lazy import CONFIG, LazyGroup
from counterlens.cli.output import OutputError, take_streams
from counterlens.cli.saying import say, say_document
from counterlens.environment import close_environment, closed_folders
from counterlens.errors import CounterlensError, OptionError
from counterlens.text import json_text

_COMMANDS = (
    "probe",
    "score",
    "calibrate",
    "causal",
    "judge",
    "mutate",
    "mutants",
    "dependence",
    "bench",
    "reproduce",
    "check",
    "complete",
    "changed",
    "report",
    "compare",
    "replay",
    "export",
    "data",
    "init",
    "models",
    "doctor",
    "serve",
    "mcp",
)
_SINGLE, _RUNS = ("probe",), ("bench", "changed", "reproduce")  # the commands that settings files affect
# The module of a subcommand has its name, except for subcommands on the results of a run.
_PLACES = dict.fromkeys(("compare", "replay", "export"), "report")


@click.group(
    cls=LazyGroup,
    places={name: f"counterlens.cli.{_PLACES.get(name, name)}" for name in _COMMANDS},
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(counterlens.__version__, prog_name="counterlens")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Settings file for bench, changed and probe, with named models. Default: the nearest "
    "counterlens.toml, or pyproject.toml with [tool.counterlens], in this folder or above it in the "
    "repository.",
)
@click.option("--no-config", is_flag=True, help="Read no settings file.")
@click.pass_context
def cli(context: click.Context, config: Path | None, no_config: bool) -> None:
    """Does the model understand this code, or does it only recognise it?"""
    context.meta[CONFIG] = config, no_config
    if context.invoked_subcommand in (*_SINGLE, *_RUNS):
        from counterlens.cli.probe_options import from_file, use_file

        file = from_file(context)
        if file is not None:
            use_file(context, file, _SINGLE, _RUNS)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and end the process."""
    arguments = sys.argv[1:] if arguments is None else arguments
    close_environment()
    # NumPy's library would start a thread per processor; they spin while they wait, at each start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        end_at_interrupt()
        output = take_streams()
        try:
            if _may_hold_packages(closed_folders):
                _name_ignored_plugins()
            code = _run(arguments)
            if not sys.stdout.closed:  # a server has closed it at its end
                sys.stdout.flush()
        except OSError:
            if output.failure is None:
                raise
            code = 1
        output.require()
    except (KeyboardInterrupt, click.Abort):
        ignore_interrupts()
        say("interrupted", err=True)
        code = INTERRUPTED
    except OutputError as error:
        _show(error, as_json=False)
        code = 1
    sys.exit(code)


def _may_hold_packages(folders: Iterable[str]) -> bool:
    """Whether a folder has the metadata of a package; reading it would take long at each start."""
    for folder in folders:
        with suppress(OSError):
            if any(name.endswith((".dist-info", ".egg-info")) for name in os.listdir(folder)):  # noqa: PTH208
                return True
    return False


def _name_ignored_plugins() -> None:
    from counterlens.plugins import packages_with_plugins

    for name in packages_with_plugins(closed_folders):
        say(
            f"note: the plug-ins of {name} are ignored: only PYTHONPATH or the current folder has them, "
            "whose code runs if it is trusted; install the package, or name its folder in PYTHONPATH and set "
            "COUNTERLENS_TRUST=1",
            err=True,
        )


def _name_plugins_to_install() -> None:
    """Say which plug-ins a failed command may have been about."""
    from counterlens.plugins import projects_with_plugins

    with suppress(OSError):
        for place, name in projects_with_plugins(Path.cwd()).items():
            folder = "." if place == Path.cwd() else f"./{place.name}"
            say(
                f"note: the plug-ins of {name}, in {folder}, are not used, as the package is not installed: "
                f"{quote(sys.executable)} -m pip install {quote(folder)}",
                err=True,
            )


def _run(arguments: list[str]) -> int:
    """Run a command, show its error if it fails, and return its exit code."""
    try:
        return cli.main(args=arguments, standalone_mode=False) or 0
    except click.ClickException as error:
        usage_error = io.StringIO()
        error.show(usage_error)
        say(usage_error.getvalue().rstrip(), err=True)
        _name_plugins_to_install()
        return error.exit_code
    except CounterlensError as error:
        _show(error, as_json="--json" in arguments)
        _name_plugins_to_install()
        return 2 if isinstance(error, OptionError) else 1


def _show(error: CounterlensError, *, as_json: bool) -> None:
    if as_json:
        say_document(json_text({"error": {"message": error.message, "hint": error.hint}}) + "\n")
    say(f"error: {error.message}", err=True, colour="red")
    if error.hint:
        say(f"  {error.hint}", err=True)
