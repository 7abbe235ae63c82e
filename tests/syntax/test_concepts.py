"""Every node type of the grammars has a concept category."""

from __future__ import annotations

import pytest

from counterlens.syntax.concepts import FREE_TEXT, TABLES, Category, category_of
from counterlens.syntax.languages import grammar

LANGUAGES = sorted(TABLES)


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
    missing = sorted(kind for kind in named_kinds(language) if category_of(language, kind) is None)
    assert missing == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_category_names_a_node_type_that_is_not_there_or_is_elsewhere(language: str) -> None:
    listed = [kind for kinds in TABLES[language].values() for kind in kinds.split()]
    assert len(listed) == len(set(listed))
    assert set(listed) <= named_kinds(language)


@pytest.mark.parametrize(("language", "none"), [("python", 0), ("java", 0), ("javascript", 1)])
def test_every_category_of_the_paper_occurs_where_the_language_has_it(language: str, none: int) -> None:
    found = {category_of(language, kind) for kind in named_kinds(language)}
    assert len(set(Category) - found) == none
    assert set(Category) - found <= {Category.TESTING}


def test_prose_is_named_as_the_grammars_name_it() -> None:
    assert set().union(*(named_kinds(language) for language in LANGUAGES)) >= FREE_TEXT


def test_a_language_without_a_table_has_what_the_tables_agree_about() -> None:
    assert category_of("go", "if_statement") is Category.DECISION
    assert category_of("go", "identifier") is Category.NATURAL_LANGUAGE
    assert category_of("go", "chan_type") is None
    assert category_of("go", "pattern") is Category.DECISION
    assert category_of("go", "ERROR") is Category.STRUCTURE
    assert category_of("python", "method_invocation") is None
