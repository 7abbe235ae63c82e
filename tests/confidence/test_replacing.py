"""The model's alternatives as replacements: whole words that parse, in place of the rest of the leaf."""

from __future__ import annotations

import math

import numpy as np
import pytest

from counterlens.confidence import Confidence, confidence
from counterlens.confidence.replacing import Replacement, parses, replace_in, replacements
from counterlens.models.base import TokenScores
from counterlens.syntax.document import Document


def scored(text: str, pieces: list[str], alternatives: list[tuple[str, float]]) -> Confidence:
    """A text cut into tokens, the last but one of which has these alternatives."""
    assert "".join(pieces) == text
    ends = np.cumsum([len(piece.encode()) for piece in pieces])
    n, k = len(pieces), len(alternatives)
    row = tuple(word for word, _ in alternatives)
    return confidence(
        Document(text),
        TokenScores(
            text=text,
            start=np.concatenate([[0], ends[:-1]]).astype(np.int64),
            end=ends.astype(np.int64),
            logprob=np.full(n, -4.0),
            entropy=np.ones(n),
            rank=np.ones(n, np.int64),
            alternative_logprob=np.tile([math.log(p) for _, p in alternatives], (n, 1)).reshape(n, k),
            alternative_text=(row,) * n,
            context=np.arange(n, dtype=np.int64),
        ),
    )


def offered(pieces: list[str], token: int, *words: str) -> list[str]:
    text = "".join(pieces)
    found = scored(text, pieces, [(word, 0.5 / (i + 1)) for i, word in enumerate(words)])
    return [replace_in(found.document, one) for one in replacements(found, token)]


def test_an_operator_is_replaced_without_its_blanks() -> None:
    pieces = ["if a", " <", " b", ":\n    pass\n"]
    assert offered(pieces, 1, " >=", ">", " =") == [
        "if a >= b:\n    pass\n",
        "if a > b:\n    pass\n",
    ]


def test_what_is_hardly_likelier_than_what_stands_is_not_offered() -> None:
    text = "if a < b:\n    pass\n"
    pieces = ["if a", " <", " b", ":\n    pass\n"]
    noisy = scored(text, pieces, [(" <=", math.exp(-3.9)), (" >", math.exp(-4.5))])
    assert replacements(noisy, 1) == ()
    clear = scored(text, pieces, [(" <=", math.exp(-3.5))])
    assert [one.text for one in replacements(clear, 1)] == ["<="]


def test_the_rest_of_a_word_goes_with_its_beginning() -> None:
    pieces = ["total = 1\nprint(", "zx", "qv", "kj", ")\n"]
    assert offered(pieces, 1, "total") == ["total = 1\nprint(total)\n"]
    assert offered(["to_do = 1\nprint(to", "_x", "y", ")\n"], 1, "_do") == ["to_do = 1\nprint(to_do)\n"]


def test_a_beginning_of_a_word_that_nobody_knows_is_not_offered() -> None:
    pieces = ["total = 1\nprint(", "zx", ")\n"]
    assert offered(pieces, 1, "tot", "len") == ["total = 1\nprint(len)\n"]


@pytest.mark.parametrize("word", [" #", "\n", "  ", "(", '"', "zx", ""])
def test_what_does_not_parse_or_changes_nothing_is_not_offered(word: str) -> None:
    assert offered(["a = 1\nprint(", "zx", ")\n"], 1, word) == []


def test_only_the_definition_around_has_to_parse() -> None:
    broken = Document("x = )\n\n\ndef f(a):\n    return a < 1\n")
    at = broken.data.index(b"<")
    assert parses(broken, Replacement(at, at + 1, ">", 0.5))
    assert not parses(broken, Replacement(at, at + 1, "=>", 0.5))
    assert not parses(broken, Replacement(4, 5, "]", 0.5))


def test_other_languages_are_parsed_by_their_grammar() -> None:
    script = Document("function f(a) { return a < 1; }\n", language="javascript")
    at = script.data.index(b"<")
    assert parses(script, Replacement(at, at + 1, "!==", 0.5))
    assert not parses(script, Replacement(at, at + 1, "not in", 0.5))
