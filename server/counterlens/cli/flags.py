"""Flags of options that a class declares as annotated fields (`probes/options.py`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

from counterlens.errors import OptionError
from counterlens.mutations.cuts import Ratio
from counterlens.probes.options import OptionSpec, specs
from counterlens.text import form_in_words, has_form

Command = TypeVar("Command", bound=Callable[..., Any])


_LONGEST = 86_400.0  # seconds


class FormType(click.ParamType[str]):
    """A text of a form, see `counterlens.text.has_form`."""

    name = "text"

    def __init__(self, form: str) -> None:
        self._form = form

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> str:
        """Like `click.ParamType.convert`."""
        if not has_form(self._form, value):
            self.fail(f"{value!r} is not {form_in_words(self._form)}", parameter, context)
        return str(value)


class DurationType(click.ParamType[float]):
    """Seconds, such as `60s`, or minutes, such as `2m`."""

    name = "duration"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        """Like `click.ParamType.convert`."""
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|min)?", str(value).strip())
        seconds = float(match[1]) * (1 if match[2] in {None, "s"} else 60) if match else 0.0
        if not 0 < seconds <= _LONGEST:
            self.fail(f"{value!r} is no time such as 60s or 2m, of at most a day", parameter, context)
        return seconds


class RatioType(click.ParamType[Ratio]):
    """A number such as `0.75`, or a range such as `0.4-0.6`."""

    name = "ratio"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Ratio:
        if not isinstance(value, str):
            return cast("Ratio", value)
        try:
            parts = [float(part) for part in value.split("-")]
        except ValueError:
            parts = []
        if not 1 <= len(parts) <= 2:
            self.fail(f"{value!r} is neither a number nor a range such as 0.4-0.6", parameter, context)
        return parts[0] if len(parts) == 1 else (parts[0], parts[1])


def declared_options(options: type[Any]) -> Callable[[Command], Command]:
    """Add the flags of one class of options; the command gets each value by its field's name."""

    def decorate(command: Command) -> Command:
        decorated: Any = command
        for name, spec in reversed(specs(options).items()):
            shown = spec.default not in (None, False, ())
            decorated = flag_of_option(name, spec, spec.help, spec.default, shown=shown)(decorated)
        return cast("Command", decorated)

    return decorate


def flag_of_option(
    name: str, spec: OptionSpec, text: str, default: Any, *, shown: bool = False
) -> Callable[[Any], Any]:
    """Add the flag of an option to a command, which gets its value by the option's name."""
    settings = _settings_of(spec, text, default, shown=shown)
    return click.option(*_spellings(name, spec), **settings)


def parameter_of_option(name: str, spec: OptionSpec, text: str) -> click.Option:
    """The flag of an option without a default."""
    return click.Option(_spellings(name, spec), **_settings_of(spec, text, None, shown=False))


def _spellings(name: str, spec: OptionSpec) -> list[str]:
    return [spec.flag, *(["-m"] if spec.flag == "--model" else []), name]


def _settings_of(spec: OptionSpec, text: str, default: Any, *, shown: bool) -> dict[str, Any]:
    if spec.kind is bool:
        return {"is_flag": True, "default": default, "help": text}
    return {
        "type": _type(spec),
        "multiple": spec.repeatable,
        "metavar": spec.metavar or None,
        "callback": _callback_of(spec),
        "default": default,
        "show_default": shown,
        "help": text,
    }


def _type(spec: OptionSpec) -> click.ParamType[Any]:
    if spec.choices:
        return click.Choice(spec.choices)
    if spec.form:
        return FormType(spec.form)
    if spec.kind == Ratio:
        return RatioType()
    if spec.kind not in (int, float):
        return click.STRING
    low, high = (None if bound is None else spec.kind(bound) for bound in (spec.low, spec.high))
    if low is high is None:
        return click.INT if spec.kind is int else click.FLOAT
    return click.IntRange(low, high) if spec.kind is int else click.FloatRange(low, high)


def _callback_of(spec: OptionSpec) -> Callable[[click.Context, click.Parameter, Any], Any]:
    def check(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        for test in (spec.check, spec.there) if value not in (None, ()) else ():
            try:
                if test:
                    test(value)
            except OptionError as error:
                raise click.BadParameter(str(error), context, parameter) from None
        return value

    return check
