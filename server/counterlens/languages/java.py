"""Java."""

from __future__ import annotations

from counterlens.languages.language import Language

JAVA = Language(
    id="java",
    title="Java",
    suffixes=(".java",),
    grammar="tree_sitter_java:language",
    all_in_types=True,
    concepts="counterlens.syntax.concepts.java:JAVA",
    functions="counterlens.syntax.definitions:java_definitions",
    operators="counterlens.syntax.operators:JAVA",
    dependence="counterlens.dependence.java.language:JAVA",
    mutations="counterlens.mutations.java.language:JAVA",
    judge="counterlens.attribution.java.language:JAVA",
    prompts="counterlens.probes.prompts.java:PROMPTS",
    execution="counterlens.probes.execution.java.language:EXECUTION",
    swaps="counterlens.probes.operator.forms:JAVA",
    interventions="counterlens.probes.dependence.java_interventions:INTERVENTIONS",
)
