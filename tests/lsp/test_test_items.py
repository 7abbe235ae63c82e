"""The list of tests that an editor shows, and probes with some mutations only; with the real model."""

from __future__ import annotations

from pathlib import Path

from pytest_lsp import LanguageClient

from tests.lsp.conftest import open_file
from tests.lsp.test_tasks import SOURCE, ask

COMMAND = "counterlens.testItems"


async def test_functions_are_listed_with_their_places_and_mutations_with_reasons(
    client: LanguageClient, tmp_path: Path
) -> None:
    uri = open_file(client, tmp_path / "a.py", SOURCE)
    files = await ask(client, COMMAND, uri)
    assert [one.function for one in files.functions] == ["sign", "same"]
    assert [one.range.start.line for one in files.functions] == [0, 13]
    listed = {one.mutation: one for one in (await ask(client, COMMAND, uri, function="sign")).mutations}
    flip = listed["if-else-flip"]
    assert (flip.lines, flip.refused, flip.concept) == ([6], "", "control flow")
    assert all(bool(one.lines) != bool(one.refused) for one in listed.values())
    assert "negate-condition" not in listed  # it breaks the meaning: the tests could not judge it
    assert "no function" in (await ask(client, COMMAND, uri, function="absent")).error
    assert "no open file in Python or Java" in (await ask(client, COMMAND, "file:///absent.py")).error


async def test_a_probe_can_be_of_some_mutations_and_says_what_each_pair_shows(
    client: LanguageClient, tmp_path: Path
) -> None:
    uri = open_file(client, tmp_path / "a.py", SOURCE)
    answer = await ask(client, "counterlens.probe", uri, function="sign", mutations=["if-else-flip"])
    assert answer.ok
    (pair,) = answer.pairs
    assert (pair.mutation, pair.line) == ("if-else-flip", 6)
    assert pair.shows in {"held", "lost", "gained", "failed"}
    assert pair.sentence.startswith("With") or pair.sentence.startswith("The model failed")
    assert "if not" in pair.counterfactual or "n >= 0" in pair.counterfactual
    breaking = await ask(client, "counterlens.probe", uri, function="sign", mutations=["negate-condition"])
    assert not breaking.ok
    assert "breaks the meaning" in breaking.error
