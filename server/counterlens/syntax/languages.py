"""The supported languages: the one place that knows the tree-sitter grammars.

A language is one line of `_LANGUAGES`. Python, Java and JavaScript come with Counterlens; the others work as
soon as their grammar's package is installed, most of them by the extra `languages`.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import tree_sitter

from counterlens.errors import SourceError


@dataclass(frozen=True, slots=True)
class Language:
    """A language and the place of its grammar.

    Attributes:
        id: Its id, as editors call it.
        suffixes: How its files' names end.
        package: The Python package that holds its grammar.
        function: The function in it that gives the grammar.
        aliases: Other ids that editors have for it, and how interpreters of it are called.
    """

    id: str
    suffixes: tuple[str, ...]
    package: str
    function: str = "language"
    aliases: tuple[str, ...] = ()

    @property
    def installed(self) -> bool:
        """Whether its grammar is there."""
        return importlib.util.find_spec(self.package) is not None


_LANGUAGES = (
    Language("python", (".py", ".pyi", ".pyw"), "tree_sitter_python", aliases=("python3",)),
    Language("java", (".java",), "tree_sitter_java"),
    Language(
        "javascript",
        (".js", ".mjs", ".cjs", ".jsx"),
        "tree_sitter_javascript",
        aliases=("javascriptreact", "node"),
    ),
    Language("typescript", (".ts", ".mts", ".cts"), "tree_sitter_typescript", "language_typescript"),
    Language("typescriptreact", (".tsx",), "tree_sitter_typescript", "language_tsx"),
    Language("go", (".go",), "tree_sitter_go"),
    Language("rust", (".rs",), "tree_sitter_rust"),
    Language("c", (".c", ".h"), "tree_sitter_c"),
    Language("cpp", (".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"), "tree_sitter_cpp"),
    Language("csharp", (".cs",), "tree_sitter_c_sharp"),
    Language("kotlin", (".kt", ".kts"), "tree_sitter_kotlin"),
    Language("php", (".php",), "tree_sitter_php", "language_php"),
    Language("ruby", (".rb",), "tree_sitter_ruby"),
    Language("scala", (".scala", ".sc"), "tree_sitter_scala"),
    Language("shellscript", (".sh", ".bash"), "tree_sitter_bash", aliases=("bash", "sh")),
)
_BY_ID = {name: language for language in _LANGUAGES for name in (language.id, *language.aliases)}
_BY_SUFFIX = {suffix: language for language in _LANGUAGES for suffix in language.suffixes}
_SHEBANG = re.compile(rb"#!\s*\S*?(?:/env\s+(?:-S\s+)?)?([A-Za-z]+)[\d.]*(?:\s|$)")


def languages(*, installed: bool = True) -> list[str]:
    """The ids of the languages whose grammar is installed, or of all that are known."""
    return [language.id for language in _LANGUAGES if language.installed or not installed]


def suffixes() -> frozenset[str]:
    """The endings of the names of files whose language's grammar is installed."""
    return frozenset(suffix for suffix, language in _BY_SUFFIX.items() if language.installed)


def source_suffix(language: str) -> str:
    """The usual ending of the names of a language's source files.

    Raises:
        SourceError: no language has this id.
    """
    return _BY_ID[language_named(language)].suffixes[0]


def language_of(path: Path, data: bytes = b"") -> str:
    """The language id of a file, by its name, or by its first line if that names an interpreter.

    Args:
        path: Its path.
        data: How it begins.

    Raises:
        SourceError: neither tells.
    """
    known = _BY_SUFFIX.get(path.suffix.lower())
    if known is None and (shebang := _SHEBANG.match(data.split(b"\n", 1)[0])):
        known = _BY_ID.get(shebang[1].decode().lower())
    if known is None:
        raise SourceError(
            f"the language of {path.name} is unknown",
            f"Use a known file extension ({', '.join(sorted(suffixes()))}), or `score --language`",
        )
    return known.id


def language_named(name: str) -> str:
    """The language that an id means: `javascriptreact` is `javascript`.

    Raises:
        SourceError: no language is called so.
    """
    known = _BY_ID.get(name.lower())
    if known is None:
        raise SourceError(f"there is no language {name}", f"There are {', '.join(languages())}")
    return known.id


@cache
def grammar(language: str) -> tree_sitter.Language:
    """The tree-sitter grammar of a language.

    Raises:
        SourceError: there is no such language, or its grammar is not installed or unfit.
    """
    known = _BY_ID[language_named(language)]
    if not known.installed:
        package = known.package.replace("_", "-")
        raise SourceError(f"the grammar of {known.id} is not installed", f"Install it: pip install {package}")
    try:
        return tree_sitter.Language(getattr(importlib.import_module(known.package), known.function)())
    except (ImportError, AttributeError, ValueError) as error:  # made for another version of tree-sitter
        raise SourceError(f"the grammar of {known.id} cannot be used: {error}") from error


def parser_for(language: str) -> tree_sitter.Parser:
    """A parser of one's own: parsers are cheap and not thread-safe.

    Raises:
        SourceError: as `grammar`.
    """
    return tree_sitter.Parser(grammar(language))
