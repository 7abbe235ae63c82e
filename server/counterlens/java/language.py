"""Java."""

from __future__ import annotations

from counterlens.languages.language import Language

JAVA = Language(
    id="java",
    title="Java",
    suffixes=(".java",),
    grammar="tree_sitter_java:language",
    all_in_types=True,
    concepts="counterlens.java.syntax:JAVA",
    functions="counterlens.java.syntax:java_definitions",
    operators="counterlens.java.syntax:OPERATORS",
    dependence="counterlens.java.dependence.language:JAVA",
    mutations="counterlens.java.mutations.language:JAVA",
    judge="counterlens.java.judging.language:JAVA",
    prompts="counterlens.java.prompts.language:PROMPTS",
    execution="counterlens.java.execution.language:EXECUTION",
    swaps="counterlens.java.swaps:SWAPS",
    examined="counterlens.java.examined:EXAMINED",
    interventions="counterlens.java.examined:INTERVENTIONS",
)
LANGUAGES = (JAVA,)
