"""`counterlens models`: which models there are, and whether one answers."""

from __future__ import annotations

import time

import click
from rich.table import Table

from counterlens.cli.options import json_option, model_options, opened, print_json, print_report
from counterlens.errors import ModelError
from counterlens.models import Capability, Prompt, Stop
from counterlens.models.files import embedded_model
from counterlens.models.registry import BACKENDS, DEFAULT_MODEL
from counterlens.reports import json as plain

_PROMPT = "def add(a, b):\n    return"


@click.group(invoke_without_command=True)
@click.pass_context
def models(context: click.Context) -> None:
    """List the models that can be used, or test one."""
    if context.invoked_subcommand is None:
        context.invoke(list_models)


@models.command("list")
@json_option
def list_models(as_json: bool = False) -> None:
    """List the models that can be used."""
    rows = []
    for backend in BACKENDS:
        state = "ready" if backend.form != DEFAULT_MODEL else _embedded_state()
        rows.append({"id": backend.form, "description": backend.description, "state": state})
    if as_json:
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("model", "what it is", "state"):
        table.add_column(column)
    for row in rows:
        table.add_row(row["id"], row["description"], row["state"])
    print_report(table)


@models.command("test")
@click.argument("name", metavar="M", default=DEFAULT_MODEL)
@model_options
@json_option
def test_model(name: str, model: str, base_url: str | None, api: str, threads: int, as_json: bool) -> None:
    """Load a model and let it complete one line."""
    del model  # the argument names it
    started = time.perf_counter()
    with opened(name, threads, base_url, api, no_cache=True) as loaded:
        ready = time.perf_counter()
        (answer,) = loaded.complete([Prompt(_PROMPT, 16, Stop(indent=0))])
        answered = time.perf_counter()
        scores = loaded.offers(Capability.SCORE, anew=True)
        document = {
            "model": loaded.info.id,
            "model_info": plain.model(loaded.info),
            "prompt": _PROMPT,
            "completion": answer.text,
            "tokens": answer.tokens,
            "load_seconds": ready - started,
            "answer_seconds": answered - ready,
            "ok": True,
        }
        way = dict(loaded.info.details).get("probabilities")
    if as_json:
        print_json(document)
        return
    click.echo(f"{loaded.info.name} answers ({loaded.info.where}).")
    click.echo(f"  {_PROMPT!r} was continued with {answer.text!r}")
    click.echo(f"  loaded in {ready - started:.1f} s, {answer.tokens} tokens in {answered - ready:.1f} s")
    can = "completions and token probabilities" if scores else "completions only, no token probabilities"
    click.echo(f"  it gives {can}" + (f" ({way})" if scores and way else ""))


def _embedded_state() -> str:
    try:
        embedded_model()
    except ModelError as error:
        return error.message
    return "ready"
