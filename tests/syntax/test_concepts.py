"""Every node type of the grammars has a concept category."""

from __future__ import annotations

import pytest

from counterlens.syntax.concepts import FREE_TEXT, TABLES, Category, category_of
from counterlens.syntax.grammars import grammar

LANGUAGES = sorted(TABLES)
NOT_IN_A_TABLE = {Category.UNCATEGORISED}


def named_kinds(language: str) -> set[str]:
    known = grammar(language)
    numbers = range(known.node_kind_count)
    kinds = (
        known.node_kind_for_id(n)
        for n in numbers
        if known.node_kind_is_named(n) and known.node_kind_is_visible(n)
    )
    return {kind for kind in kinds if kind}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_named_node_type_has_a_category(language: str) -> None:
    missing = {kind for kind in named_kinds(language) if category_of(language, kind) in NOT_IN_A_TABLE}
    assert missing == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_category_names_a_node_type_that_is_not_there_or_is_elsewhere(language: str) -> None:
    listed = [kind for kinds in TABLES[language].values() for kind in kinds.split()]
    assert len(listed) == len(set(listed))
    assert set(listed) <= named_kinds(language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_category_of_the_paper_occurs_where_the_language_has_it(language: str) -> None:
    found = {category_of(language, kind) for kind in named_kinds(language)}
    asserts = language in {"python", "java", "cpp"}  # elsewhere it is a function or a macro like others
    assert set(Category) - found == NOT_IN_A_TABLE | (set() if asserts else {Category.TESTING})


def test_prose_is_named_as_the_grammars_name_it() -> None:
    assert set().union(*(named_kinds(language) for language in LANGUAGES)) >= FREE_TEXT


@pytest.mark.parametrize(("language", "like"), [("typescript", "javascript"), ("cpp", "c")])
def test_what_two_related_grammars_share_has_one_category(language: str, like: str) -> None:
    shared = named_kinds(language) & named_kinds(like)
    assert len(shared) > 90
    assert {kind for kind in shared if category_of(language, kind) is not category_of(like, kind)} == set()


def test_a_language_without_a_table_has_what_the_tables_agree_about() -> None:
    assert "shellscript" not in TABLES
    known = {kind: category_of("shellscript", kind) for kind in named_kinds("shellscript")}
    assert known["if_statement"] is Category.DECISION
    assert known["comment"] is Category.NATURAL_LANGUAGE
    assert known["command_substitution"] is Category.UNCATEGORISED
    assert category_of("kotlin", "ERROR") is Category.STRUCTURE
    assert category_of("python", "method_invocation") is Category.UNCATEGORISED


def test_tables_that_differ_or_one_alone_say_nothing_of_another_language() -> None:
    assert category_of("go", "parameter_declaration") is Category.SCOPE
    assert category_of("java", "yield_statement") is not category_of("csharp", "yield_statement")
    assert category_of("kotlin", "yield_statement") is Category.UNCATEGORISED
    assert category_of("go", "channel_type") is Category.TYPES
    assert category_of("kotlin", "channel_type") is Category.UNCATEGORISED
