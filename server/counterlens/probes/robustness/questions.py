"""Options and questions of the robustness probes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from counterlens.models.base import ModelInfo, Prompt
from counterlens.probes.options import (
    DEFAULT_MAP_TIMEOUT,
    DEFAULT_TIMEOUT,
    ExcludedTests,
    MapTimeout,
    MaxTokens,
    Mutations,
    ProbeOptions,
    Timeout,
    Without,
    protocols,
)
from counterlens.probes.prompts.languages import prompted
from counterlens.probes.prompts.templates import filled
from counterlens.probes.robustness.programs import Code, CodeOption
from counterlens.probes.robustness.published import EMPICA
from counterlens.probes.robustness.versions import Standing, Version
from counterlens.syntax.document import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessOptions(ProbeOptions):
    """Options of the probes of robustness; nothing is cut, so there is no prefix ratio."""

    mutations: Mutations = ()
    without: Without = ()
    code: CodeOption = Code.GIVEN
    max_tokens: MaxTokens = 64
    timeout: Timeout = DEFAULT_TIMEOUT
    map_timeout: MapTimeout = DEFAULT_MAP_TIMEOUT
    excluded_tests: ExcludedTests = ()
    protocol: Annotated[str | None, protocols(EMPICA)] = None


@dataclass(frozen=True, slots=True)
class VersionQuestion:
    """The questions about a program and one version of it.

    Attributes:
        version: The version.
        standing: The kind of the version; with a call, its kind for this call.
        call: The call that is asked about, if any.
        original: The question about the unchanged program.
        changed: The same about the version.
    """

    version: Version
    standing: Standing
    call: str | None
    original: Prompt
    changed: Prompt


def asked_in_one_line(info: ModelInfo, task: str, document: Document, source: str, max_tokens: int) -> Prompt:
    """A question that is answered in one line, with examples in the language of the document.

    Args:
        info: Of the model.
        task: The name of the template.
        document: The document of the function.
        source: The text that is asked about.
        max_tokens: How much may be said.
    """
    name = f"{task}{prompted(document.language).suffix}"
    return filled(info, __package__, name, max_tokens, ("\n",), source=source)
