"""The available probes of a document's functions, counted a few at a time."""

from __future__ import annotations

from lsprotocol import types

from counterlens.lsp.analysis import Analysis
from counterlens.lsp.code_lens import Askable
from counterlens.syntax.document import Document

FUNCTION = "def f{0}(n):\n    if n > {0}:\n        return n\n    else:\n        return -n\n"
NOTHING = "def nothing():\n    pass\n"


def of(text: str) -> Analysis:
    return Analysis("file:///a.py", Document(text))


def test_functions_with_a_counterfactual_need_prompts_and_others_none() -> None:
    method = "class A:\n    @property\n" + "".join(
        f"    {line}\n" for line in FUNCTION.format(1).splitlines()
    )
    analysis = of(f"{FUNCTION.format(0)}\n\n{NOTHING}\n\n{method}")
    assert Askable(analysis).prompt_counts() == {}
    assert Askable(analysis).count(60)
    counts = Askable(analysis).prompt_counts()
    assert counts["nothing"] == 0
    assert counts["f0"] > 0
    assert counts["A.f1"] > 0


def test_those_in_view_are_counted_first_and_what_was_counted_stays() -> None:
    text = "\n\n".join(FUNCTION.format(number) for number in range(20))
    analysis = of(text)
    line = text.splitlines().index("def f12(n):")
    analysis.visible = types.Range(types.Position(line, 0), types.Position(line + 3, 0))
    assert not Askable(analysis).count(0.0)
    assert list(Askable(analysis).prompt_counts()) in ([], ["f12"])
    while not Askable(analysis).count(0.01):
        assert "f12" in Askable(analysis).prompt_counts()
    assert len(Askable(analysis).prompt_counts()) == 20
    counted = dict(analysis.askable)
    analysis.replace(Document(text.replace("n > 3", "n > 33")))
    assert len(Askable(analysis).prompt_counts()) == 19
    assert Askable(analysis).count(60)
    assert len(Askable(analysis).prompt_counts()) == 20
    assert len(analysis.askable) == len(counted)


def test_what_cannot_be_read_alone_is_offered_nothing() -> None:
    analysis = of("def f(n):\n    return (\n\n\nx = 1\n")
    assert Askable(analysis).count(60)
    assert not any(Askable(analysis).prompt_counts().values())
