"""Typed settings: a bad value gets a message and the default, never a dead server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from counterlens.attribution.base import LIMITS, LONGEST, SHORTEST
from counterlens.confidence.aggregate import Aggregation
from counterlens.confidence.alignment import Rule
from counterlens.confidence.exclusion import Limits
from counterlens.confidence.granularity import Granularity
from counterlens.confidence.surprising import PER_HUNDRED_LINES
from counterlens.models import DEFAULT_MODEL
from counterlens.models.registry import Options
from counterlens.probes.completion import MAX_TOKENS
from counterlens.probes.operator.tables import PREFERRED
from counterlens.probes.understanding.programs import Code
from counterlens.syntax.concepts import Category
from counterlens.syntax.languages import languages

_LIMITS = Limits()
_MOST_PER_HUNDRED_LINES = 100.0
LANGUAGES = ("python", "java", "javascript")
"""Read unless the user says otherwise; others work where their grammar is installed."""
CODES = (Code.GIVEN, Code.WRITTEN)
"""Those with a bug are known only of the programs of a dataset."""
HINTED = ("statement", "function")
ASKED = ("never", "hover", "scored")
"""When the model is asked which operators fit."""


@dataclass(frozen=True, slots=True)
class EditorSettings:
    """What the user has set. Names follow the keys of the editor's settings."""

    enable: bool = True
    model: str = DEFAULT_MODEL
    remote_base_url: str = ""
    remote_model: str = ""
    remote_api: str = "completions"
    threads: int = 0
    languages: tuple[str, ...] = LANGUAGES
    aggregation: Aggregation = Aggregation.MEAN
    alignment: Rule = Rule.OVERLAP
    calibrated: bool = True
    diagnostics_enabled: bool = True
    diagnostics_severity: str = "information"
    diagnostics_per_hundred_lines: float = PER_HUNDRED_LINES
    ignored_concepts: frozenset[Category] = frozenset()
    overlay_granularity: Granularity = Granularity.LEAF
    inlay_hints_enabled: bool = False
    inlay_hints_by: str = "statement"
    code_lens_enabled: bool = True
    exclude: bool = True
    max_bytes: int = _LIMITS.bytes
    average_line: int = _LIMITS.average_line
    longest_line: int = _LIMITS.longest_line
    max_tokens: int = MAX_TOKENS
    timeout: float = LIMITS.seconds
    code: Code = Code.GIVEN
    encoder: str = ""
    probe_corpus: str = ""
    allow_weaker_sandbox: bool = False
    dependences_diagnostics: bool = False
    operators_ask: str = "hover"
    operators_diagnostics: str = "information"
    operators_threshold: float = PREFERRED

    @property
    def model_spec(self) -> str:
        """The model as `counterlens.models.load` names it."""
        if self.model == "remote" and self.remote_model:
            return f"remote:{self.remote_model}"
        return self.model

    @property
    def asked(self) -> tuple[object, ...]:
        """Which model is asked, and where; not how many threads it has."""
        options = self.model_options
        return self.model_spec, options.base_url, options.api

    @property
    def scoring(self) -> tuple[object, ...]:
        """What decides about scores; the rest only about how they are shown."""
        return (
            self.enable,
            self.model_spec,
            self.model_options,
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

    @property
    def model_options(self) -> Options:
        """How to open it."""
        remote = self.model.startswith("remote")  # a local model is not asked through a remote one's API
        return Options(
            threads=self.threads,
            base_url=self.remote_base_url or None,
            api=self.remote_api if remote and self.remote_api else "completions",
        )


@dataclass
class _Reader:
    """Takes values out of a nested mapping and keeps a complaint for each one that is no good."""

    raw: object
    complaints: list[str] = field(default_factory=list)

    def _find(self, key: str) -> object:
        found: object = self.raw
        for part in key.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        return found

    def _refuse(self, key: str, value: object, wanted: str, default: object) -> None:
        self.complaints.append(
            f"counterlens.{key} is {value!r}, but has to be {wanted}; {default!r} is used instead"
        )

    def flag(self, key: str, default: bool) -> bool:
        value = self._find(key)
        if isinstance(value, bool):
            return value
        if value is not None:
            self._refuse(key, value, "true or false", default)
        return default

    def text(self, key: str, default: str, choices: tuple[str, ...] = ()) -> str:
        value = self._find(key)
        if isinstance(value, str) and (not choices or value in choices):
            return value.strip() or default
        if value is not None:
            self._refuse(key, value, f"one of {', '.join(choices)}" if choices else "a text", default)
        return default

    def whole(self, key: str, default: int, least: int) -> int:
        value = self._find(key)
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        if value is not None:
            self._refuse(key, value, f"a whole number of at least {least}", default)
        return default

    def number(self, key: str, default: float, most: float, least: float = 0) -> float:
        value = self._find(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most:
            return float(value)
        if value is not None:
            self._refuse(key, value, f"a number from {least:g} to {most:g}", default)
        return default

    def several(self, key: str, default: tuple[str, ...], choices: tuple[str, ...]) -> tuple[str, ...]:
        value = self._find(key)
        if isinstance(value, list | tuple) and all(one in choices for one in value):
            return tuple(value)
        if value is not None:
            self._refuse(key, value, f"a list of any of {', '.join(choices)}", list(default))
        return default


def read_settings(raw: object) -> tuple[EditorSettings, list[str]]:
    """The settings in a nested mapping as the editor sends it, and a complaint for each bad value."""
    reader = _Reader(raw)
    defaults = EditorSettings()
    settings = EditorSettings(
        enable=reader.flag("enable", defaults.enable),
        model=reader.text("model", defaults.model),
        remote_base_url=reader.text("remote.baseUrl", defaults.remote_base_url),
        remote_model=reader.text("remote.model", defaults.remote_model),
        remote_api=reader.text("remote.api", defaults.remote_api, ("completions", "chat")),
        threads=reader.whole("threads", defaults.threads, 0),
        aggregation=Aggregation(
            reader.text("confidence.aggregation", defaults.aggregation, tuple(Aggregation))
        ),
        languages=reader.several("languages", defaults.languages, tuple(languages(installed=False))),
        alignment=Rule(reader.text("confidence.alignment", defaults.alignment, tuple(Rule))),
        calibrated=reader.flag("confidence.calibrated", defaults.calibrated),
        diagnostics_enabled=reader.flag("diagnostics.enabled", defaults.diagnostics_enabled),
        diagnostics_severity=reader.text(
            "diagnostics.severity", defaults.diagnostics_severity, ("hint", "information")
        ),
        diagnostics_per_hundred_lines=reader.number(
            "diagnostics.perHundredLines", defaults.diagnostics_per_hundred_lines, _MOST_PER_HUNDRED_LINES
        ),
        ignored_concepts=frozenset(
            Category(name) for name in reader.several("diagnostics.ignoredConcepts", (), tuple(Category))
        ),
        overlay_granularity=Granularity(
            reader.text("overlay.granularity", defaults.overlay_granularity, tuple(Granularity))
        ),
        inlay_hints_enabled=reader.flag("inlayHints.enabled", defaults.inlay_hints_enabled),
        inlay_hints_by=reader.text("inlayHints.by", defaults.inlay_hints_by, HINTED),
        code_lens_enabled=reader.flag("codeLens.enabled", defaults.code_lens_enabled),
        exclude=reader.flag("scoring.exclude", defaults.exclude),
        average_line=reader.whole("scoring.averageLineBytes", defaults.average_line, 1),
        longest_line=reader.whole("scoring.longestLineBytes", defaults.longest_line, 1),
        max_bytes=reader.whole("scoring.maxBytes", defaults.max_bytes, 1),
        max_tokens=reader.whole("probe.maxTokens", defaults.max_tokens, 1),
        timeout=reader.number("probe.timeout", defaults.timeout, LONGEST, SHORTEST),
        code=Code(reader.text("probe.code", defaults.code, CODES)),
        encoder=reader.text("probe.encoder", defaults.encoder),
        probe_corpus=reader.text("probe.corpus", defaults.probe_corpus),
        allow_weaker_sandbox=reader.flag("sandbox.allowWeaker", defaults.allow_weaker_sandbox),
        dependences_diagnostics=reader.flag("dependences.diagnostics", defaults.dependences_diagnostics),
        operators_ask=reader.text("operators.ask", defaults.operators_ask, ASKED),
        operators_diagnostics=reader.text(
            "operators.diagnostics", defaults.operators_diagnostics, ("off", "hint", "information")
        ),
        operators_threshold=reader.number("operators.threshold", defaults.operators_threshold, 1.0),
    )
    return settings, reader.complaints
