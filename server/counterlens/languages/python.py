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
    concepts="counterlens.syntax.concepts.python:PYTHON",
    functions="counterlens.syntax.definitions:python_definitions",
    operators="counterlens.syntax.operators:PYTHON",
    strict="counterlens.syntax.python_ast:parse_module",
    words="counterlens.syntax.python_ast:WORDS",
    dependence="counterlens.dependence.program:PYTHON",
    mutations="counterlens.mutations.python:PYTHON",
    judge="counterlens.attribution.python:PYTHON",
    prompts="counterlens.probes.prompts.python:PROMPTS",
    execution="counterlens.probes.execution.python:EXECUTION",
    swaps="counterlens.probes.operator.forms:PYTHON",
    interventions="counterlens.probes.dependence.python_interventions:INTERVENTIONS",
)
