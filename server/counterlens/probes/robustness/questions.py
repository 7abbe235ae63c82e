"""Options and questions of the robustness probes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from counterlens.models.base import ModelInfo, Prompt
from counterlens.probes.common_options import (
    DEFAULT_MAP_TIMEOUT,
    DEFAULT_TIMEOUT,
    ExcludedTests,
    MapTimeout,
    MaxTokens,
    Mutations,
    Timeout,
    Without,
)
from counterlens.probes.options import ProbeOptions, protocols
from counterlens.probes.prompts.language import prompting_of
from counterlens.probes.prompts.templates import fill
from counterlens.probes.robustness.published import EMPICA
from counterlens.probes.robustness.versions import Code, CodeOption, Standing, Version
from counterlens.syntax.document import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessOptions(ProbeOptions):
    """Options of the robustness probes; there is no prefix ratio, because functions are not cut."""

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
    """The question about a program, and the same question about one version of it.

    Attributes:
        standing: The kind of the version; with a call, its kind for this call.
        call: The call in the question, if any.
        original: The question about the unchanged program.
    """

    version: Version
    standing: Standing
    call: str | None
    original: Prompt
    changed: Prompt


def asked_in_one_line(info: ModelInfo, task: str, document: Document, source: str, max_tokens: int) -> Prompt:
    """A question with a one-line answer, with examples in the document's language.

    Args:
        info: Describes the model.
        task: The name of the template.
        document: The document of the function.
        source: The code in the question.
        max_tokens: Maximum number of tokens of the answer.
    """
    name = f"{task}{prompting_of(document.language).suffix}"
    return fill(info, __package__, name, max_tokens, ("\n",), source=source)
