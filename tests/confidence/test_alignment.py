"""The tokens of each node, against a plain definition, in three languages, under both rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.confidence import confidence
from counterlens.confidence.alignment import Rule, align, nodes, with_parents
from counterlens.syntax.document import Document
from tests.confidence.test_confidence import scores_of

SOURCES = {
    "python": """@cache(size=2)
async def größe(x, y=[]):  # type: (int, list) -> str
    z = []  # type: list[int]
    return f"{x!r:>{y}}😀{'ä' + f'{x}'}" b'' ) ? 3
class A(B, metaclass=M): pass
""",
    "java": """@Deprecated class Ä<T extends B> {
    int[] f(final int... x) throws E { return x == null ? "😀\\n" : new int[]{'é', 0x1F}; } ) ?
    /* Ende */ @A(b = 1) Ä() { this.<T>g(y -> y); }
""",
    "javascript": """@d export class A extends B { #p = `a${ {b: [`😀${1}`]} }c`; @e m() { return /ä+/g } }
const {x, ...y} = async ({z}) => <a b={1}>té{z}</a>; @@ ? foo( // Ende
""",
}


def splits_of(text: str) -> st.SearchStrategy[list[int]]:
    """Ends of tokens, also inside characters."""
    return st.lists(st.integers(1, len(text.encode()) - 1), unique=True).map(sorted)


CASES = st.sampled_from(sorted(SOURCES)).flatmap(
    lambda language: st.tuples(st.just(language), splits_of(SOURCES[language]))
)


@given(CASES)
def test_overlap_gives_a_node_the_tokens_that_share_a_byte_with_it(case: tuple[str, list[int]]) -> None:
    language, splits = case
    text = SOURCES[language]
    scores = scores_of(text, splits, [-1.0] * (len(splits) + 1))
    for node in confidence(Document(text, language=language), scores).nodes:
        expected = [
            i for i in range(len(scores)) if max(scores.start[i], node.start) < min(scores.end[i], node.end)
        ]
        assert list(range(*node.tokens)) == expected
        assert expected or node.start == node.end


@given(CASES)
def test_start_gives_a_node_the_tokens_whose_first_solid_byte_it_holds(case: tuple[str, list[int]]) -> None:
    language, splits = case
    text = SOURCES[language]
    data = text.encode()
    scores = scores_of(text, splits, [-1.0] * (len(splits) + 1))
    anchors = []
    for start, end in zip(scores.start, scores.end, strict=True):
        token = data[start:end]
        anchors.append(int(start) + (len(token) - len(token.lstrip()) if token.strip() else 0))
    for node in confidence(Document(text, language=language), scores, rule=Rule.START).nodes:
        expected = [i for i, anchor in enumerate(anchors) if node.start <= anchor < node.end]
        assert list(range(*node.tokens)) == expected


@given(CASES, st.sampled_from(list(Rule)))
def test_every_solid_byte_is_in_a_token_and_every_token_in_the_nodes_around_it(
    case: tuple[str, list[int]], rule: Rule
) -> None:
    language, splits = case
    text = SOURCES[language]
    data = text.encode()
    scores = scores_of(text, splits, [-1.0] * (len(splits) + 1))
    found = confidence(Document(text, language=language), scores, rule=rule)
    owned = {token for node in found.nodes for token in range(*node.tokens)}
    for i in range(len(scores)):
        if data[scores.start[i] : scores.end[i]].strip():
            assert i in owned
    for at in range(len(data)):
        if not data[at : at + 1].isspace():
            chain = found.at(at)
            assert chain
            if rule is Rule.OVERLAP:
                token = int(np.searchsorted(scores.end, at, side="right"))
                assert all(token in range(*node.tokens) for node in chain)


@given(CASES)
def test_start_counts_every_token_once_among_siblings(case: tuple[str, list[int]]) -> None:
    language, splits = case
    text = SOURCES[language]
    scores = scores_of(text, splits, [-1.0] * (len(splits) + 1))
    found = confidence(Document(text, language=language), scores, rule=Rule.START)
    for parent in found.parents:
        tokens = [t for node in found.nodes if node.parent == parent for t in range(*node.tokens)]
        assert len(tokens) == len(set(tokens))


@pytest.mark.parametrize(
    ("language", "kinds"),
    [
        ("python", {"decorator", "interpolation", "type_conversion", "format_specifier", "comment", "ERROR"}),
        ("java", {"marker_annotation", "annotation", "block_comment", "ERROR", "character_literal"}),
        ("javascript", {"decorator", "template_substitution", "jsx_text", "regex", "comment", "ERROR"}),
    ],
)
@pytest.mark.parametrize("rule", list(Rule))
def test_decorators_interpolations_comments_and_errors_are_nodes_like_others(
    language: str, kinds: set[str], rule: Rule
) -> None:
    text = SOURCES[language]
    each = list(range(1, len(text.encode())))  # a token a byte: characters are split
    found = confidence(
        Document(text, language=language), scores_of(text, each, [-1.0] * (len(each) + 1)), rule=rule
    )
    shown = {node.kind for node in found.nodes if node.confidence is not None}
    assert kinds <= shown
    assert sum(node.kind == "comment" for node in found.nodes) >= (2 if language == "python" else 0)


def test_a_token_that_straddles_two_nodes_counts_by_the_rule() -> None:
    text = "f(g(x))\n"
    scores = scores_of(text, [1, 2, 3, 4, 5, 7], [-1.0] * 7)  # the last bracket pair is one token
    for rule, expected in ((Rule.OVERLAP, [(5, 6), (5, 6)]), (Rule.START, [(5, 6), (6, 6)])):
        first, last = align(scores, np.array([5, 6]), np.array([6, 7]), rule)
        assert list(zip(first.tolist(), last.tolist(), strict=True)) == expected


@pytest.mark.parametrize("language", sorted(SOURCES))
def test_each_node_comes_with_its_parent(language: str) -> None:
    tree = Document(SOURCES[language], language=language).tree
    walked = list(with_parents(tree))
    assert [node.id for node, _ in walked] == [node.id for node in nodes(tree)]
    for node, parent in walked:
        assert (walked[parent][0] if parent >= 0 else None) == node.parent
