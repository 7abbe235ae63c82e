"""Typed settings: a bad value gets a message and the default, never a dead server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import msgspec

from counterlens.confidence.aggregate import Aggregation
from counterlens.confidence.alignment import Rule
from counterlens.confidence.exclusion import ScoringLimits
from counterlens.confidence.granularity import Granularity
from counterlens.confidence.scoring import MAX_BYTES
from counterlens.confidence.surprising import PER_HUNDRED_LINES
from counterlens.models import DEFAULT_MODEL
from counterlens.models.registry import Options
from counterlens.probes.operator.tables import PREFERRED
from counterlens.probes.options import OptionSpec, declared, option, specs
from counterlens.probes.registry import PROBES
from counterlens.syntax.concepts import Category
from counterlens.syntax.languages import languages

_LIMITS = ScoringLimits()
LANGUAGES = ("python", "java", "javascript")
"""Read unless the user says otherwise; others work where their grammar is installed."""
_OF_DATASETS = frozenset({"buggy"})
"""Choices of probe options that only a dataset can serve: it knows which programs have a bug."""


def _setting(
    key: str, *, choices: Iterable[str] = (), low: float | None = None, high: float | None = None
) -> msgspec.Meta:
    """Declare a setting as the annotation of a field; the manifest of an editor says what it does."""
    return option("", setting=key, choices=choices, low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSettings:
    """The settings that are no options of probes."""

    enable: Annotated[bool, _setting("enable")] = True
    model: Annotated[str, _setting("model")] = DEFAULT_MODEL
    remote_base_url: Annotated[str, _setting("remote.baseUrl")] = ""
    remote_model: Annotated[str, _setting("remote.model")] = ""
    remote_api: Annotated[str, _setting("remote.api", choices=("completions", "chat"))] = "completions"
    threads: Annotated[int, _setting("threads", low=0)] = 0
    languages: Annotated[tuple[str, ...], _setting("languages", choices=languages(installed=False))] = (
        LANGUAGES
    )
    aggregation: Annotated[Aggregation, _setting("confidence.aggregation")] = Aggregation.MEAN
    alignment: Annotated[Rule, _setting("confidence.alignment")] = Rule.OVERLAP
    calibrated: Annotated[bool, _setting("confidence.calibrated")] = True
    diagnostics_enabled: Annotated[bool, _setting("diagnostics.enabled")] = True
    diagnostics_severity: Annotated[
        str, _setting("diagnostics.severity", choices=("hint", "information"))
    ] = "information"
    diagnostics_per_hundred_lines: Annotated[
        float, _setting("diagnostics.perHundredLines", low=0, high=100)
    ] = PER_HUNDRED_LINES
    ignored_concepts: Annotated[
        tuple[Category, ...], _setting("diagnostics.ignoredConcepts", choices=Category)
    ] = ()
    overlay_granularity: Annotated[Granularity, _setting("overlay.granularity")] = Granularity.LEAF
    inlay_hints_enabled: Annotated[bool, _setting("inlayHints.enabled")] = False
    inlay_hints_by: Annotated[str, _setting("inlayHints.by", choices=("statement", "function"))] = "statement"
    code_lens_enabled: Annotated[bool, _setting("codeLens.enabled")] = True
    exclude: Annotated[bool, _setting("scoring.exclude")] = True
    max_bytes: Annotated[int, _setting("scoring.maxBytes", low=1)] = MAX_BYTES
    average_line: Annotated[int, _setting("scoring.averageLineBytes", low=1)] = _LIMITS.average_line
    longest_line: Annotated[int, _setting("scoring.longestLineBytes", low=1)] = _LIMITS.longest_line
    allow_weaker_sandbox: Annotated[bool, _setting("sandbox.allowWeaker")] = False
    dependences_diagnostics: Annotated[bool, _setting("dependences.diagnostics")] = False
    operators_ask: Annotated[str, _setting("operators.ask", choices=("never", "hover", "scored"))] = "hover"
    operators_diagnostics: Annotated[
        str, _setting("operators.diagnostics", choices=("off", "hint", "information"))
    ] = "information"
    operators_threshold: Annotated[float, _setting("operators.threshold", low=0, high=1)] = PREFERRED


def _probe_options() -> Iterator[tuple[str, OptionSpec]]:
    """The options of probes that have a setting; where each probe has a default of its own, without one."""
    for name, (spec, takers) in declared(PROBES.values()).items():
        if spec.setting:
            defaults = {specs(PROBES[taker].options)[name].default for taker in takers}
            choices = tuple(choice for choice in spec.choices if choice not in _OF_DATASETS)
            yield name, replace(spec, default=spec.default if len(defaults) == 1 else None, choices=choices)


_PROBE_OPTIONS = dict(_probe_options())


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorSettings(DeclaredSettings):
    """What the user has set.

    Attributes:
        probe: The options of probes that were set, by their names; any other has the default of each probe.
    """

    probe: Mapping[str, Any] = field(default_factory=dict)

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
            self.max_bytes,
        )

    @property
    def limits(self) -> ScoringLimits:
        """From where on a document is not scored; its size is no reason."""
        return ScoringLimits(None, self.average_line, self.longest_line)


def read_settings(raw: object) -> tuple[EditorSettings, list[str]]:
    """The settings in a nested mapping as the editor sends it, and a complaint for each bad value."""
    complaints: list[str] = []

    def read(known: Mapping[str, OptionSpec]) -> Iterator[tuple[str, Any]]:
        for name, spec in known.items():
            value: object = raw
            for part in spec.setting.split("."):
                value = value.get(part) if isinstance(value, Mapping) else None
            value = value.strip() if isinstance(value, str) else value
            if value is None or value == "":
                continue
            if _fits(spec, value):
                yield name, value
                continue
            used = repr(msgspec.json.decode(msgspec.json.encode(spec.default)))
            complaints.append(
                f"counterlens.{spec.setting} is {value!r}, but has to be {_wanted(spec)}; "
                f"{'the default' if spec.default is None else used} is used instead"
            )

    values = {**dict(read(specs(DeclaredSettings))), "probe": dict(read(_PROBE_OPTIONS))}
    return msgspec.convert(values, EditorSettings), complaints


def _fits(spec: OptionSpec, value: object) -> bool:
    if spec.repeatable:
        return isinstance(value, list | tuple) and all(part in spec.choices for part in value)
    if spec.choices:
        return value in spec.choices
    if spec.kind not in (int, float) or isinstance(value, bool):
        return isinstance(value, spec.kind)
    if not isinstance(value, int) and not (spec.kind is float and isinstance(value, float)):
        return False
    return (spec.low is None or spec.low <= value) and (spec.high is None or value <= spec.high)


def _wanted(spec: OptionSpec) -> str:
    if spec.repeatable:
        return f"a list of any of {', '.join(spec.choices)}"
    if spec.choices:
        return f"one of {', '.join(spec.choices)}"
    if spec.kind is bool:
        return "true or false"
    if spec.kind is str:
        return "a text"
    if spec.kind is float:
        return f"a number from {spec.low:g} to {spec.high:g}"
    if spec.high is None:
        return f"a whole number of at least {spec.low:g}"
    return f"a whole number from {spec.low:g} to {spec.high:g}"
