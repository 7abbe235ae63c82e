"""The published form of counterfactual pairs: which sites, what is shown, and what is counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterlens.errors import OptionError
from counterlens.metrics.effects import Effect, Proportion
from counterlens.metrics.summary import Observation, summarize
from counterlens.mutations import Survey, survey
from counterlens.probes.operator.memorisation import MemorisationProbe, _flips
from counterlens.probes.options import make, plain_options
from counterlens.probes.pairs.completion import CompletionProbe
from counterlens.probes.pairs.counterfactuals import NOT_IN_ALL, OWN_CUT, cut_in_all
from counterlens.probes.pairs.methods import forms_of
from counterlens.probes.pairs.published import CACP, PAPER_ORDER
from counterlens.probes.pairs.record import SourceEdit
from counterlens.probes.pairs.repair import RepairProbe
from counterlens.probes.prompts.gap import Gap, View
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from tests.evaluation.made_up import pair, pairs_record


def published(source: str, mutation: str, ratio: float | tuple[float, float] = 0.75) -> Survey:
    return survey(source, mutations=forms_of(CACP, [mutation], 9), prefix_ratio=ratio)


def branch(test: str, otherwise: str = "    else:\n        y = 2\n") -> str:
    return f"def f(a, b, xs):\n    if {test}:\n        y = 1\n{otherwise}    return y\n"


@pytest.mark.parametrize(
    "test", ["a == b", "a < 1 and not b >= 2", "len(xs) != 3 or a in xs", "a is not None", "a.lower() == b"]
)
def test_an_if_else_with_a_comparison_is_flipped(test: str) -> None:
    (made,) = published(branch(test), "if-else-flip").counterfactuals
    assert "else:\n        y = 1" in made.source


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (branch("a"), "comparisons"),
        (branch("a == 1 or b"), "comparisons"),
        (branch("0 < a < 9"), "comparisons"),
        (branch("not a"), "comparisons"),
        (branch("xs.pop() == 1"), "change the state"),
        (branch("g(a) == 1"), "change the state"),
        (branch("a == 1", ""), "no `else`"),
        ("def f(a):\n    if a == 1:\n        return 2\n    b = a\n    return b\n", "no `else`"),
    ],
)
def test_what_is_no_published_flip_is_refused(source: str, reason: str) -> None:
    found = published(source, "if-else-flip")
    assert not found.counterfactuals
    assert [reason in site.reason for site in found.refusals] == [True]


def test_a_chain_of_elif_is_not_flipped() -> None:
    source = branch("a == 1", "    elif b == 2:\n        y = 2\n    else:\n        y = 3\n")
    found = published(source, "if-else-flip")
    assert not found.counterfactuals
    assert len(found.refusals) == 2
    assert len(survey(source, mutations=["if-else-flip"]).counterfactuals) == 2


def test_names_are_permuted_among_the_functions_own_variables_only() -> None:
    several = "def f(xs):\n    a = 1\n    b = 2\n    c = [x for x in xs]\n    return a, b, c\n"
    for seed in range(20):
        (made,) = survey(several, mutations=forms_of(CACP, ["rename-shuffle"], 1), seed=seed).counterfactuals
        assert "def f(xs)" in made.source
        renamed = [line.split(" = ")[0].strip() for line in made.source.splitlines()[1:4]]
        inner = made.source.partition(" = [")[2].partition(" ")[0]
        assert sorted([*renamed, inner]) == ["a", "b", "c", "x"]
        assert all(old != new for old, new in zip("abcx", [*renamed, inner], strict=True))


@pytest.mark.parametrize("other", ["", "\n\ndef g(other):\n    return other\n"])
def test_neither_parameters_nor_other_functions_give_names(other: str) -> None:
    source = f"def f(xs):\n    n = len(xs)\n    return n\n{other}"
    found = published(source, "rename-shuffle")
    assert not found.counterfactuals
    assert any("only one variable" in site.reason for site in found.refusals)
    assert survey(source, mutations=["rename-shuffle"], function="f").counterfactuals


def test_parameters_of_a_lambda_keep_their_names() -> None:
    source = "def f(xs):\n    best = sorted(xs, key=lambda x: -x)\n    return best\n"
    (made,) = published(source, "rename-random").counterfactuals
    assert "lambda x: -x" in made.source
    (own,) = survey(source, mutations=["rename-random"]).counterfactuals
    assert "lambda x: -x" not in own.source


def test_statements_further_apart_change_places() -> None:
    source = "def f(n):\n    a = n\n    b = 2\n    c = 3\n    d = 4\n    return a, b, c, d\n"
    lines = [
        made.description.split()[-3::2] for made in published(source, "independent-swap").counterfactuals
    ]
    assert sorted(lines) == sorted([str(i), str(j)] for i in range(2, 6) for j in range(i + 1, 6))
    near = survey(source, mutations=forms_of("", ["independent-swap"], 2)).counterfactuals
    assert len(near) == 5


def test_the_task_and_what_precedes_are_shown() -> None:
    text = "import math\n\n\ndef poly(x):\n    return x\n\n\ndef root(x):\n    y = poly(x)\n    return y\n"
    document = Document(text)
    function = find_function(document, "root")
    cut = text.index("    return y")
    assert Gap.of(document, function, cut).shown.partition("root")[0] == "import math\n\n\ndef "
    shown = Gap.of(document, function, cut, View('Find a """root""".', preceding=True))
    assert shown.shown == f"\"\"\"\nFind a '''root'''.\n\"\"\"\n{text[:cut]}"
    assert shown.fill("    return y\n") == text  # what is judged is the program alone
    told = Document(text.replace("    y =", '    """Find  a\n    root."""\n    y ='))
    again = Gap.of(told, find_function(told, "root"), cut, View("Find a root.", preceding=True))
    assert not again.shown.startswith('"""')  # the program says it already
    mended = Gap.repair(document, function, View("Find a root.", preceding=True)).shown
    assert mended.startswith('"""\nFind a root.\n"""\nimport math\n\n\ndef poly')
    assert mended.endswith("# root has a bug. Here is the mended version:\ndef root(x):\n")


def test_what_cannot_be_cut_in_each_range_is_asked_about_in_none() -> None:
    source = "def f(x):\n    a = 1\n    b = 2\n    c = x\n    d = a + b\n    e = c + d\n    return e\n"
    ranges = ((0.4, 0.6), (0.8, 1.0))
    surveys = [
        survey(source, mutations=["independent-swap", "rename-random"], prefix_ratio=one) for one in ranges
    ]
    kept, refused = cut_in_all(surveys)
    assert {made.mutation for made, _ in kept} == {"independent-swap", "rename-random"}
    for early, late in kept:
        assert early.source == late.source
        assert early.cut is not None
        assert late.cut is not None
        assert early.cut.original < late.cut.original
    late_only = [site for site in refused if site.reason == NOT_IN_ALL]
    assert [site.line for site in late_only]  # a swap behind the early cut
    assert len(kept) + len(late_only) == sum(made.cut is not None for made in surveys[1].counterfactuals)
    flips = [survey(branch("a == b"), mutations=["if-else-flip"], prefix_ratio=one) for one in ranges]
    assert [site.reason for site in cut_in_all(flips)[1]] == [OWN_CUT]
    assert cut_in_all(flips[:1])[0]


def test_the_protocol_fixes_what_the_paper_fixes() -> None:
    for kind in (CompletionProbe.options, RepairProbe.options):
        chosen = make(kind, {"protocol": "cacp"})
        assert (chosen.description, chosen.preceding, chosen.reach) == (True, True, 9)
        assert make(kind, plain_options(chosen)) == chosen
        usual = make(kind, {})
        assert (usual.description, usual.preceding, usual.reach) == (False, False, 1)
        with pytest.raises(OptionError, match="has no mutation operand-swap"):
            make(kind, {"protocol": "cacp", "mutations": ("operand-swap",)})
        with pytest.raises(OptionError, match="sets --reach to 9"):
            make(kind, {"protocol": "cacp", "reach": 2})
    with pytest.raises(OptionError, match="cut range"):
        make(CompletionProbe.options, {"cut_ranges": (0.5,)})
    flips = _flips(make(MemorisationProbe.options, {"protocol": "cacp", "corpus": "humaneval"}))
    assert (flips.chosen_protocol, flips.preceding, flips.mutations) == ("cacp", True, ("if-else-flip",))
    assert len(PAPER_ORDER) == 5


def test_every_original_counts_once_and_functions_are_clusters() -> None:
    right = [Observation(Effect(True, True), "m", "c", "f", "one", 10) for _ in range(8)]
    wrong = [
        Observation(Effect(False, True), "m", "c", "f", "one", 20),
        Observation(Effect(False, True), "m", "c", "f", "two", 10),
    ]
    accuracy = summarize([*right, *wrong]).original_accuracy
    assert (accuracy.count, accuracy.n) == (1, 3)
    singly = summarize([Observation(Effect(i < 4, True), "m", "c", f"f{i}", "one", 0) for i in range(3)])
    assert singly.original_accuracy.n == 3


def test_repairs_have_the_layout_of_table_5() -> None:
    edits = [(SourceEdit(at, at + 1, "x"),) for at in range(2)]
    pairs = [replace(pair(True, right), edits=edit) for right, edit in zip((True, False), edits, strict=True)]
    record = replace(pairs_record("one", *pairs), protocol="cacp", probe="repair")
    effects, counts = RepairProbe().side_by_side({"m": [record], "none": []}, seed=0)
    assert effects.title == "average mutation effect, repair"
    assert effects.columns == ("model", "original accuracy", *PAPER_ORDER)
    (_, accuracy, _, _, flip, *_), (_, nothing, *others) = effects.rows
    assert isinstance(accuracy, Proportion)
    assert isinstance(flip, Proportion)
    assert (accuracy.count, accuracy.n) == (1, 1)  # one original, asked once
    assert (flip.count, flip.n) == (1, 2)
    assert isinstance(nothing, Proportion)
    assert (nothing.n, others) == (0, [None] * 5)
    assert counts.rows == (("m", 0, 0, 2, 0, 0, 2), ("none", 0, 0, 0, 0, 0, 0))
