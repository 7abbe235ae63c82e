"""Options and output shared by several subcommands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import click
from click.core import ParameterSource
from rich.console import Console, RenderableType

from counterlens.cli.flags import declared_options
from counterlens.cli.saying import at_terminal, say, say_document
from counterlens.errors import OptionError, SandboxError
from counterlens.models import Model, load
from counterlens.models.entries import ModelEntry, is_entry_name
from counterlens.models.opening import open_cached
from counterlens.models.registry import SOME_TAKE, Options, takes
from counterlens.probes.common_options import BaseUrl, GpuLayers, Mask, PromptFormat, ThinkingTokens, Threads
from counterlens.probes.options import option, specs
from counterlens.sandbox.base import Sandbox
from counterlens.sandbox.registry import best_sandbox, choose
from counterlens.text import json_text
from counterlens.trust import TrustError, remember, require_trust

if TYPE_CHECKING:
    from counterlens.reports.document import Report

Command = TypeVar("Command", bound=Callable[..., Any])
_WEAKER, _TRUST = "counterlens.allow_weaker_sandbox", "counterlens.trust"


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
"""`--json`: one document on standard output, everything else on standard error."""
cache_option = click.option("--no-cache", is_flag=True, help="Ignore cached responses.")
"""`--no-cache`, for `model_options`: ignore cached responses."""
exact_option = click.option(
    "--exact",
    is_flag=True,
    help="Refuse a model whose completions are not exact. Local models decode exactly if they can.",
)
"""`--exact`, for `model_options`: refuse a model whose completions depend on the other prompts of a batch."""


def format_options(formats: Iterable[str]) -> Callable[[Command], Command]:
    """`--format` and `--json`, passed to the command as `form`; text by default."""
    names = list(formats)

    def decorated(command: Command) -> Command:
        @wraps(command)
        def gathered(*arguments: Any, form: str, as_json: bool, **others: Any) -> Any:
            if as_json and form not in {"text", "json"}:
                raise click.UsageError("--json and --format exclude each other")
            return command(*arguments, form="json" if as_json else form, **others)

        as_json = click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
        choice = click.option(
            "--format",
            "form",
            type=click.Choice(names),
            default="text",
            show_default=True,
            help="Output format.",
        )
        return cast(Command, choice(as_json(gathered)))

    return decorated


@dataclass(frozen=True)
class ChosenModel:
    """The model chosen by the options.

    Attributes:
        typed: Its name, as the user typed it; None for the default model, which is looked up, with advice to
            the user, when it is first needed: many commands ask no model, or another one.
        options: The options for opening it.
        cached: Whether to use cached responses.
        given: Names of the options of `SOME_TAKE` that the user typed for this model.
    """

    typed: str | None
    options: Options
    cached: bool = True
    given: frozenset[str] = frozenset()

    @cached_property
    def name(self) -> str:
        """The name of the model that is asked."""
        if self.typed:
            return self.typed
        from counterlens.cli.default_model import default_for_command

        return default_for_command()

    def named(self, name: str) -> ChosenModel:
        """The same choice with another model, for embeddings."""
        options = replace(self.options, api=None)
        return replace(self, typed=name, options=options, given=frozenset())

    @property
    def opening(self) -> Options:
        """The options for opening the model, including the settings for its name.

        Raises:
            OptionError: a settings file cannot be read, or a typed option does not affect this model.
        """
        named = is_entry_name(self.name)
        entries = entries_of(self.name) if named else ()
        refuse_untaken(self.given, [self.name], entries)
        return replace(self.options, entries=entries) if named else self.options

    def opened(self) -> Model:
        """Open the model; the caller closes it.

        Raises:
            ModelError: it cannot be opened.
            OptionError: as `opening`.
        """
        return (open_cached if self.cached else load)(self.name, self.opening)


def refuse_untaken(given: Iterable[str], names: Sequence[str], entries: tuple[ModelEntry, ...]) -> None:
    """Check that each option that the user typed affects some model.

    Args:
        given: Names of options of `SOME_TAKE`.
        names: Names of the models, see `counterlens.models.load`.
        entries: Named models of settings files.

    Raises:
        OptionError: an option affects none.
        ModelError: there is no such model.
    """
    for parameter in sorted(given):
        if not any(takes(name, parameter, entries) for name in names):
            flag = f"--{parameter.replace('_', '-')}"
            raise OptionError(
                f"{flag} has no effect on {' or '.join(names)}: it is for {SOME_TAKE[parameter]}",
                f"Leave out {flag}",
            )


def typed_parameters(names: Iterable[str]) -> frozenset[str]:
    """The subset of some parameters that the user typed."""
    context = click.get_current_context()
    return frozenset(
        name for name in names if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    )


def entries_of(*names: str) -> tuple[ModelEntry, ...]:
    """Look up named models in the user's and the repository's settings files.

    Raises:
        OptionError: a file cannot be read, or has invalid content.
    """
    from counterlens.cli.probe_options import from_file  # imports all probes, which take a while to load
    from counterlens.evaluation.settings_file import known_entries

    context = click.get_current_context(silent=True)
    return known_entries(None if context is None else from_file(context), *names)


@dataclass(frozen=True, slots=True)
class OpeningOptions:
    """The options for opening one model."""

    model: Annotated[
        str | None,
        option(
            "Name of a code model, a GGUF file, hf:OWNER/REPO/FILE.gguf, onnx:FOLDER, onnx:OWNER/REPO, "
            "remote:NAME, or a name in [models]. Default: `counterlens models` marks it.",
            metavar="M",
        ),
    ] = None
    base_url: BaseUrl = None
    mask: Mask = "word"
    thinking_tokens: ThinkingTokens = None
    api: PromptFormat = None
    gpu_layers: GpuLayers = "auto"
    threads: Threads = 0


def model_options(command: Command) -> Command:
    """`--model` and the options for opening it, passed to the command as one `ChosenModel`, `model`."""

    @wraps(command)
    def gathered(*arguments: Any, no_cache: bool = False, exact: bool = False, **others: Any) -> Any:
        name, *values = (others.pop(name) for name in specs(OpeningOptions))
        options = Options(exact=exact, **dict(zip(_OPENING, values, strict=True)))
        chosen_model = ChosenModel(name, options, not no_cache, typed_parameters(SOME_TAKE))
        return command(*arguments, model=chosen_model, **others)

    return declared_options(OpeningOptions)(cast("Command", gathered))


_, *_OPENING = specs(OpeningOptions)


def sandbox_option(command: Command) -> Command:
    """`--allow-weaker-sandbox` and `--trust`: for `strong_sandbox`."""

    def trust(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        context.meta[_TRUST] = value and context.get_parameter_source(parameter.name or "")

    trusting = click.option(
        "--trust",
        is_flag=True,
        expose_value=False,
        callback=trust,
        envvar="COUNTERLENS_TRUST",
        help="Trust the repository: its tests and what they import may run in the sandbox. The choice is "
        "remembered.",
    )
    return trusting(weaker_option(command))


def weaker_option(command: Command) -> Command:
    """`--allow-weaker-sandbox`: for `strong_sandbox`, where no code of a repository runs."""

    def note(context: click.Context, _: click.Parameter, value: bool) -> None:
        context.meta[_WEAKER] = value

    return click.option(
        "--allow-weaker-sandbox",
        is_flag=True,
        expose_value=False,
        callback=note,
        envvar="COUNTERLENS_ALLOW_WEAKER_SANDBOX",
        help="Also run programs in a weak sandbox; `counterlens doctor` says what it lacks.",
    )(command)


def require_trusted(*places: Path, would_run: str = "its tests, and what they import") -> None:
    """Continue only if the repositories that contain some places are trusted; a terminal asks the user once.

    Raises:
        TrustError: one is not trusted.
    """
    context = click.get_current_context(silent=True)
    given = context.meta.get(_TRUST) if context is not None else None
    if given is ParameterSource.COMMANDLINE:
        for place in places:
            remember(place)
    decided = True if given else None
    try:
        require_trust(places, would_run, decided=decided)
    except TrustError as error:
        if not at_terminal():
            raise
        say(error.message, err=True)
        if not click.confirm("Do you trust it, so that it may run in the sandbox?", default=False, err=True):
            raise
        for place in places:
            remember(place)


def weaker_allowed() -> bool:
    """Whether the user allowed a weak sandbox."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_WEAKER))


def strong_sandbox(*places: Path) -> Sandbox:
    """The sandbox for programs; a weak one only if the user allows it, with a warning.

    Args:
        places: Files and folders of the programs.

    Raises:
        SandboxError: there is none, or only a weak one.
        TrustError: the user does not trust a repository around one of the places.
    """
    require_trusted(*places)
    best = choose()
    if best.weak:
        what = f"the only sandbox here is weak: {best.name} {best.reason}"
        if not weaker_allowed():
            raise SandboxError(
                what, "docs/sandbox.md lists stronger ones; --allow-weaker-sandbox permits this one"
            )
        say(f"warning: {what}", err=True, colour="yellow")
    return best_sandbox()


def split_target(target: str) -> tuple[Path, str | None]:
    """Split `PATH[::QUALNAME]` into its parts.

    Raises:
        click.UsageError: a part is empty, or one colon separates them.
    """
    path, colons, qualname = target.partition("::")
    if not path or (colons and not qualname):
        raise click.UsageError(f"{target!r} is not of the form PATH or PATH::QUALNAME")
    file, colon, name = target.rpartition(":")
    if not colons and colon and name and not Path(target).exists() and Path(file).is_file():
        raise click.UsageError(f"two colons precede the name of a function: {file}::{name}")
    return Path(path), qualname or None


def print_json(document: Any) -> None:
    """Print one JSON document to standard output."""
    say_document(json_text(document) + "\n")


def show(report: Report, document: Callable[[], Any], *, as_json: bool) -> None:
    """Print a result to standard output: its report as text, or one JSON document."""
    from counterlens.reports.render import terminal  # most commands that import this show no report

    if as_json:
        print_json(document())
    else:
        print_report(terminal.render(report))


def print_report(report: RenderableType) -> None:
    """Print a report to standard output; wide enough for code even without a terminal."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=100)
    console.print(report)


def excluded_tests_option(command: Command) -> Command:
    """`--excluded-tests`, as the completion probe declares it."""
    from counterlens.probes.options import specs  # they import every dataset and the pairs
    from counterlens.probes.pairs.completion import CompletionOptions

    spec = specs(CompletionOptions)["excluded_tests"]
    return click.option("--excluded-tests", multiple=True, metavar=spec.metavar, help=spec.help)(command)


MODEL_OPTIONS = (*specs(OpeningOptions), "no_cache")
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
