"""Concept sets are data: the authors', our own, and those of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterlens.errors import OptionError
from counterlens.syntax.concepts import NO_CONCEPTS, Category
from counterlens.syntax.concepts.sets import AUTHORS, COUNTERLENS, OWN, concept_set


def test_the_authors_have_32_node_types_nine_of_them_terminals() -> None:
    authors = concept_set(AUTHORS)
    assert authors.kinds is not None
    assert len(authors.kinds) == 32
    terminals = {"]", ")", "}", ":", "elif", "else", "except", "raise", "finally"}
    assert terminals < set(authors.kinds)
    assert set(authors.categories) == set(Category) - NO_CONCEPTS
    assert authors.types_of("scope") == ("return_statement", "]", ")", "}", ":")
    assert authors.concept(")", Category.STRUCTURE, named=False) == "scope"
    assert authors.concept("call", Category.FUNCTIONAL, named=True) is None


def test_our_own_are_the_named_nodes_by_their_tables() -> None:
    assert concept_set(OWN) is COUNTERLENS
    assert COUNTERLENS.concept("call", Category.FUNCTIONAL, named=True) == "functional programming"
    assert COUNTERLENS.concept(")", Category.SCOPE, named=False) is None


@pytest.mark.parametrize("kind", ["for_in_clause", "if_clause", "list_comprehension", "lambda"])
def test_a_node_type_has_one_category_wherever_it_is_named(kind: str) -> None:
    from counterlens.probes.confidence import NODE_TYPES
    from counterlens.syntax.concepts import category_of

    authors = concept_set(AUTHORS).kinds or {}
    assert authors[kind] == category_of("python", kind) == NODE_TYPES[kind] == Category.FUNCTIONAL


def test_a_file_names_categories_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "set.toml"
    path.write_text('[concepts]\nloops = ["for_statement", "while"]\nbrackets = [")", "]"]\n')
    found = concept_set(str(path))
    assert found.categories == ("loops", "brackets")
    assert found.concept("while", Category.ITERATION, named=False) == "loops"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[concepts", "TOML file"),
        ("[other]\nx = 1\n", "has no concepts"),
        ('[concepts]\na = "x"\n', "list of strings"),
        ('[concepts]\na = ["for_statement"]\nb = ["for_statement"]\n', "under both 'a' and 'b'"),
        ('[concepts]\na = ["for_statment"]\n', "the grammar of python has no node type 'for_statment'"),
    ],
)
def test_a_file_that_is_wrong_says_where(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "set.toml"
    path.write_text(text)
    with pytest.raises(OptionError, match=said):
        concept_set(str(path))
    with pytest.raises(OptionError, match="there is no concept set"):
        concept_set(str(tmp_path / "none.toml"))
