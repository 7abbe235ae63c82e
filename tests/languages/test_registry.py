"""Languages are told by file name or interpreter; what is unknown or not installed is said clearly."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterlens.errors import SourceError
from counterlens.languages.registry import (
    LANGUAGES,
    installed_languages,
    language_named,
    language_of,
    suffixes,
    title_of,
)
from counterlens.syntax.document import Document
from counterlens.syntax.grammars import grammar


@pytest.mark.parametrize(
    ("name", "data", "language"),
    [
        ("a.py", b"", "python"),
        ("A.PYI", b"", "python"),
        ("Main.java", b"", "java"),
        ("a.mjs", b"", "javascript"),
        ("a.jsx", b"", "javascript"),
        ("a.tsx", b"", "typescriptreact"),
        ("a.go", b"", "go"),
        ("tool", b"#!/usr/bin/env python3\nx = 1\n", "python"),
        ("tool", b"#!/usr/bin/python3.11 -u\n", "python"),
        ("tool", b"#! /usr/bin/env -S node --flag\n", "javascript"),
    ],
)
def test_a_files_language(name: str, data: bytes, language: str) -> None:
    assert language_of(Path(name), data) == language


@pytest.mark.parametrize(("name", "data"), [("notes.txt", b"hello"), ("tool", b"#!/usr/bin/perl\n")])
def test_an_unknown_language_is_an_error_that_says_what_to_do(name: str, data: bytes) -> None:
    with pytest.raises(SourceError, match=r"language of .* is unknown") as caught:
        language_of(Path(name), data)
    assert "--language" in str(caught.value.hint)
    assert ".java, .js" in str(caught.value.hint)


def test_a_language_can_be_named_whatever_the_file_is_called(tmp_path: Path) -> None:
    path = tmp_path / "Main.txt"
    path.write_text("class Main { }\n")
    with pytest.raises(SourceError):
        Document.read(path)
    document = Document.read(path, language_named("JAVA"))
    assert document.tree.root_node.children[0].type == "class_declaration"
    assert language_named("javascriptreact") == "javascript"
    with pytest.raises(SourceError, match="no language klingon"):
        language_named("klingon")


def test_what_is_installed_works_and_what_is_not_says_what_to_install() -> None:
    assert {"python", "java", "javascript"} <= set(installed_languages())
    assert {".py", ".java", ".js"} <= suffixes()
    for language in installed_languages():
        grammar(language)
    missing = set(LANGUAGES) - set(installed_languages())
    for language in missing:
        with pytest.raises(SourceError, match="is not installed") as caught:
            grammar(language)
        assert "pip install tree-sitter-" in str(caught.value.hint)


def test_no_two_languages_claim_a_name() -> None:
    ids = [name for language in LANGUAGES.values() for name in (language.id, *language.aliases)]
    endings = [suffix for language in LANGUAGES.values() for suffix in language.suffixes]
    assert len(ids) == len(set(ids))
    assert len(endings) == len(set(endings))


def test_a_language_has_a_name_for_people_and_an_unknown_one_its_id() -> None:
    assert (title_of("csharp"), title_of("klingon")) == ("C#", "klingon")
