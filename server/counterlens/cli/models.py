"""`counterlens models`: lists the available models, and tests one."""

from __future__ import annotations

import time
from dataclasses import replace

import click
from rich.table import Table

from counterlens.cli.named_models import THINKS, add_model, allow_model, named_models
from counterlens.cli.options import ChosenModel, json_option, model_options, print_json, print_report, steps
from counterlens.cli.saying import say
from counterlens.cli.untaken import refuse_given
from counterlens.errors import ModelError
from counterlens.models.base import ASKED
from counterlens.models.code_models import code_models
from counterlens.models.connection_test import run_connection_test
from counterlens.models.files import embedded_model
from counterlens.models.registry import BACKENDS, DEFAULT_MODEL, Backend
from counterlens.models.remote.consent import Destination
from counterlens.reports.export import json as plain


@click.group(invoke_without_command=True)
@click.pass_context
def models(context: click.Context) -> None:
    """List available models, or test one."""
    if context.invoked_subcommand is None:
        context.invoke(list_models)


@models.command("list")
@json_option
def list_models(as_json: bool = False) -> None:
    """List available models."""
    rows = [
        {"id": one.form, "description": one.description, "state": _state(one)} for one in BACKENDS.values()
    ]
    for entry in named_models():
        where = f"{entry.model} at {entry.base_url}"
        state = "ready" if Destination.of(entry).is_allowed else f"counterlens models allow {entry.name}"
        rows.append({"id": entry.name, "description": where, "state": state})
    if as_json:
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("model", "what it is", "state"):
        table.add_column(column)
    for row in rows:
        table.add_row(row["id"], row["description"], row["state"])
    print_report(table)


@models.command("fetch")
@click.argument("name", metavar="NAME", required=False)
def fetch_model(name: str | None) -> None:
    """Fetch a code model of the Hugging Face hub: NAME from the list, or hf:OWNER/REPO/FILE.gguf.

    Without NAME, list those that are offered. The file is checked against the hash that the hub names.
    """
    from counterlens.models.hub import fetch  # imports an HTTP client
    from counterlens.models.hub_file import HubFile

    if name is None:
        for one in code_models():
            here = "here" if HubFile(one.repository, one.file).here() else f"about {one.bytes / 1e9:.1f} GB"
            licence = one.licence if one.commercial else f"{one.licence}: no commercial use"
            say(f"{one.id}  {one.name}, {licence}, {here}")
        return
    spec = next((one.spec for one in code_models() if one.id == name), name)
    if not spec.startswith("hf:"):
        offered = ", ".join(one.id for one in code_models())
        raise ModelError(
            f"there is no offered model {name}", f"Available: {offered}; or write hf:OWNER/REPO/FILE.gguf"
        )
    with steps(f"fetching {name}", total_known=True) as report:
        path = fetch(
            spec.removeprefix("hf:"),
            lambda done, total: report(f"fetching {name}, {total / 1e6:.0f} MB", done, total),
        )
    say(f"{path}")
    say(f"ask it with: -m {spec}")


models.add_command(add_model)
models.add_command(allow_model)


@models.command("test")
@click.argument("name", metavar="[M]", required=False)
@model_options
@json_option
def test_model(name: str | None, model: ChosenModel, as_json: bool) -> None:
    """Load a model and let it complete one line: M, the same as -m M."""
    if name is not None:
        refuse_given(("model",), f"the model is named already: {name}")
        model = replace(model, name=name)
    started = time.perf_counter()
    with replace(model, cached=False).opened() as loaded:
        load_seconds = time.perf_counter() - started
        trial = run_connection_test(loaded)
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
            "ok": True,
        }
        print_json(document)
        return
    say(f"{trial.info.name} answers ({trial.info.where}).")
    say(f"  {trial.prompt!r} was continued with {trial.completion!r}")
    say(f"  loaded in {load_seconds:.1f} s, {trial.tokens} tokens in {trial.seconds:.1f} s")
    if trial.thought:
        say(f"  {THINKS}")
    if asked := dict(trial.info.details).get(ASKED):
        say(f"  it is asked {asked}")
    can = (
        "completions and token probabilities" if trial.scores else "completions only, no token probabilities"
    )
    also = "; embeddings" if trial.embeds else "; no embeddings"
    say(f"  it gives {can}" + (f" ({trial.way})" if trial.scores and trial.way else "") + also)


def _state(backend: Backend) -> str:
    if backend.missing:
        return f"{backend.missing} is not installed"
    try:
        if backend.form == DEFAULT_MODEL:
            embedded_model()
    except ModelError as error:
        return error.message
    return "ready"
