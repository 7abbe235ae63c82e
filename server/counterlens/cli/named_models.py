"""`counterlens models add` and `allow`: models behind endpoints with a name in a settings file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from counterlens.cli.options import entries_of
from counterlens.cli.report_output import write_page
from counterlens.cli.saying import say
from counterlens.errors import ModelError, OptionError
from counterlens.models.base import APIS
from counterlens.models.connection_test import run_connection_test
from counterlens.models.entries import CONCURRENCY, ModelEntry, read_entries, user_entries, user_file
from counterlens.models.remote import connect_entry
from counterlens.models.remote.consent import Destination

THINKS = "it reasons before it answers: set --thinking-tokens, or thinking-tokens in its entry, such as 4096"
"""Advice about a model that reasons."""


@click.command("add")
@click.argument("name", metavar="NAME")
@click.option("--base-url", metavar="URL", required=True, help="Base URL, such as http://127.0.0.1:8080/v1.")
@click.option("--model", "-m", metavar="M", help="Name of the model at its endpoint. Default: NAME.")
@click.option(
    "--api",
    type=click.Choice(APIS),
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
    from counterlens.evaluation.settings_file import with_entry  # imports all probes

    entry = _entry(name, parameters, values)
    path = target or user_file()
    text = with_entry(path, entry)
    with connect_entry(entry, allowed=True) as model:
        trial = run_connection_test(model)
    Destination.of(entry).allow()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_page(path, text)
    say(f"{entry.model} at {trial.info.where} answers in {trial.seconds:.1f} s: {trial.completion!r}")
    if trial.thought and not entry.thinking_tokens:
        say(THINKS)
    say(f"stored as {name} in {path}; test it with: counterlens models test {name}")


def named_models() -> list[ModelEntry]:
    """All named models, sorted by name: the user's own, and those of the repository.

    Raises:
        OptionError: a settings file cannot be read, or has invalid content.
    """
    from counterlens.cli.probe_options import from_file

    file = from_file(click.get_current_context())
    found = {entry.name: entry for entry in (*(file.entries if file else ()), *user_entries())}
    return [found[name] for name in sorted(found)]


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
            table["parameters"] = json.loads(parameters)
        except ValueError:
            raise OptionError(f"--parameters is not JSON: {parameters}", 'Such as {"top_k": 1}') from None
    return read_entries({name: table}, lambda _, key: f"--{key}" if key else name)[0]
