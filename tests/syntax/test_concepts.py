"""Every node type of the grammar has a concept category."""

from __future__ import annotations

from counterlens.syntax.concepts import _PYTHON, Category, category_of
from counterlens.syntax.languages import grammar


def named_kinds() -> set[str]:
    python = grammar("python")
    numbers = range(python.node_kind_count)
    kinds = (python.node_kind_for_id(n) for n in numbers if _is_rule(n))
    return {kind for kind in kinds if kind}


def _is_rule(number: int) -> bool:
    python = grammar("python")
    return python.node_kind_is_named(number) and python.node_kind_is_visible(number)


def test_every_named_node_type_has_a_category() -> None:
    missing = sorted(kind for kind in named_kinds() if category_of("python", kind) is None)
    assert missing == []


def test_no_category_names_a_node_type_that_is_not_there_or_is_elsewhere() -> None:
    listed = [kind for kinds in _PYTHON.values() for kind in kinds.split()]
    assert len(listed) == len(set(listed))
    assert set(listed) <= named_kinds()


def test_every_category_of_the_paper_occurs() -> None:
    assert {category_of("python", kind) for kind in named_kinds()} == set(Category)
