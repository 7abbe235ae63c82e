"""The languages that are only scored; those without concepts use categories on which other tables agree."""

from __future__ import annotations

from counterlens.languages.language import Language

LANGUAGES = (
    Language(
        id="javascript",
        title="JavaScript",
        suffixes=(".js", ".mjs", ".cjs", ".jsx"),
        grammar="tree_sitter_javascript:language",
        aliases=("javascriptreact", "node"),
        concepts="counterlens.scored.concepts:JAVASCRIPT",
    ),
    Language(
        id="typescript",
        title="TypeScript",
        suffixes=(".ts", ".mts", ".cts"),
        grammar="tree_sitter_typescript:language_typescript",
        concepts="counterlens.scored.concepts:TYPESCRIPT",
    ),
    Language(
        id="typescriptreact",
        title="TypeScript with JSX",
        suffixes=(".tsx",),
        grammar="tree_sitter_typescript:language_tsx",
        concepts="counterlens.scored.concepts:TYPESCRIPTREACT",
    ),
    Language(
        id="go",
        title="Go",
        suffixes=(".go",),
        grammar="tree_sitter_go:language",
        concepts="counterlens.scored.concepts:GO",
    ),
    Language(
        id="rust",
        title="Rust",
        suffixes=(".rs",),
        grammar="tree_sitter_rust:language",
        concepts="counterlens.scored.concepts:RUST",
    ),
    Language(
        id="c",
        title="C",
        suffixes=(".c", ".h"),
        grammar="tree_sitter_c:language",
        concepts="counterlens.scored.concepts:C",
    ),
    Language(
        id="cpp",
        title="C++",
        suffixes=(".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"),
        grammar="tree_sitter_cpp:language",
        concepts="counterlens.scored.concepts:CPP",
    ),
    Language(
        id="csharp",
        title="C#",
        suffixes=(".cs",),
        grammar="tree_sitter_c_sharp:language",
        all_in_types=True,
        concepts="counterlens.scored.concepts:CSHARP",
    ),
    Language(id="kotlin", title="Kotlin", suffixes=(".kt", ".kts"), grammar="tree_sitter_kotlin:language"),
    Language(id="php", title="PHP", suffixes=(".php",), grammar="tree_sitter_php:language_php"),
    Language(id="ruby", title="Ruby", suffixes=(".rb",), grammar="tree_sitter_ruby:language", comment="#"),
    Language(id="scala", title="Scala", suffixes=(".scala", ".sc"), grammar="tree_sitter_scala:language"),
    Language(
        id="shellscript",
        title="Shell",
        suffixes=(".sh", ".bash"),
        grammar="tree_sitter_bash:language",
        aliases=("bash", "sh"),
        comment="#",
    ),
)
