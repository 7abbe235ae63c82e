"""Typed settings: a bad value gets a message and the default, and never stops the server."""

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
from counterlens.errors import OptionError
from counterlens.evaluation.settings_file import SettingsFile, fits, known_entries, valid_values
from counterlens.languages.registry import LANGUAGES
from counterlens.lsp.idle_budget import PER_MINUTE
from counterlens.models.code_models import code_model, code_model_here
from counterlens.models.default import EMBEDDED_BY_DEFAULT, DefaultModel, default_model
from counterlens.models.entries import ModelEntry, is_entry_name
from counterlens.models.registry import GPU_LAYERS, MASKS, Options
from counterlens.probes.operator.tables import PREFERRED
from counterlens.probes.options import OptionSpec, declared, option, specs
from counterlens.probes.registry import PROBES
from counterlens.syntax.concepts import Category

_LIMITS = ScoringLimits()
_READ = ("python", "java", "javascript")
"""Languages that are read by default; others work if their grammar is installed."""
_ELSEWHERE = ("remote", "hf:", "onnx:", "editor:")
_OF_DATASETS = frozenset({"buggy"})
"""Values of probe options that only a dataset can serve: it knows which programs have a bug."""


def _setting(
    key: str,
    *,
    choices: Iterable[str] = (),
    form: str = "",
    low: float | None = None,
    high: float | None = None,
) -> msgspec.Meta:
    """Declare a setting as the annotation of a field; the editor's manifest describes it."""
    return option("", setting=key, choices=choices, form=form, low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSettings:
    """The settings that are not options of probes."""

    enable: Annotated[bool, _setting("enable")] = True
    model: Annotated[str, _setting("model")] = ""
    remote_base_url: Annotated[str, _setting("remote.baseUrl")] = ""
    remote_model: Annotated[str, _setting("remote.model")] = ""
    remote_api: Annotated[str, _setting("remote.api", choices=("completions", "chat"))] = "completions"
    threads: Annotated[int, _setting("threads", low=0)] = 0
    gpu_layers: Annotated[str, _setting("gpuLayers", form=GPU_LAYERS)] = "auto"
    mask: Annotated[str, _setting("mask", choices=MASKS)] = "word"
    languages: Annotated[tuple[str, ...], _setting("languages", choices=LANGUAGES)] = _READ
    aggregation: Annotated[Aggregation, _setting("confidence.aggregation")] = Aggregation.MEAN
    alignment: Annotated[Rule, _setting("confidence.alignment")] = Rule.OVERLAP
    doubt_diagnostics: Annotated[
        str, _setting("doubt.diagnostics", choices=("off", "hint", "information"))
    ] = "information"
    doubt_run_tests: Annotated[bool, _setting("doubt.runTests")] = True
    diagnostics_enabled: Annotated[bool, _setting("diagnostics.enabled")] = False
    diagnostics_severity: Annotated[
        str, _setting("diagnostics.severity", choices=("hint", "information"))
    ] = "information"
    diagnostics_per_hundred_lines: Annotated[
        float, _setting("diagnostics.perHundredLines", low=0, high=100)
    ] = PER_HUNDRED_LINES
    ignored_concepts: Annotated[
        tuple[Category, ...], _setting("diagnostics.ignoredConcepts", choices=Category)
    ] = ()
    overlay_granularity: Annotated[Granularity, _setting("overlay.granularity")] = Granularity.STATEMENT
    overlay_calm: Annotated[bool, _setting("overlay.calm")] = True
    inlay_hints_enabled: Annotated[bool, _setting("inlayHints.enabled")] = False
    inlay_hints_by: Annotated[str, _setting("inlayHints.by", choices=("statement", "function"))] = "statement"
    code_lens_enabled: Annotated[bool, _setting("codeLens.enabled")] = True
    exclude: Annotated[bool, _setting("scoring.exclude")] = True
    max_bytes: Annotated[int, _setting("scoring.maxBytes", low=1)] = MAX_BYTES
    idle_seconds: Annotated[float, _setting("scoring.idleSecondsPerMinute", low=0, high=6000)] = PER_MINUTE
    average_line: Annotated[int, _setting("scoring.averageLineBytes", low=1)] = _LIMITS.average_line
    longest_line: Annotated[int, _setting("scoring.longestLineBytes", low=1)] = _LIMITS.longest_line
    probe_budget: Annotated[float, _setting("probe.budget", low=0, high=86_400)] = 60.0
    allow_weaker_sandbox: Annotated[bool, _setting("sandbox.allowWeaker")] = False
    dependences_diagnostics: Annotated[bool, _setting("dependences.diagnostics")] = False
    operators_ask: Annotated[str, _setting("operators.ask", choices=("never", "hover", "scored"))] = "hover"
    operators_diagnostics: Annotated[
        str, _setting("operators.diagnostics", choices=("off", "hint", "information"))
    ] = "information"
    operators_threshold: Annotated[float, _setting("operators.threshold", low=0, high=1)] = PREFERRED


def _probe_options() -> Iterator[tuple[str, OptionSpec]]:
    """The options of probes that have a setting; without a default if it differs between probes."""
    for name, (spec, takers) in declared(PROBES.values()).items():
        if spec.setting:
            defaults = {specs(PROBES[taker].options)[name].default for taker in takers}
            choices = tuple(choice for choice in spec.choices if choice not in _OF_DATASETS)
            yield name, replace(spec, default=spec.default if len(defaults) == 1 else None, choices=choices)


_PROBE_OPTIONS = dict(_probe_options())


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorSettings(DeclaredSettings):
    """The user's settings.

    Attributes:
        probe: Options of probes that were set, by name; any other has the default of each probe.
        entries: Entries in settings files for the model, and for the sentence-similarity model, if they are
            named there.
        default: The model if the settings name none.
    """

    probe: Mapping[str, Any] = field(default_factory=dict)
    entries: tuple[ModelEntry, ...] = ()
    default: DefaultModel = EMBEDDED_BY_DEFAULT

    @property
    def model_spec(self) -> str:
        """The model as `counterlens.models.load` names it."""
        if self.model == "remote" and self.remote_model:
            return f"remote:{self.remote_model}"
        return self.model or self.default.spec

    @property
    def advice(self) -> str:
        """What the user should know about the default model; empty if the settings name a model."""
        return "" if self.model else self.default.advice

    @property
    def chosen_model(self) -> tuple[str, Options]:
        """The model, and how to open it."""
        remote = self.model.startswith("remote")  # a local model has no API
        return self.model_spec, Options(
            threads=self.threads,
            gpu_layers=self.gpu_layers,
            mask=self.mask,
            base_url=self.remote_base_url or None,
            api=self.remote_api if remote and self.remote_api else None,
            entries=self.entries,
        )

    @property
    def asked(self) -> tuple[str, Options]:
        """The identity of the chosen model and its endpoint, without the number of threads."""
        spec, options = self.chosen_model
        return spec, replace(options, threads=0)

    @property
    def scoring(self) -> tuple[object, ...]:
        """The settings that affect scores; the others affect only the display."""
        return (
            self.enable,
            self.chosen_model,
            self.languages,
            self.aggregation,
            self.alignment,
            self.exclude,
            self.limits,
            self.max_bytes,
        )

    @property
    def limits(self) -> ScoringLimits:
        """The limits above which a document is not scored; document size is not one of them."""
        return ScoringLimits(None, self.average_line, self.longest_line)


def read_settings(raw: object, file: SettingsFile | None = None) -> tuple[EditorSettings, list[str]]:
    """Read settings from a nested mapping as the editor sends it; returns a complaint for each bad value.

    Args:
        file: Settings file of the repository: it applies if the editor has the default, since an editor sends
            defaults whether or not the user chose them.
    """
    complaints: list[str] = []

    def read(declarations: Mapping[str, OptionSpec]) -> Iterator[tuple[str, Any]]:
        for name, spec in declarations.items():
            value: object = raw
            for part in spec.setting.split("."):
                value = value.get(part) if isinstance(value, Mapping) else None
            value = value.strip() if isinstance(value, str) else value
            if value is None or value == "":
                continue
            if fits(spec, value):
                yield name, value
                continue
            used = repr(msgspec.json.decode(msgspec.json.encode(spec.default)))
            complaints.append(
                f"counterlens.{spec.setting} is {value!r}, but must be {valid_values(spec)}; using "
                f"{'the default' if spec.default is None else used}"
            )

    values, probe = dict(read(specs(DeclaredSettings))), dict(read(_PROBE_OPTIONS))
    if file is not None:
        values = _beneath(values, _of_file(file), specs(DeclaredSettings))
        probe = _beneath(probe, file.given, _PROBE_OPTIONS)
    values["probe"] = probe
    settings = msgspec.convert(values, EditorSettings)
    try:
        settings = replace(settings, default=default_model())
        entries = known_entries(file, settings.model_spec, str(probe.get("encoder", "")))
        settings = replace(settings, entries=entries)
    except OptionError as error:
        complaints.append(str(error))
    return settings, complaints


def _of_file(file: SettingsFile) -> dict[str, Any]:
    """The settings of a settings file that apply in an editor, by the fields of `DeclaredSettings`."""
    settings = {name: file.run[name] for name in ("threads", "gpu_layers", "mask") if name in file.run}
    model = next(iter(file.run.get("models", ())), "")
    # A settings file that comes with code must not send it elsewhere, nor download anything, when it is read.
    offered = code_model(model)
    missing = offered is not None and code_model_here(offered) is None
    elsewhere = missing or model.startswith(_ELSEWHERE) or is_entry_name(model)
    return settings | ({} if not model or elsewhere else {"model": model})


def _beneath(
    values: Mapping[str, Any], file: Mapping[str, Any], declarations: Mapping[str, OptionSpec]
) -> dict[str, Any]:
    """Merge values over those of a settings file, which apply if a value is the default."""
    chosen = {name: value for name, value in values.items() if value != declarations[name].default}
    return {**values, **{name: value for name, value in file.items() if name in declarations}, **chosen}
