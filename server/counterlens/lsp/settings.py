"""Typed settings: a bad value gets a message and the default, never a dead server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from counterlens.confidence.aggregate import Aggregation
from counterlens.confidence.scoring import MAX_BYTES
from counterlens.models import DEFAULT_MODEL
from counterlens.models.registry import Options
from counterlens.probes.completion import MAX_TOKENS


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user has set. Names follow the keys of the editor's settings."""

    enable: bool = True
    model: str = DEFAULT_MODEL
    remote_base_url: str = ""
    remote_model: str = ""
    remote_api: str = "completions"
    threads: int = 0
    aggregation: Aggregation = Aggregation.MEAN
    diagnostics_enabled: bool = True
    diagnostics_severity: str = "information"
    diagnostics_threshold: float = 0.001
    code_lens_enabled: bool = True
    max_bytes: int = MAX_BYTES
    max_tokens: int = MAX_TOKENS

    @property
    def model_spec(self) -> str:
        """The model as `counterlens.models.load` names it."""
        if self.model == "remote" and self.remote_model:
            return f"remote:{self.remote_model}"
        return self.model

    @property
    def model_options(self) -> Options:
        """How to open it."""
        return Options(
            threads=self.threads, base_url=self.remote_base_url or None, api=self.remote_api or "completions"
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

    def share(self, key: str, default: float) -> float:
        value = self._find(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
            return float(value)
        if value is not None:
            self._refuse(key, value, "a number from 0 to 1", default)
        return default


def read_settings(raw: object) -> tuple[Settings, list[str]]:
    """The settings in a nested mapping as the editor sends it, and a complaint for each bad value."""
    reader = _Reader(raw)
    defaults = Settings()
    settings = Settings(
        enable=reader.flag("enable", defaults.enable),
        model=reader.text("model", defaults.model),
        remote_base_url=reader.text("remote.baseUrl", defaults.remote_base_url),
        remote_model=reader.text("remote.model", defaults.remote_model),
        remote_api=reader.text("remote.api", defaults.remote_api, ("completions", "chat")),
        threads=reader.whole("threads", defaults.threads, 0),
        aggregation=Aggregation(
            reader.text("confidence.aggregation", defaults.aggregation, tuple(Aggregation))
        ),
        diagnostics_enabled=reader.flag("diagnostics.enabled", defaults.diagnostics_enabled),
        diagnostics_severity=reader.text(
            "diagnostics.severity", defaults.diagnostics_severity, ("hint", "information")
        ),
        diagnostics_threshold=reader.share("diagnostics.threshold", defaults.diagnostics_threshold),
        code_lens_enabled=reader.flag("codeLens.enabled", defaults.code_lens_enabled),
        max_bytes=reader.whole("scoring.maxBytes", defaults.max_bytes, 1),
        max_tokens=reader.whole("probe.maxTokens", defaults.max_tokens, 1),
    )
    return settings, reader.complaints
