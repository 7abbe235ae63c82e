"""Pairs that can tell a model that copies: computed again by hand, and tried by two endpoints."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from threading import Event
from typing import Any

import pytest

from counterlens.errors import OptionError, SourceError
from counterlens.judging.base import Evidence, Judge, Judgement, Verdict
from counterlens.mutations import survey
from counterlens.probes.options import make
from counterlens.probes.pairs.completion import CompletionOptions
from counterlens.probes.pairs.counterfactuals import gaps_of, preserving
from counterlens.probes.pairs.discrimination import (
    NEVER,
    NOT_FOUND,
    TRIES,
    cut_to_discriminate,
    is_discriminating,
)
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.wording import meaning, outcome
from counterlens.probes.prompts.gap import View
from counterlens.probes.record import read, write_record
from counterlens.progress import Steps
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from tests.evaluation.test_cacp import Endpoint, cli
from tests.probes.pairs.test_completion import PARITY, Scripted, probe

PROGRAMS = {
    "spread": '''\
def spread(text):
    """The first and the last word.

    >>> spread("b,a,c")
    'a-c'
    """
    words = sorted(text.split(","))
    mark = "-"
    first = words[0]
    last = words[-1]
    return first + mark + last
''',
    "gather": '''\
def gather(items, low=2):
    """The sum of what is above, less what is not.

    >>> gather([1, 5, 7])
    11
    >>> gather([])
    0
    """
    kept = 0
    for item in items:
        if item > low:
            kept = kept + item
        else:
            kept = kept - item
    return kept
''',
    "place": '''\
def place(wanted: int, items: list) -> int:
    """Where it stands.

    >>> place(3, [1, 3])
    1
    >>> place(4, [1, 3])
    -1
    """
    for at in range(len(items)):
        if items[at] == wanted:
            return at
    return -1
''',
}
FILE = "\n\n".join(PROGRAMS.values())  # a copied loop over a range ends, unlike a copied `while`


def answers(*, copies: bool) -> dict[str, str]:
    """The rest that an endpoint writes behind each prompt: the original's, or what is right there."""
    document, rests = Document(FILE), dict[str, str]()
    for name in PROGRAMS:
        function = find_function(document, name)
        for made in survey(FILE, mutations=preserving(()), function=name, every_cut=True).counterfactuals:
            for cut in filter(None, (made.cut, *made.other_cuts)):
                gap, mutated = gaps_of(document, function, replace(made, cut=cut))
                rests.setdefault(gap.shown.rstrip(), gap.removed)
                rests.setdefault(mutated.shown.rstrip(), (gap if copies else mutated).removed)
    return rests


@pytest.fixture(scope="module", params=["usual", "discriminating"])
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What the command line finds of all programs, by what the endpoint does."""
    file = tmp_path_factory.mktemp("programs") / "programs.py"
    file.write_text(FILE)
    found = {}
    for name in ("copies", "knows")[: 1 if request.param == "discriminating" else 2]:
        rests = answers(copies=name == "copies")
        endpoint = Endpoint(lambda prompt, rests=rests: "\n" + rests[prompt])  # type: ignore[misc]
        asking = ["--model", "remote:m", "--base-url", endpoint.url, "--allow-weaker-sandbox"]
        asking += ["--placebos", "0"]
        found[name] = json.loads(cli("probe", file, *asking, "--cuts", request.param, "--json"))
        found[name]["cuts"] = request.param
        endpoint.close()
    return found


def pairs(found: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(record["function"], pair) for record in found["records"] for pair in record["pairs"]]


EXAMPLES = """
import contextlib, doctest, io, json, sys, types
found = []
for program in json.load(sys.stdin):
    module = types.ModuleType("m")
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(program, module.__dict__)
            found.append(doctest.testmod(module).failed == 0)
        except Exception:
            found.append(False)
json.dump(found, sys.stdout)
"""


def pass_their_examples(programs: list[str]) -> list[bool]:
    """Whether the examples in the docstring of each program hold, in another process."""
    arguments = [sys.executable, "-S", "-c", EXAMPLES]
    done = subprocess.run(
        arguments, input=json.dumps(programs).encode(), capture_output=True, check=True, timeout=60
    )
    return [bool(one) for one in json.loads(done.stdout)]


def test_what_is_said_of_each_pair_comes_out_again_by_hand(asked: dict[str, dict[str, Any]]) -> None:
    copied = []
    for function, pair in pairs(asked["copies"]):
        start = FILE.index(PROGRAMS[function])
        rest = FILE[pair["cut"]["original"] : start + len(PROGRAMS[function])]
        assert pair["copier"].rstrip() == rest.rstrip()
        mutated = FILE
        for edit in reversed(pair["edits"]):
            mutated = mutated[: edit["start"]] + edit["text"] + mutated[edit["end"] :]
        copied.append(mutated[start : pair["cut"]["counterfactual"]] + rest)
    passed = pass_their_examples(copied)
    for (function, pair), one in zip(pairs(asked["copies"]), passed, strict=True):
        assert pair["discriminating"] is not one, (function, pair["diff"])
    assert len(passed) > 5
    assert asked["copies"]["cuts"] == "discriminating" or len(set(passed)) == 2


def test_a_copier_is_exposed_by_each_discriminating_pair_and_one_that_knows_by_none(
    asked: dict[str, dict[str, Any]],
) -> None:
    for name in asked:
        right = name == "knows"
        telling = [pair for _, pair in pairs(asked[name]) if pair["discriminating"]]
        assert {"if-else-flip", "rename-random", "rename-shuffle"} <= {pair["mutation"] for pair in telling}
        assert all(pair["original_right"] for pair in telling)
        assert {pair["counterfactual_right"] for pair in telling} == {right}
        assert {pair["copied"] for pair in telling} == {not right}
        others = [pair for _, pair in pairs(asked[name]) if not pair["discriminating"]]
        assert {pair["outcome"] for pair in others} <= {"held"}  # nothing tells them apart there
        (table,) = (one for one in asked[name]["tables"] if one["title"] == "discriminating pairs")
        mutations = {pair["mutation"] for pair in telling}
        for mutation, all_pairs, effect, discriminating, informative, there, copied in table["rows"]:
            assert (discriminating > 0) == (mutation == "all" or mutation in mutations)
            assert informative == there["n"] == copied["n"] == discriminating <= all_pairs
            if discriminating:
                assert there["value"] == copied["value"] == float(not right)
                assert there["low"] < there["high"]
            assert effect["value"] == pytest.approx(0 if right else discriminating / all_pairs)


def test_cuts_that_are_looked_for_discriminate_and_a_swap_has_one_between_its_statements(
    asked: dict[str, dict[str, Any]],
) -> None:
    found = asked["copies"]
    if found["cuts"] == "usual":
        assert {pair["discriminating"] for _, pair in pairs(found)} == {True, False}
        return
    assert {pair["discriminating"] for _, pair in pairs(found)} == {True}
    assert "independent-swap" in {pair["mutation"] for _, pair in pairs(found)}
    refused = [site for record in found["records"] for site in record["refused"]]
    assert "operand-swap" in {site["mutation"] for site in refused if site["reason"] == NEVER}


class Kind(Judge):
    """A judge that finds the same of every program, and counts."""

    attribution, tests = "doctest", 1

    def __init__(self, judgement: Judgement = Judgement.PASSED) -> None:
        self.judgement, self.judged = judgement, list[str]()

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        assert cancel is None
        self.judged.append(program)
        return Verdict(self.judgement, Evidence("doctest", 1))


def test_no_more_programs_are_judged_than_there_are_tries() -> None:
    lines = [f"    total = total + {number}" for number in range(3 * TRIES)]
    text = "\n".join(["def f(n):", "    total = n", *lines, "    return total", ""])
    document, judge = Document(text), Kind()
    function, steps = find_function(document, "f"), Steps()
    judging = Judging(judge, document, function, steps)
    made = survey(text, mutations=["rename-random"], every_cut=True).counterfactuals
    found, refused = cut_to_discriminate(judging, document, function, made, View(), steps)
    assert found == []
    assert [site.reason for site in refused] == [NOT_FOUND]
    assert len(set(judge.judged) - {text}) == TRIES


def test_the_same_rest_on_both_sides_is_not_run_and_without_a_judge_nothing_is_said() -> None:
    text = "def f(n):\r\n    low = 0\r\n    high = n\r\n    return low, high\r\n"
    document, judge = Document(text), Kind()
    function = find_function(document, "f")
    (made,) = survey(text, mutations=["independent-swap"]).counterfactuals
    gaps = gaps_of(document, function, made)
    assert is_discriminating(Judging(judge, document, function, Steps()), *gaps) is False
    assert judge.judged == []
    assert is_discriminating(Judging(None, document, function, Steps()), *gaps) is None


@pytest.mark.parametrize(
    ("judgement", "exposed"),
    [
        (Judgement.PASSED, False),
        (Judgement.FAILED, True),
        (Judgement.INVALID, True),
        (Judgement.TIMED_OUT, True),
        (Judgement.REFUSED, None),
    ],
)
def test_a_copy_that_does_not_parse_or_end_is_exposed(judgement: Judgement, exposed: bool | None) -> None:
    document = Document(PARITY)
    function = find_function(document, "parity")
    (made,) = survey(PARITY, mutations=["if-else-flip"]).counterfactuals
    judging = Judging(Kind(judgement), document, function, Steps())
    assert is_discriminating(judging, *gaps_of(document, function, made)) is exposed


def test_that_a_model_held_where_a_copier_holds_is_told_as_such() -> None:
    held = probe(
        Scripted(lambda p: PARITY[PARITY.index(p.splitlines()[-1]) :].partition("\n")[2]),
        mutations=["operand-swap"],
    )
    (pair,) = held.pairs
    assert (pair.discriminating, pair.outcome) == (False, "held")
    assert outcome(pair) == "it held, but so would a copied completion"
    assert "these pairs cannot distinguish" in meaning(held)


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(OptionError, match="looks for one cut"):
        make(CompletionOptions, {"cuts": "discriminating", "cut_ranges": ((0.4, 0.6),)})
    with pytest.raises(OptionError, match="--protocol cacp sets --cuts to usual"):
        make(CompletionOptions, {"cuts": "discriminating", "protocol": "cacp"})
    bare = "import not_installed_anywhere\n\n\n" + PARITY.replace(">>>", "for example")
    with pytest.raises(SourceError, match="nothing can judge parity"):
        probe(Scripted(str), bare, cuts="discriminating")


def test_a_record_from_before_says_nothing_of_it() -> None:
    line = write_record(probe(Scripted(lambda _: "        return 'even'\n")))
    before = re.sub(r'"(discriminating|copier)":("(\\.|[^"\\])*"|true|false|null),?', "", line)
    before = before.replace(",}", "}")
    assert len(before) < len(line)
    (pair,) = read(before, PairsRecord).pairs
    assert (pair.discriminating, pair.copier) == (None, None)
