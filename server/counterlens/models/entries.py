"""Named models: `[models.NAME]` of a settings file describes a model behind an endpoint.

[models.fast]
base-url = "https://models.example.com/v1"
model = "coder-7b"                  # its name there; otherwise NAME
api = "chat"
key = "TEAM_KEY"                    # the environment variable that holds the key, never the key
context = 32768
concurrency = 8
requests-per-minute = 60
tokens-per-minute = 100000
thinking-tokens = 4096              # of reasoning, in addition to those of an answer
price = { input = 0.15, output = 0.6, currency = "USD" }    # per million tokens
parameters = { reasoning_effort = "low" }
template = "[INST] {prompt} [/INST]"    # around questions, without a chat API
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from counterlens.errors import OptionError
from counterlens.models.base import APIS
from counterlens.models.code_models import code_models
from counterlens.models.files import EMBEDDED_MODEL
from counterlens.models.usage import DEFAULT_CURRENCY, Price
from counterlens.nested_text import parse_toml
from counterlens.regular_file import read_text, reason_of

PYPROJECT, TABLE = "pyproject.toml", ("tool", "counterlens")
"""The other file with settings, and its table."""

CONCURRENCY = 4
"""Default number of concurrent requests."""

PLACE = "{prompt}"
"""The placeholder of the question in a template."""

_TAKEN = frozenset({"remote", EMBEDDED_MODEL, *(model.id for model in code_models())})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CURRENCY = re.compile(r"[A-Z]{3}")
_PRICES = frozenset({"input", "output", "cached", "currency"})
_OURS = frozenset(
    {
        *("model", "prompt", "suffix", "messages", "stream", "stop", "n", "seed", "temperature"),
        *(
            "max_tokens",
            "max_completion_tokens",
            "stream_options",
            "logprobs",
            "top_logprobs",
            "grammar",
            "response_format",
        ),
    }
)
"""Request parameters that decide what is measured: Counterlens chooses them."""

Where = Callable[[str], str]
"""File and line of a key of an entry."""


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A named model behind an endpoint, with everything needed to send requests except the key.

    Attributes:
        name: The user's name for it: `-m NAME`.
        base_url: The base URL, such as `https://models.example.com/v1`.
        api: `completions`, `fill` or `chat`; None: as the command says.
        key: Environment variable that holds the key; None: requests have no key.
        context: Maximum number of tokens per request, if known.
        concurrency: Maximum number of concurrent requests.
        requests_per_minute: Maximum number of requests per minute; None: unlimited.
        parameters: Further parameters of each request for a completion: a JSON object, keys in order.
        tokens_per_minute: Maximum number of tokens per minute; None: unlimited.
        thinking_tokens: Maximum tokens of reasoning, besides those of an answer; None: as the command says.
        price: The price per million tokens, if known.
        template: The text around a question, with the placeholder `{prompt}`, for an instruction model behind
            the completions API; None: questions are sent as they are.
    """

    name: str
    base_url: str
    model: str
    api: str | None = None
    key: str | None = None
    context: int | None = None
    concurrency: int = CONCURRENCY
    requests_per_minute: float | None = None
    parameters: str = "{}"
    tokens_per_minute: float | None = None
    thinking_tokens: int | None = None
    price: Price | None = None
    template: str | None = None

    @property
    def extra(self) -> dict[str, Any]:
        """The parameters as a mapping."""
        read: dict[str, Any] = json.loads(self.parameters)
        return read


def user_file() -> Path:
    """The user's own settings file; every repository may use its entries."""
    return Path(platformdirs.user_config_dir("counterlens")) / "counterlens.toml"


def user_entries() -> tuple[ModelEntry, ...]:
    """The entries of the user's own file; empty if there is none.

    Raises:
        OptionError: the file cannot be read, or has invalid content.
    """
    _, entries = _user_settings()
    return read_entries(entries, lambda name, _: f"{user_file()}, models.{name}")


def user_model() -> str:
    """The default model in the user's own file, the first of several; empty if it names none.

    Raises:
        OptionError: the file cannot be read, or has invalid content.
    """
    names, _ = _user_settings()
    listed = listed_models(names)
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise OptionError(f"{user_file()}: model is not a name", 'Write model = "NAME"')
    return listed[0] if listed else ""


def models_of(settings: Mapping[str, Any], where: object) -> tuple[object, object]:
    """What a settings file says about models: their names, and the table of named ones; each may be None.

    The names are `model`, or `models` if that is not the table.

    Args:
        settings: The file's settings.
        where: The file, for messages.

    Raises:
        OptionError: it has the names twice.
    """
    models = settings.get("models")
    if isinstance(models, dict):
        return settings.get("model"), models
    if models is not None and "model" in settings:
        raise OptionError(f"{where}: models and model are the same setting", "Omit one of them")
    return settings.get("model", models), None


def listed_models(names: object) -> object:
    """The names of models in a settings file as a list: a single one may stand alone."""
    if isinstance(names, str):
        return [names]
    return [] if names is None else names


def _user_settings() -> tuple[object, object]:
    path = user_file()
    try:
        document = parse_toml(read_text(path))
    except FileNotFoundError:
        return None, None
    except (OSError, ValueError) as error:
        raise OptionError(f"{path} cannot be read: {reason_of(error)}") from None
    other = sorted(set(document) - {"model", "models"})
    if other:
        raise OptionError(
            f"{path}: there is no setting {other[0]}", "This file may contain only model and [models.NAME]"
        )
    return models_of(document, path)


def read_entries(table: object, where: Callable[[str, str], str]) -> tuple[ModelEntry, ...]:
    """The entries of a table of tables, in order.

    Args:
        table: The value of `models` in TOML; None if there is none.
        where: Returns file and line of an entry's key, from the entry's name and the key.

    Raises:
        OptionError: an entry has an unknown key, or an invalid value.
    """
    if table is None:
        return ()
    if not isinstance(table, dict):
        raise OptionError(f"{where('', 'models')}: models is not a table", "Write [models.NAME]")
    return tuple(_entry(name, values, where) for name, values in table.items())


def check_entry(entry: ModelEntry) -> None:
    """Check an entry that was not read from a settings file.

    Raises:
        OptionError: it has a value that no settings file may have.
    """
    table = parse_toml(entry_text(entry))["models"]
    read_entries(table, lambda name, key: f"models.{name}{key and '.'}{key}")


def is_entry_name(spec: str) -> bool:
    """Whether a model's name could be the name of an entry."""
    return _NAME.fullmatch(spec) is not None and not spec.endswith(".gguf") and spec not in _TAKEN


def entry_named(spec: str, entries: Iterable[ModelEntry]) -> ModelEntry | None:
    """The entry of a name; None if there is none."""
    return next((entry for entry in entries if entry.name == spec), None)


def entry_text(entry: ModelEntry) -> str:
    """An entry in TOML, in the format of `read_entries`."""
    values: list[tuple[str, object]] = [
        ("base-url", entry.base_url),
        ("model", entry.model if entry.model != entry.name else None),
        ("api", entry.api),
        ("key", entry.key),
        ("context", entry.context),
        ("concurrency", entry.concurrency if entry.concurrency != CONCURRENCY else None),
        ("requests-per-minute", _without_fraction(entry.requests_per_minute)),
        ("tokens-per-minute", _without_fraction(entry.tokens_per_minute)),
        ("thinking-tokens", entry.thinking_tokens),
        ("price", _price_table(entry.price)),
        ("template", entry.template),
    ]
    lines = [f"{key} = {_toml(value)}" for key, value in values if value is not None]
    lines += [f"parameters.{_toml(key)} = {_toml(value)}" for key, value in entry.extra.items()]
    name = entry.name if "." not in entry.name else _toml(entry.name)
    return "\n".join([f"[models.{name}]", *lines]) + "\n"


def _without_fraction(number: float | None) -> float | None:
    """A number without a superfluous fraction: 60 instead of 60.0."""
    return int(number) if number is not None and number.is_integer() else number


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_toml(key)} = {_toml(part)}' for key, part in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _entry(name: str, values: object, where: Callable[[str, str], str]) -> ModelEntry:
    if not is_entry_name(name):
        raise OptionError(
            f"{where(name, '')}: {name!r} cannot be the name of a model",
            "Letters, digits, dots, underscores and hyphens; not the name of a file, nor remote",
        )
    if not isinstance(values, dict):
        raise OptionError(f"{where(name, '')}: models.{name} is not a table", f"Write [models.{name}]")
    for key, value in values.items():
        setting = _KEYS.get(key)
        if setting is None:
            raise OptionError(
                f"{where(name, key)}: a model has no setting {key}", f"Available: {', '.join(_KEYS)}"
            )
        fits, wanted = setting
        if not fits(value):
            shown = "what it is" if key == "key" else repr(value)
            raise OptionError(f"{where(name, key)}: {key} cannot be {shown}: it must be {wanted}")
    if "base-url" not in values:
        raise OptionError(
            f"{where(name, '')}: models.{name} has no base-url", "Give the address of its endpoint"
        )
    return ModelEntry(
        name=name,
        base_url=values["base-url"],
        model=values.get("model", name),
        api=values.get("api"),
        key=values.get("key"),
        context=values.get("context"),
        concurrency=values.get("concurrency", CONCURRENCY),
        requests_per_minute=_number(values.get("requests-per-minute")),
        parameters=json.dumps(values.get("parameters", {}), sort_keys=True),
        tokens_per_minute=_number(values.get("tokens-per-minute")),
        thinking_tokens=values.get("thinking-tokens"),
        price=_price(values.get("price")),
        template=values.get("template"),
    )


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _price(table: Mapping[str, Any] | None) -> Price | None:
    if table is None:
        return None
    return Price(
        float(table["input"]),
        float(table["output"]),
        table.get("currency", DEFAULT_CURRENCY),
        _number(table.get("cached")),
    )


def _price_table(price: Price | None) -> dict[str, object] | None:
    """A price in the format of a settings file."""
    if price is None:
        return None
    table: dict[str, object] = {"input": price.input, "output": price.output}
    if price.currency != DEFAULT_CURRENCY:
        table["currency"] = price.currency
    return table if price.cached is None else {**table, "cached": price.cached}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_template(value: object) -> bool:
    return isinstance(value, str) and value.count(PLACE) == 1


def _is_whole(low: int, high: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_rate(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")


def _is_price(value: object) -> bool:
    if not isinstance(value, Mapping) or not {"input", "output"} <= value.keys() <= _PRICES:
        return False
    amounts = [amount for name, amount in value.items() if name != "currency"]
    currency = value.get("currency", DEFAULT_CURRENCY)
    sound = isinstance(currency, str) and _CURRENCY.fullmatch(currency) is not None
    return sound and all(amount == 0 or _is_rate(amount) for amount in amounts)


def _are_parameters(value: object) -> bool:
    if not isinstance(value, Mapping) or _OURS & value.keys():
        return False
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):  # a date, or a number that JSON does not have
        return False
    return True


_KEYS: dict[str, tuple[Callable[[object], bool], str]] = {
    "base-url": (_is_text, "an address such as http://127.0.0.1:8080/v1"),
    "model": (_is_text, "the name of the model at its endpoint"),
    "api": (lambda value: value in APIS, f"one of {', '.join(APIS)}"),
    "key": (
        lambda value: isinstance(value, str) and _VARIABLE.fullmatch(value) is not None,
        "the name of the environment variable that holds the key, never the key itself",
    ),
    "context": (_is_whole(1, 2**31), "an integer of tokens"),
    "concurrency": (_is_whole(1, 64), "an integer from 1 to 64"),
    "requests-per-minute": (_is_rate, "a number above 0"),
    "tokens-per-minute": (_is_rate, "a number above 0"),
    "thinking-tokens": (_is_whole(0, 2**20), "an integer of tokens; 0 for no separate limit"),
    "price": (
        _is_price,
        'the price per million tokens, such as { input = 0.15, output = 0.6, currency = "USD" }, and cached '
        "for cached tokens",
    ),
    "template": (_is_template, f"a text with {PLACE} once, instead of the question"),
    "parameters": (
        _are_parameters,
        f"a table that can be written as JSON, without {', '.join(sorted(_OURS))}",
    ),
}
