"""The parts of languages: each is read in one place, is there where it is named, and its lack is said."""

from __future__ import annotations

from dataclasses import fields
from pkgutil import resolve_name

import pytest

import counterlens.cli.doctor  # noqa: F401 - loads what reads a part, with the probes below
from counterlens import plugins
from counterlens.errors import SourceError
from counterlens.judging.languages import JUDGED
from counterlens.languages.language import Language
from counterlens.languages.part import PARTS, FunctionAt, LanguagePart
from counterlens.languages.registry import LANGUAGES
from counterlens.probes.registry import PROBES

list(PROBES.values())

FIELDS = [field.name for field in fields(Language) if field.default == ""]
"""The parts that a language may name."""


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Language:
    """A language that a plug-in adds, some of whose parts are not there."""
    language = Language(
        id="toy",
        title="Toy",
        suffixes=(".toy",),
        grammar="tree_sitter_python:language",
        functions="counterlens.python.syntax.concepts:python_definitions",
        words="a_package_that_is_not_there:WORDS",
        concepts="counterlens.python.syntax.concepts:python_definitions",
        strict="counterlens.python.syntax.parsing:NOTHING",
    )
    monkeypatch.setattr(LANGUAGES, "_added", {"toy": language})
    monkeypatch.setattr(plugins, "failures", [])
    for known in PARTS.values():
        monkeypatch.setattr(known, "_loaded", {})
    return language


def test_each_part_is_read_in_one_place() -> None:
    assert sorted(PARTS) == sorted(FIELDS)
    with pytest.raises(AssertionError):
        LanguagePart("functions")
    with pytest.raises(AssertionError):
        LanguagePart("colour")


@pytest.mark.parametrize("field", FIELDS)
def test_what_a_language_names_is_there(field: str) -> None:
    naming = [language.id for language in LANGUAGES.values() if getattr(language, field)]
    assert naming
    assert list(PARTS[field]) == naming
    assert all(PARTS[field][language] is not None for language in naming)


def test_a_language_without_a_part_is_told_which_have_it() -> None:
    with pytest.raises(SourceError, match="programs in Rust cannot be judged") as refused:
        JUDGED.require("rust")
    assert refused.value.hint == "Those in Python and Java can"
    with pytest.raises(SourceError, match="programs in klingon cannot be judged"):
        JUDGED.require("klingon")
    assert "rust" not in JUDGED
    assert "klingon" not in JUDGED


def test_a_part_of_a_plugin_that_cannot_be_loaded_is_left_out_with_the_reason(added: Language) -> None:
    assert added.id in PARTS["functions"]
    for field in ("words", "concepts", "strict", "judge"):
        assert PARTS[field].get(added.id) is None
        assert added.id not in PARTS[field]
    assert [(failure.name, failure.error) for failure in plugins.failures] == [
        ("toy", "its words: ModuleNotFoundError: No module named 'a_package_that_is_not_there'"),
        (
            "toy",
            "its concepts: TypeError: counterlens.python.syntax.concepts:python_definitions is no Mapping",
        ),
        (
            "toy",
            "its strict: AttributeError: module 'counterlens.python.syntax.parsing' has no attribute "
            "'NOTHING'",
        ),
    ]


@pytest.mark.parametrize("language", sorted(JUDGED))
def test_a_function_that_is_imported_when_it_is_called_is_there(language: str) -> None:
    judged = JUDGED[language]
    values = [getattr(judged, field.name) for field in fields(judged)]
    inside = [value for mapping in values if isinstance(mapping, dict) for value in mapping.values()]
    places = [value.place for value in (*values, *inside) if isinstance(value, FunctionAt)]
    assert all(callable(resolve_name(place)) for place in places), places
