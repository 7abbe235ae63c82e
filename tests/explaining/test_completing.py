"""Completions explained: what was written, how sure the model was, and where it leaves the code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from counterlens.errors import SourceError
from counterlens.explaining.completing import Explained, explain
from counterlens.explaining.completion_tree import NodeOrigin, completion_tree
from counterlens.explaining.places import both_sides, cursor, cursor_at
from counterlens.models.base import Completion, Model, Prompt
from counterlens.models.llama.model import LlamaModel
from counterlens.progress import Steps
from counterlens.reports.build.explanation import break_sentence, departure_sentence, syntax_figure
from counterlens.syntax.document import Document

PARITY = (Path(__file__).parents[2] / "examples" / "parity.py").read_text()
BRANCH = PARITY.splitlines().index('        return "even"') + 1


class Writer(Model):
    """The embedded model's probabilities of texts that are given."""

    def __init__(self, model: LlamaModel, *texts: str) -> None:
        self._model, self._texts = model, list(texts)

    @property
    def info(self) -> Any:
        return self._model.info

    def complete(self, prompts: Sequence[Prompt], **_options: Any) -> list[Completion]:
        return [Completion(self._texts.pop(0), "stop", 1) for _ in prompts]

    def score(self, text: str, **options: Any) -> Any:
        return self._model.score(text, **options)


def written(model: LlamaModel, text: str, source: str = PARITY, line: int = BRANCH) -> Explained:
    at = cursor(Document(source), line)
    return explain(Writer(model, text), at.document, at.qualname, at.offset, 64, Steps())


def test_the_code_that_stands_there_is_no_departure_however_it_is_quoted(model: LlamaModel) -> None:
    for quote in "'\"":
        found = written(model, f"        return {quote}even{quote}\n    else:\n        return 'odd'\n")
        assert found.departure is None
        assert departure_sentence(found) == "It wrote the existing code."
        assert not found.errors
        assert "".join(token.text for token in found.tokens).strip().startswith("return")
        kinds = {node.kind for node in found.nodes}
        assert {"return_statement", "string"} <= kinds
        assert "if_statement" not in kinds  # it began before the cut


def test_the_first_leaf_that_differs_has_the_probabilities_of_both(wide_model: LlamaModel) -> None:
    found = written(wide_model, '        return "odd"\n    else:\n        return "even"\n')
    gone = found.departure
    assert gone is not None
    assert (gone.line, gone.wrote, gone.stands, gone.kind) == (BRANCH, "odd", "even", "string")
    at = PARITY[: PARITY.index('even"\n    else')]
    right, wrong = (wide_model.score(at + word + '"\n').probability for word in ("even", "odd"))
    assert gone.stands_probability == pytest.approx(right[-3], rel=0.2)
    assert gone.wrote_probability is not None
    assert gone.stands_probability is not None
    assert 0 < gone.wrote_probability < gone.stands_probability <= 1
    assert wrong[-3] < right[-3]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('        return "even"\n', BRANCH, "it ended where `else`"),
        (
            '        return "even"\n    else:\n        return "odd"\n    return n\n',
            BRANCH + 3,
            "it continued with",
        ),
    ],
)
def test_a_completion_may_end_early_or_go_on(model: LlamaModel, text: str, line: int, said: str) -> None:
    found = written(model, text)
    assert found.departure is not None
    assert found.departure.line == line
    assert said in departure_sentence(found)


def test_what_does_not_parse_is_an_error_node_of_the_completion(model: LlamaModel) -> None:
    found = written(model, '        return "even" )(\n')
    assert found.errors
    assert all(node.end > found.start for node in found.errors)


def test_a_completion_stays_inside_its_function(model: LlamaModel) -> None:
    source = PARITY.rstrip("\n") + "\n\n\ndef after(n):\n    return n\n"
    for opened in ('        return """even\n        and so on\n', "        return max(\n            n,\n"):
        found = written(model, "        n += 1\n" + opened, source)
        assert found.scored.document.text.endswith("\n\n\ndef after(n):\n    return n\n")
        assert found.text.rstrip() == "        n += 1"


def test_the_first_line_is_known_before_the_rest(model: LlamaModel) -> None:
    at, lines = cursor(Document(PARITY), BRANCH), list[str]()
    text = '        return "even"\n    else:\n        return "odd"\n'
    writer = Writer(model, text[:20], text)
    found = explain(writer, at.document, at.qualname, at.offset, 64, Steps(), lines.append)
    assert lines == ['        return "even'[:20]]
    assert found.departure is None


def test_other_line_ends_and_characters_keep_their_places(model: LlamaModel) -> None:
    source = (
        PARITY.replace("n %", "n😀".replace("😀", "") + " %")
        .replace('"even"', '"gerade 😀"')
        .replace("\n", "\r\n")
    )
    found = written(model, '        return "gerade 😀"\n    else:\n        return "odd"\n', source)
    assert found.departure is None
    assert found.scored.document.text == source


def test_both_cuts_of_a_counterfactual(model: LlamaModel) -> None:
    before, after = both_sides(cursor(Document(PARITY), BRANCH), "if-else-flip")
    assert (before.title, after.title) == ("as written", "after if-else-flip")
    assert after.document.text != before.document.text == PARITY
    habit = '        return "even"\n    else:\n        return "odd"\n'
    writer = Writer(model, habit, habit)
    sides = [explain(writer, one.document, one.qualname, one.offset, 64, Steps()) for one in (before, after)]
    assert sides[0].departure is None
    assert sides[1].departure is not None
    assert sides[1].departure.stands == "odd"
    assert break_sentence(*sides).count("only after the change") == 1
    with pytest.raises(SourceError, match="no variables"):
        both_sides(cursor(Document(PARITY), BRANCH), "rename-random")


NESTED = """def outer(values):
    total = 0

    def add(value,
            times=1):
        return value * times

    def one(): return 1
    return total
"""


@pytest.mark.parametrize(
    ("line", "column", "function"),
    [
        (2, None, "outer"),
        (3, None, "outer"),
        (4, None, "outer"),
        (5, None, "outer"),
        (6, None, "outer.add"),
        (8, None, "outer"),
        (8, 16, "outer.one"),
        (9, None, "outer"),
    ],
)
def test_the_function_is_the_one_whose_body_the_place_is_in(
    line: int, column: int | None, function: str
) -> None:
    assert cursor(Document(NESTED), line, column).qualname == function


def test_a_header_is_no_place_to_complete() -> None:
    with pytest.raises(SourceError, match="not in the body"):
        cursor(Document(NESTED), 1)


def test_prompt_and_completion_stand_in_one_tree(model: LlamaModel) -> None:
    rows = completion_tree(written(model, '        return "odd"\n    else:\n        return "even"\n'))
    assert [(row.kinds[-1], row.origin, row.depth) for row in rows[:4]] == [
        ("function_definition", NodeOrigin.AROUND, 0),
        ("expression_statement", NodeOrigin.PROMPT, 1),
        ("if_statement", NodeOrigin.AROUND, 1),
        ("comparison_operator", NodeOrigin.PROMPT, 2),
    ]
    mine = [row for row in rows if row.origin is NodeOrigin.WRITTEN]
    assert [row.kinds for row in mine] == [
        ("block", "return_statement"),
        ("string",),
        ("string_content",),
        ("else_clause",),
        ("block", "return_statement"),
        ("string",),
        ("string_content",),
    ]
    assert all(row.confidence is not None and row.minimum is not None for row in mine)
    assert all(row.confidence is None for row in rows if row.origin is not NodeOrigin.WRITTEN)
    assert [(row.text, row.departure.stands) for row in rows if row.departure] == [("odd", "even")]
    assert all(row.least is not None and row.least.alternatives for row in mine)


def test_the_picture_has_every_row_and_escapes_what_was_written(model: LlamaModel) -> None:
    found = written(model, '        return "<b>" )(\n')
    drawn = syntax_figure([("as written", found)])
    rows = completion_tree(found)
    assert drawn.svg.count('<g class="') == drawn.svg.count("</g>") == len(rows)
    assert "<b>" not in drawn.svg
    assert 'class="error' in drawn.svg
    assert any(row.error for row in rows)
    assert len(drawn.table.rows) == sum(row.origin is NodeOrigin.WRITTEN for row in rows)


UNFINISHED = """class Pair:
    def smaller(self):
        if self.a < self.b:
            return%s

def after():
    return 1
"""


@pytest.mark.parametrize("blanks", ["", " ", "\n", "\n        ", "  \n\n            "])
def test_a_function_may_be_completed_behind_its_last_word(model: LlamaModel, blanks: str) -> None:
    source = UNFINISHED % blanks
    offset = source.index("return") + len("return" + blanks)
    if blanks == "\n":
        with pytest.raises(SourceError, match="not in the body"):
            cursor_at(Document(source), offset)
        return
    at = cursor_at(Document(source), offset)
    assert at.qualname == "Pair.smaller"
    found = explain(Writer(model, " self.a\n"), at.document, at.qualname, at.offset, 64, Steps())
    assert found.fresh
    assert found.departure is None
    assert departure_sentence(found) == "There is no code yet."
    text = found.scored.document.text
    assert text.startswith(source[:offset] + " self.a\n")
    assert text.endswith("\n\ndef after():\n    return 1\n")
    assert source[found.start : found.removed].strip() == ""
