"""Concepts, leaves and statements of files in every language with a table, and in one without."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterlens.confidence import Confidence, confidence
from counterlens.confidence.granularity import Granularity, spans
from counterlens.confidence.surprising import leaves
from counterlens.confidence.units import units
from counterlens.syntax.concepts import TABLES, Category
from counterlens.syntax.document import Document
from tests.confidence.test_confidence import scores_of

FILES = sorted((Path(__file__).parents[1] / "syntax" / "data").iterdir())
NAMES = [path.name for path in FILES]


def placed(document: Document) -> Confidence:
    """A document with one token per byte, all equally likely."""
    size = len(document.data)
    return confidence(document, scores_of(document.text, list(range(1, size)), [-1.0] * size))


@cache
def file_named(name: str) -> Confidence:
    return placed(Document.read(FILES[NAMES.index(name)]))


def test_there_is_a_file_of_each_language_with_a_grammar_of_its_own_package() -> None:
    found = {file_named(name).document.language for name in NAMES}
    assert found == {*TABLES, "shellscript"} - {"python", "java", "javascript"}
    assert not any(file_named(name).document.tree.root_node.has_error for name in NAMES)


@pytest.mark.parametrize(
    ("name", "text", "kind", "category"),
    [
        ("pool.go", "go p.work(i)", "go_statement", Category.FUNCTIONAL),
        ("pool.go", "done map[string]*T", "field_declaration", Category.SCOPE),
        ("pool.go", "p.done[`key`", "index_expression", Category.DATA_STRUCTURES),
        ("pool.go", "err := job", "short_var_declaration", None),
        ("pool.go", "value, err := job", "short_var_declaration", Category.OPERATORS),
        ("pool.go", "for _, x := range xs", "for_statement", Category.ITERATION),
        ("pool.go", "defer fmt", "defer_statement", Category.EXCEPTIONS),
        ("shapes.rs", "value.parse::<i64>()?", "try_expression", Category.EXCEPTIONS),
        ("shapes.rs", "|x| x.abs()", "closure_expression", Category.FUNCTIONAL),
        ("shapes.rs", "match self", "match_expression", Category.DECISION),
        ("shapes.rs", "'a str", "lifetime", Category.TYPES),
        ("list.c", "at->word[0]", "subscript_expression", Category.DATA_STRUCTURES),
        ("list.c", "goto fail", "goto_statement", Category.ITERATION),
        ("list.c", "#ifdef DEBUG", "preproc_ifdef", Category.DECISION),
        ("list.c", "(int)at->count", "cast_expression", Category.TYPES),
        ("matrix.cpp", "static_assert", "static_assert_declaration", Category.TESTING),
        ("matrix.cpp", "[&sum, by", "lambda_expression", Category.FUNCTIONAL),
        ("matrix.cpp", "catch (const", "catch_clause", Category.EXCEPTIONS),
        ("Ledger.cs", "from pair in", "from_clause", Category.FUNCTIONAL),
        ("Ledger.cs", "level switch", "switch_expression", Category.DECISION),
        ("Ledger.cs", "decimal Price", "parameter", Category.SCOPE),
        ("store.ts", "T[K] extends string", "conditional_type", Category.TYPES),
        ("store.ts", "this.listeners!", "non_null_expression", Category.TYPES),
        ("store.ts", "private state: T", "required_parameter", Category.SCOPE),
        ("List.tsx", '<p className="empty">', "jsx_opening_element", Category.DATA_STRUCTURES),
        ("backup.sh", "$(basename", "command_substitution", Category.UNCATEGORISED),
        ("backup.sh", "for file in", "for_statement", Category.ITERATION),
    ],
)
def test_the_category_of_a_construct(name: str, text: str, kind: str, category: Category | None) -> None:
    found = file_named(name)
    at = found.document.data.index(text.encode())
    known = {node.kind: node.category for node in found.nodes if node.start == at}
    assert known.get(kind) is category


@pytest.mark.parametrize("name", NAMES)
def test_no_comment_and_no_string_is_among_the_leaves_that_may_surprise(name: str) -> None:
    found = file_named(name)
    rows = leaves(found)
    code = [found.nodes[i] for i in rows.node.tolist() if found.nodes[i].kind != "preproc_arg"]  # a macro's
    words = [found.document.data[node.start : node.end] for node in code]
    assert len(words) > 60
    assert not [word for word in words if word.startswith((b"//", b"/*")) or b" " in word.strip()]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "backup.sh"])
def test_every_line_of_code_is_in_a_statement(name: str) -> None:
    found = file_named(name)
    positions = found.document.positions
    painted: set[int] = set()
    for span in spans(found, Granularity.STATEMENT):
        painted.update(range(positions.line_of(span.start), positions.line_of(span.end - 1) + 1))
    lines = found.document.text.splitlines()
    left = [lines[i].strip() for i in range(len(lines)) if i not in painted and lines[i].strip()]
    comments = ("//", "/*", "#endif", "#nullable")
    assert [line for line in left if not line.startswith(comments)] == []


def test_attributes_of_rust_are_scored_with_what_they_are_of() -> None:
    document = file_named("shapes.rs").document
    pieces = [document.data[unit.start : unit.end].strip() for unit in units(document)]
    assert any(piece.startswith(b"#[derive(Debug, Clone, PartialEq)]\npub struct") for piece in pieces)
    assert any(piece.startswith(b"#[cfg(test)]\nmod tests") for piece in pieces)


@given(
    st.sampled_from(NAMES),
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 40)), max_size=4),
)
@settings(max_examples=60, deadline=None)
def test_every_node_has_a_category_or_says_that_it_has_none(name: str, cuts: list[tuple[float, int]]) -> None:
    document = file_named(name).document
    text = document.text
    for where, size in cuts:  # also where the file does not parse any more
        at = int(where * len(text))
        text = text[:at] + text[at + size :]
    found = placed(Document(text, language=document.language))
    for node in found.nodes:
        if not node.named:
            above = found.nodes[node.parent].category if node.parent >= 0 else Category.STRUCTURE
            assert node.category is above
        elif document.language in TABLES:
            assert node.category is not Category.UNCATEGORISED, node.kind
    leaf = {i for i in range(len(found.nodes)) if i not in found.parents}
    assert {found.nodes[i].category for i in leaf} <= set(Category)


@pytest.mark.parametrize(
    ("language", "text", "left", "kept"),
    [
        ("python", "with lock:\n    f(lock)\n", [], ["lock", "f"]),
        ("python", "def f(x):\n    return x\n", ["f"], ["x"]),
        ("rust", "fn f(x: u8) -> u8 { let y = x; y }\n", ["f"], ["x", "y"]),
        ("rust", "const A: u8 = B;\n", [], ["A", "B"]),
        ("c", "int f(int x) { return x; }\n", ["f"], ["x"]),
        ("go", "func f(x int) int { return x }\n", ["f"], ["x"]),
    ],
)
def test_names_that_a_definition_gives_are_no_leaves_and_those_that_are_used_are(
    language: str, text: str, left: list[str], kept: list[str]
) -> None:
    found = placed(Document(text, language=language))
    words = [text[found.nodes[i].start : found.nodes[i].end] for i in leaves(found).node.tolist()]
    assert not set(left) & set(words)
    assert set(kept) <= set(words)
