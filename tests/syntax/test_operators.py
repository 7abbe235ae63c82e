"""Operators in a tree: where they stand, and what could stand there."""

from __future__ import annotations

import pytest

from counterlens.errors import SourceError
from counterlens.syntax.document import Document
from counterlens.syntax.operators import (
    OPERATORS,
    Family,
    leaves,
    operator_at,
    operator_sites,
    operator_table,
)

SOURCE = """\
def f(a, b):
    if a not  in b and a is not None or not a:
        a += -b ** 2
    x = a < b <= 3
    return "%s" % (a & b), f"{a == b}", [*b]
"""


def test_every_binary_operator_is_found_and_no_other() -> None:
    sites = operator_sites(Document(SOURCE))
    assert [site.operator for site in sites] == [
        "not in",
        "and",
        "is not",
        "or",
        "+=",
        "**",
        "<",
        "<=",
        "%",
        "&",
        "==",
    ]
    families = {site.operator: site.family for site in sites}
    assert families["not in"] is Family.MEMBERSHIP
    assert families["is not"] is Family.IDENTITY
    assert families["<"] is families["=="] is Family.COMPARISON
    assert families["+="] is Family.AUGMENTED
    assert families["&"] is Family.BITWISE


def test_a_site_is_one_of_its_candidates_and_its_offsets_are_bytes() -> None:
    document = Document("é = 'ü' + a  # ∑\n")
    (site,) = operator_sites(document)
    assert document.data[site.start : site.end] == b"+"
    assert document.data[slice(*site.span)].decode() == "'ü' + a"
    for found in operator_sites(Document(SOURCE)):
        assert found.operator in found.candidates
        assert len(found.candidates) == len(set(found.candidates)) >= 2


def test_a_span_limits_what_is_found() -> None:
    text = "a = 1 + 2\nb = 3 - 4\n"
    assert [site.operator for site in operator_sites(Document(text), (10, len(text)))] == ["-"]


def test_comparisons_have_the_candidates_of_the_paper() -> None:
    (site,) = operator_sites(Document("a < b\n"))
    assert set(site.candidates) == {"==", "!=", "<", ">", "<=", ">="}


def test_candidates_of_one_operator_have_it_as_candidate() -> None:
    for table in map(operator_table, OPERATORS):
        for (kind, operator), (family, candidates) in table.items():
            assert operator in candidates
            for other in candidates:
                assert table[kind, other] == (family, candidates)


def test_java_has_its_own() -> None:
    document = Document(
        "class A { boolean f(int a) { a += 1; return a >= 2 && a % 2 != 1; } }", language="java"
    )
    assert [site.operator for site in operator_sites(document)] == ["+=", ">=", "&&", "%", "!="]


def test_a_language_without_a_table_is_refused() -> None:
    with pytest.raises(SourceError, match="cobol"):
        operator_sites(Document("a", language="cobol"))


def test_leaves_tile_what_is_not_blank() -> None:
    document = Document(SOURCE)
    found = leaves(document)
    assert found == sorted(found)
    kept = b"".join(document.data[start:end] for start, end in found)
    assert kept.split() == [kept]
    assert len(b"".join(document.data.split())) == len(kept)


def test_the_operator_at_each_of_its_bytes_and_at_none_beside_it() -> None:
    text = "x = a not in b and -c <= d\ny += 1\n"
    document = Document(text)
    for site in operator_sites(document):
        assert {operator_at(document, at) for at in range(site.start, site.end) if text[at] != " "} == {site}
        assert operator_at(document, site.start - 1) != site
        assert operator_at(document, site.end) != site
    assert operator_at(document, text.index("-c")) is None
    assert operator_at(Document("a < b", language="javascript"), 2) is None
