"""Options of probes: declared once, as the annotated fields of a probe's `Options` class.

The declaration gives the flags of the command line with their help, the settings of the editor, the schema
for assistants, the manifest of a run, the check on resuming, and the reference page. An option that a probe
does not declare is refused, never ignored.

An options class is a frozen dataclass that inherits from `ProbeOptions`; its fields are annotated with the
options of `common_options.py`, or with its own, built by `option`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from enum import Enum, StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from counterlens.errors import OptionError
from counterlens.mutations.cuts import Ratio
from counterlens.probes.protocols import PROTOCOLS

_SPECS: dict[type[Any], dict[str, OptionSpec]] = {}


def option(
    help: str,  # noqa: A002 - the name of the field
    *,
    flag: str = "",
    metavar: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: Iterable[str] = (),
    form: str = "",
    setting: str = "",
    check: Callable[[Any], None] | None = None,
    there: Callable[[Any], None] | None = None,
) -> msgspec.Meta:
    """Declare an option, as the annotation of a field.

    Args:
        help: Its effect, as a sentence.
        flag: Its name on the command line, if it differs from the field's.
        metavar: The placeholder of its value in the help.
        low: The minimum value.
        high: The maximum value.
        choices: Its possible texts; those of an enumeration follow from its type.
        form: The form of its text, see `counterlens.text.has_form`.
        setting: Its key in the editor's settings, below `counterlens.`.
        check: Raises an OptionError for an invalid value.
        there: Raises an OptionError if the thing that the user names is not on this machine. It is called
            before a model is loaded, but not for names in a manifest of another machine.
    """
    return msgspec.Meta(
        description=help,
        extra={
            "flag": flag,
            "metavar": metavar or form,
            "low": low,
            "high": high,
            "choices": tuple(choices),
            "form": form,
            "setting": setting,
            "check": check,
            "there": there,
        },
    )


def protocols(*ids: str) -> msgspec.Meta:
    """Declare the published protocols of a probe, as the annotation of its field `protocol`."""
    listed = "; ".join(f"{name}: {PROTOCOLS[name].about} ({PROTOCOLS[name].paper})" for name in ids)
    return option(f"Measure exactly as a paper does. {listed}.", choices=ids)


Seed = Annotated[int, option("Random seed for names, sites, samples and intervals.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    """The options that every probe has.

    A class with published protocols declares a field `protocol`, annotated by `protocols`.

    Attributes:
        published: The options that each protocol fixes: option names to values.
        earlier: The values that options have in runs that were begun before there were these options.
        seed: Random seed of every choice, and of intervals.
    """

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    earlier: ClassVar[Mapping[str, Any]] = {}

    seed: Seed = 0

    @property
    def chosen_protocol(self) -> str:
        """The protocol that is followed; empty if Counterlens's own definitions hold."""
        return getattr(self, "protocol", None) or ""


OptionsT = TypeVar("OptionsT", bound=ProbeOptions)


class _Probe(Protocol):
    """The attributes of a probe that options need."""

    @property
    def id(self) -> str: ...

    @property
    def options(self) -> type[ProbeOptions]: ...


class AskBy(StrEnum):
    """How questions are put to a model that has a chat template."""

    CHAT = "chat"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptedOptions(ProbeOptions):
    """The options of probes that ask questions.

    Attributes:
        ask_by: How questions are put to a model that has a chat template.
    """

    earlier: ClassVar[Mapping[str, Any]] = {"ask_by": AskBy.TEXT}

    ask_by: Annotated[
        AskBy,
        option(
            "How questions are put to a model that has a chat template: in messages, or as text to continue, "
            "as code is (--api)."
        ),
    ] = AskBy.CHAT


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """One declared option.

    Attributes:
        name: The field.
        flag: The flag on the command line, such as `--max-tokens`.
        help: Its effect.
        kind: `bool`, `int`, `float`, `str`, or `Ratio` for a number or a range.
        default: Its default value.
        repeatable: Whether it takes several values.
        choices: Its possible texts; if empty, any.
        form: The form of its text; if empty, any.
        low: The minimum value.
        high: The maximum value.
        metavar: The placeholder of its value.
        setting: Its key in the editor's settings; empty if it has none.
        check: Raises an OptionError for an invalid value.
        there: Raises an OptionError if the thing that the user names is not on this machine.
    """

    name: str
    flag: str
    help: str
    kind: Any
    default: Any
    repeatable: bool
    choices: tuple[str, ...]
    form: str
    low: float | None
    high: float | None
    metavar: str
    setting: str
    check: Callable[[Any], None] | None
    there: Callable[[Any], None] | None


def specs(options: type[Any]) -> dict[str, OptionSpec]:
    """The options that a class declares, by field name."""
    if options not in _SPECS:
        hints = get_type_hints(options, include_extras=True)
        _SPECS[options] = {
            field.name: _spec(field.name, hints[field.name], field.default) for field in fields(options)
        }
    return _SPECS[options]


def make(options: type[OptionsT], given: Mapping[str, Any]) -> OptionsT:
    """Options from values by name, each checked against its declaration.

    Raises:
        OptionError: there is no such option, or a value is out of bounds.
    """
    declarations = specs(options)
    for name, value in given.items():
        if name not in declarations:
            raise OptionError(f"there is no option {name}", f"Available: {', '.join(declarations)}")
        _check(declarations[name], value)
    try:
        return msgspec.convert({**given, **_fixed_options(options, given)}, options)
    except msgspec.ValidationError as error:
        raise OptionError(f"an option has a value of the wrong type: {error}") from None


def _fixed_options(options: type[ProbeOptions], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options that the chosen protocol fixes.

    Raises:
        OptionError: one of these options was given another value.
    """
    chosen = given.get("protocol")
    if chosen is None:
        return {}
    fixed = options.published.get(chosen, {})
    for name, value in fixed.items():
        if name in given and msgspec.json.encode(given[name]) != msgspec.json.encode(value):
            raise contradiction(chosen, specs(options)[name].flag, value, given[name])
    return fixed


def contradiction(protocol: str, flag: str, fixed: Any, given: Any) -> OptionError:
    """The error for an option whose value differs from the one that the protocol fixes."""
    return OptionError(
        f"--protocol {protocol} sets {flag} to {fixed}, not to {given}", "Omit one of the two options"
    )


def plain_options(options: ProbeOptions) -> dict[str, Any]:
    """Options as plain JSON data, for a manifest."""
    document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(options))
    return document


def takers(probes: Iterable[_Probe], name: str) -> list[str]:
    """The ids of the probes that take an option."""
    return [probe.id for probe in probes if name in specs(probe.options)]


def distribute(
    probes: Iterable[_Probe], given: Mapping[str, Any], all_probes: Iterable[_Probe]
) -> dict[str, ProbeOptions]:
    """The options of each of some probes: the given values that the probe takes.

    Args:
        probes: The probes to run.
        given: Option names to values.
        all_probes: All probes, to name those that take an option that none of `probes` takes.

    Raises:
        OptionError: none of the probes takes an option, or a value is out of bounds.
    """
    chosen = list(probes)
    for name, value in given.items():
        if not any(_takes(probe, name, value) for probe in chosen):
            able = [probe.id for probe in all_probes if _takes(probe, name, value)]
            what = f"{flag_of(all_probes, name)}{f' {value}' if name == 'protocol' else ''}"
            raise OptionError(
                f"{what} is not an option of {' or '.join(probe.id for probe in chosen)}",
                f"Choose one of {', '.join(able)}" if able else None,
            )
    return {
        probe.id: make(
            probe.options, {name: value for name, value in given.items() if _takes(probe, name, value)}
        )
        for probe in chosen
    }


def _takes(probe: _Probe, name: str, value: Any) -> bool:
    """Whether a probe has an option; for the option `protocol`, whether it has that protocol."""
    spec = specs(probe.options).get(name)
    return spec is not None and (name != "protocol" or value in spec.choices)


def declared(probes: Iterable[_Probe]) -> dict[str, tuple[OptionSpec, list[str]]]:
    """Every option of some probes, by name, with the ids of the probes that take it."""
    chosen = list(probes)
    options: dict[str, tuple[OptionSpec, list[str]]] = {}
    for probe in chosen:
        for name, spec in specs(probe.options).items():
            earlier, able = options.setdefault(name, (spec, takers(chosen, name)))
            if name == "protocol" and set(spec.choices) - set(earlier.choices):
                options[name] = (_join(earlier, spec), able)
    return options


def _join(spec: OptionSpec, other: OptionSpec) -> OptionSpec:
    """The common option of probes with different protocols."""
    return replace(
        spec,
        choices=tuple(dict.fromkeys((*spec.choices, *other.choices))),
        help="Measure exactly as a paper does: its population, context, prompts, budgets and statistics.",
    )


def schema_of(probes: Iterable[_Probe]) -> dict[str, Any]:
    """The JSON Schema of the options of some probes together, for assistants."""
    properties = {}
    for name, (spec, able) in declared(probes).items():
        kind = {bool: "boolean", int: "integer", float: "number"}.get(spec.kind, "string")
        schema: dict[str, Any] = {"type": kind} if spec.kind != Ratio else {"type": ["number", "array"]}
        schema |= {"enum": list(spec.choices)} if spec.choices else {}
        schema |= {
            key: bound for key, bound in (("minimum", spec.low), ("maximum", spec.high)) if bound is not None
        }
        properties[name] = ({"type": "array", "items": schema} if spec.repeatable else schema) | {
            "description": f"{spec.help} Tasks: {', '.join(able)}."
        }
    return {"properties": properties, "additionalProperties": False}


def _spec(name: str, hint: Any, default: Any) -> OptionSpec:
    meta = next((part for part in get_args(hint)[1:] if isinstance(part, msgspec.Meta)), None)
    if get_origin(hint) is not Annotated or meta is None or default is MISSING:
        raise TypeError(f"the option {name} must be annotated with `option`, and have a default")
    extra, kind = meta.extra or {}, get_args(hint)[0]
    repeatable = get_origin(kind) is tuple
    if repeatable:
        kind = get_args(kind)[0]
    elif kind != Ratio and get_origin(kind) in {Union, UnionType}:
        (kind,) = (part for part in get_args(kind) if part is not NoneType)
    choices = extra["choices"]
    if isinstance(kind, type) and issubclass(kind, Enum):
        choices, kind = tuple(str(member.value) for member in kind), str
    return OptionSpec(
        name=name,
        flag=f"--{extra['flag'] or name.replace('_', '-')}",
        help=meta.description or "",
        kind=kind,
        default=default,
        repeatable=repeatable,
        choices=tuple(choices),
        form=extra["form"],
        low=extra["low"],
        high=extra["high"],
        metavar=extra["metavar"],
        setting=extra["setting"],
        check=extra["check"],
        there=extra["there"],
    )


def _check(spec: OptionSpec, value: Any) -> None:
    for part in value if spec.repeatable else [value]:
        if spec.choices and part is not None and part not in spec.choices:
            raise OptionError(f"{spec.flag} cannot be {part!r}", f"Choose one of {', '.join(spec.choices)}")
        number = isinstance(part, int | float) and not isinstance(part, bool)
        if number and spec.low is not None and part < spec.low:
            raise OptionError(f"{spec.flag} must be at least {spec.low:g}, not {part:g}")
        if number and spec.high is not None and part > spec.high:
            raise OptionError(f"{spec.flag} must be at most {spec.high:g}, not {part:g}")
    if spec.check:
        spec.check(tuple(value) if isinstance(value, list) else value)


def flag_of(probes: Iterable[_Probe], name: str) -> str:
    """The flag of an option, by the option's name."""
    return next((specs(p.options)[name].flag for p in probes if name in specs(p.options)), f"--{name}")
