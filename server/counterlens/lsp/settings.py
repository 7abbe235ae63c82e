"""Typed settings: a bad value gets a message and the default, never a dead server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any

import msgspec

from counterlens.confidence.aggregate import Aggregation
from counterlens.confidence.alignment import Rule
from counterlens.confidence.exclusion import Limits
from counterlens.confidence.granularity import Granularity
from counterlens.confidence.surprising import PER_HUNDRED_LINES
from counterlens.models import DEFAULT_MODEL
from counterlens.models.registry import Options
from counterlens.probes.operator.tables import PREFERRED
from counterlens.probes.options import OptionSpec, declared
from counterlens.probes.registry import PROBES
from counterlens.syntax.concepts import Category
from counterlens.syntax.languages import languages

_LIMITS = Limits()
_MOST_PER_HUNDRED_LINES = 100.0
LANGUAGES = ("python", "java", "javascript")
"""Read unless the user says otherwise; others work where their grammar is installed."""
_OF_DATASETS = frozenset({"buggy"})
"""Choices of probe options that only a dataset can serve: it knows which programs have a bug."""


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """One setting: its key, and which values it can have.

    Attributes:
        key: Below `counterlens.`, such as `remote.baseUrl`.
        default: Its value unless set.
        kind: The type of the value, or of its members where it has several.
        choices: The texts that it can have; any, where there are none.
        low: The least value.
        high: The largest value.
        several: What holds the members; None where there is one value.
    """

    key: str
    default: Any
    kind: type
    choices: tuple[str, ...] = ()
    low: float = 0
    high: float | None = None
    several: type[tuple[Any, ...] | frozenset[Any]] | None = None

    @property
    def wanted(self) -> str:
        """Which values it can have, in words."""
        if self.several:
            return f"a list of any of {', '.join(self.choices)}"
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.kind is bool:
            return "true or false"
        if self.kind is str:
            return "a text"
        if self.kind is float:
            return f"a number from {self.low:g} to {self.high:g}"
        if self.high is None:
            return f"a whole number of at least {self.low:g}"
        return f"a whole number from {self.low:g} to {self.high:g}"

    def value_of(self, raw: object) -> Any:
        """The typed value of a raw one.

        Raises:
            ValueError: it cannot have that value.
        """
        if self.several is None:
            return self._member(raw)
        if isinstance(raw, list | tuple):
            return self.several(self._member(part) for part in raw)
        raise ValueError(raw)

    def _member(self, raw: object) -> Any:
        if self.choices:
            if raw in self.choices:
                return self.kind(raw)
        elif self.kind is str and isinstance(raw, str):
            return raw.strip() or self.default
        elif isinstance(raw, bool):
            if self.kind is bool:
                return raw
        elif isinstance(raw, int) or (self.kind is float and isinstance(raw, float)):
            if self.kind in (int, float) and self.low <= raw <= (raw if self.high is None else self.high):
                return self.kind(raw)
        raise ValueError(raw)


def _setting(
    key: str,
    default: Any,
    choices: Iterable[str] = (),
    *,
    low: float = 0,
    high: float | None = None,
) -> Any:
    """Declare a field; its values are of the type of its default, or of the enumeration of its choices."""
    several = type(default) if isinstance(default, tuple | frozenset) else None
    kind: type = str if several else type(default)
    if isinstance(default, Enum):
        choices = kind
    elif isinstance(choices, type):
        kind = choices
    return field(
        default=default,
        metadata={"spec": SettingSpec(key, default, kind, tuple(choices), low, high, several)},
    )


def _of_option(option: OptionSpec) -> SettingSpec:
    choices = tuple(choice for choice in option.choices if choice not in _OF_DATASETS)
    return SettingSpec(option.setting, option.default, option.kind, choices, option.low or 0, option.high)


_PROBE_OPTIONS = {
    name: _of_option(option) for name, (option, _) in declared(PROBES.values()).items() if option.setting
}


@dataclass(frozen=True, slots=True)
class EditorSettings:
    """What the user has set. Names follow the keys of the editor's settings.

    Attributes:
        probe: The options of probes that have a setting, by their names.
    """

    enable: bool = _setting("enable", True)
    model: str = _setting("model", DEFAULT_MODEL)
    remote_base_url: str = _setting("remote.baseUrl", "")
    remote_model: str = _setting("remote.model", "")
    remote_api: str = _setting("remote.api", "completions", ("completions", "chat"))
    threads: int = _setting("threads", 0)
    languages: tuple[str, ...] = _setting("languages", LANGUAGES, languages(installed=False))
    aggregation: Aggregation = _setting("confidence.aggregation", Aggregation.MEAN)
    alignment: Rule = _setting("confidence.alignment", Rule.OVERLAP)
    calibrated: bool = _setting("confidence.calibrated", True)
    diagnostics_enabled: bool = _setting("diagnostics.enabled", True)
    diagnostics_severity: str = _setting("diagnostics.severity", "information", ("hint", "information"))
    diagnostics_per_hundred_lines: float = _setting(
        "diagnostics.perHundredLines", PER_HUNDRED_LINES, high=_MOST_PER_HUNDRED_LINES
    )
    ignored_concepts: frozenset[Category] = _setting("diagnostics.ignoredConcepts", frozenset(), Category)
    overlay_granularity: Granularity = _setting("overlay.granularity", Granularity.LEAF)
    inlay_hints_enabled: bool = _setting("inlayHints.enabled", False)
    inlay_hints_by: str = _setting("inlayHints.by", "statement", ("statement", "function"))
    code_lens_enabled: bool = _setting("codeLens.enabled", True)
    exclude: bool = _setting("scoring.exclude", True)
    max_bytes: int = _setting("scoring.maxBytes", _LIMITS.bytes, low=1)
    average_line: int = _setting("scoring.averageLineBytes", _LIMITS.average_line, low=1)
    longest_line: int = _setting("scoring.longestLineBytes", _LIMITS.longest_line, low=1)
    allow_weaker_sandbox: bool = _setting("sandbox.allowWeaker", False)
    dependences_diagnostics: bool = _setting("dependences.diagnostics", False)
    operators_ask: str = _setting("operators.ask", "hover", ("never", "hover", "scored"))
    operators_diagnostics: str = _setting(
        "operators.diagnostics", "information", ("off", "hint", "information")
    )
    operators_threshold: float = _setting("operators.threshold", PREFERRED, high=1.0)
    probe: Mapping[str, Any] = field(
        default_factory=lambda: {name: spec.default for name, spec in _PROBE_OPTIONS.items()}
    )

    @property
    def model_spec(self) -> str:
        """The model as `counterlens.models.load` names it."""
        if self.model == "remote" and self.remote_model:
            return f"remote:{self.remote_model}"
        return self.model

    @property
    def chosen_model(self) -> tuple[str, Options]:
        """The model, and how to open it."""
        remote = self.model.startswith("remote")  # a local model is not asked through a remote one's API
        return self.model_spec, Options(
            threads=self.threads,
            base_url=self.remote_base_url or None,
            api=self.remote_api if remote and self.remote_api else "completions",
        )

    @property
    def asked(self) -> tuple[str, Options]:
        """Which model is asked, and where; not how many threads it has."""
        spec, options = self.chosen_model
        return spec, replace(options, threads=0)

    @property
    def scoring(self) -> tuple[object, ...]:
        """What decides about scores; the rest only about how they are shown."""
        return (
            self.enable,
            self.chosen_model,
            self.languages,
            self.aggregation,
            self.alignment,
            self.calibrated,
            self.exclude,
            self.limits,
        )

    @property
    def limits(self) -> Limits:
        """From where on a document is not scored."""
        return Limits(self.max_bytes, self.average_line, self.longest_line)


def read_settings(raw: object) -> tuple[EditorSettings, list[str]]:
    """The settings in a nested mapping as the editor sends it, and a complaint for each bad value."""
    complaints: list[str] = []

    def read(spec: SettingSpec) -> Any:
        value: object = raw
        for part in spec.key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is None:
            return spec.default
        try:
            return spec.value_of(value)
        except ValueError:
            default = "" if spec.default is None else msgspec.to_builtins(spec.default)
            default = list(default) if spec.several else default
            complaints.append(
                f"counterlens.{spec.key} is {value!r}, but has to be {spec.wanted}; {default!r} is used instead"
            )
            return spec.default

    declared_here = (entry for entry in fields(EditorSettings) if "spec" in entry.metadata)
    settings = EditorSettings(
        **{entry.name: read(entry.metadata["spec"]) for entry in declared_here},
        probe={name: read(spec) for name, spec in _PROBE_OPTIONS.items()},
    )
    return settings, complaints
