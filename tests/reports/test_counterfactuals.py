"""Counterfactuals as JSON: what is written in parts is one document, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest

from counterlens.judging.settlement import Settled, Settlement
from counterlens.mutations import Counterfactual, Refusal, Survey, survey
from counterlens.reports.export.counterfactuals import counterfactual, counterfactuals_json
from counterlens.text import json_text

SOURCE = '''def f(a, b):
    """Ä 😀 \\"quoted\\" \t and \\ \u009b\u202e end of a line\x0c\u2028 "source": "" """
    if a < b:
        x = "\x1b[1m é"
    else:
        x = b

    return x
'''
REFUSED = [Refusal("rename-random", "f", 3, 'it says "no"')]


def documents(surveyed: Survey, bom: str) -> list[dict[str, Any]]:
    made = [
        counterfactual(one) | {"run": False, "source": bom + one.source} for one in surveyed.counterfactuals
    ]
    return [*made, *({"refused": True, **vars_of(one)} for one in REFUSED)]


def vars_of(site: Refusal) -> dict[str, Any]:
    return {"mutation": site.mutation, "function": site.function, "line": site.line, "reason": site.reason}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_the_parts_are_the_document(newline: str, bom: str) -> None:
    surveyed = survey(SOURCE.replace("\n", newline))
    assert len(surveyed.counterfactuals) > 5
    text = "".join(counterfactuals_json(surveyed.counterfactuals, REFUSED, bom=bool(bom)))
    assert text == json_text(documents(surveyed, bom)) + "\n"


def test_a_list_of_nothing_is_a_document_too() -> None:
    assert "".join(counterfactuals_json([])) == "[]\n"
    assert json.loads("".join(counterfactuals_json([], REFUSED)))[0]["refused"] is True


def test_results_stand_behind_the_source() -> None:
    made: Counterfactual = survey(SOURCE).counterfactuals[0]
    (document,) = json.loads(
        "".join(counterfactuals_json([Settled(made, Settlement.UNSETTLED, None, "no judge")]))
    )
    assert document["source"] == made.source
    assert document["settled"]["reason"] == "no judge"
    assert list(document)[-2:] == ["source", "settled"]
