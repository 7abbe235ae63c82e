"""Python."""

from __future__ import annotations

from counterlens.languages.language import Feature, Language

PYTHON = Language(
    id="python",
    title="Python",
    suffixes=(".py", ".pyi", ".pyw"),
    grammar="tree_sitter_python:language",
    aliases=("python3",),
    comment="#",
    features=frozenset(Feature),
    concepts="counterlens.python.syntax.concepts:PYTHON",
    functions="counterlens.python.syntax.concepts:python_definitions",
    operators="counterlens.python.syntax.operators:OPERATORS",
    imported="counterlens.python.syntax.imports:definition_of",
    strict="counterlens.python.syntax.parsing:parse_module",
    words="counterlens.python.syntax.parsing:WORDS",
    dependence="counterlens.python.dependence.program:PYTHON",
    mutations="counterlens.python.mutations.language:PYTHON",
    judge="counterlens.python.judging.language:PYTHON",
    prompts="counterlens.python.prompts.language:PROMPTS",
    execution="counterlens.python.execution.language:EXECUTION",
    swaps="counterlens.python.swaps:SWAPS",
    examined="counterlens.python.examined:EXAMINED",
    interventions="counterlens.python.examined:INTERVENTIONS",
)
LANGUAGES = (PYTHON,)
