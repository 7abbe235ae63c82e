"""The languages whose calls are asked about: one line for each; nothing above asks which it is."""

from __future__ import annotations

from counterlens.errors import SourceError
from counterlens.probes.execution.java.language import JavaExecution
from counterlens.probes.execution.language import ExecutedLanguage
from counterlens.probes.execution.python import PythonExecution
from counterlens.probes.prompts.languages import prompted

_LANGUAGES: dict[str, ExecutedLanguage] = {known.id: known for known in (PythonExecution(), JavaExecution())}


def executed(language: str) -> ExecutedLanguage:
    """How calls in a language are asked about.

    Raises:
        SourceError: they are not.
    """
    if language not in _LANGUAGES:
        titles = " and ".join(prompted(known).title for known in _LANGUAGES)
        raise SourceError(f"calls in {language} are not asked about", f"Those in {titles} are")
    return _LANGUAGES[language]
