"""Token scores: right to the byte and to the nat."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterlens.errors import Cancelled
from counterlens.models.llama.model import LlamaModel
from counterlens.models.llama.native import CHUNK
from tests.conftest import short_model

HERE = Path(__file__).parent
MODULE = (Path(__file__).parents[3] / "server/counterlens/models/stopping.py").read_text()
CODE = MODULE[:1600]  # of several chunks


def independent(file: Path, text: str, group: int) -> dict[str, np.ndarray]:
    """The same scores from a small program that shares no code with ours."""
    result = subprocess.run(
        [sys.executable, str(HERE / "independent.py"), str(file), str(group)],
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    rows = json.loads(result.stdout)
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def test_the_same_chunks_give_the_same_scores(model: LlamaModel) -> None:
    ours, theirs = model.score(CODE), independent(short_model(endless=True), CODE, CHUNK)
    assert len(ours) == len(theirs["logprob"]) + 1
    np.testing.assert_allclose(ours.logprob[1:], theirs["logprob"], atol=1e-4)
    np.testing.assert_allclose(ours.entropy[1:], theirs["entropy"], atol=1e-4)
    np.testing.assert_allclose(ours.alternative_logprob[1:, 0], theirs["best"], atol=1e-4)
    np.testing.assert_array_equal(ours.rank[1:], theirs["rank"])


def test_one_token_at_a_time_differs_only_by_rounding(model: LlamaModel) -> None:
    part = CODE[:900]  # of two chunks
    ours, theirs = model.score(part).logprob[1:], independent(short_model(endless=True), part, 1)["logprob"]
    grouped = independent(short_model(endless=True), part, CHUNK)["logprob"]
    np.testing.assert_allclose(ours, grouped, atol=1e-4)
    rounding = np.abs(grouped - theirs).mean()
    assert np.abs(ours - theirs).mean() < rounding + 1e-4
    assert rounding < 0.1
    assert np.corrcoef(ours, theirs)[0, 1] > 0.998
    shifted = np.corrcoef(ours[1:], theirs[:-1])[0, 1]
    assert shifted < 0.5  # so that a shift by one could not hide


def test_only_the_first_token_is_unscored(model: LlamaModel) -> None:
    scores = model.score("def f(x):\n    return x\n")
    assert np.isnan(scores.logprob[0])
    assert scores.rank[0] == -1
    assert not np.isnan(scores.logprob[1:]).any()
    assert (scores.logprob[1:] <= 0).all()
    assert (scores.context == np.arange(len(scores))).all()


def test_alternatives_are_ranked_and_contain_the_likely_token(model: LlamaModel) -> None:
    scores = model.score("for i in range(10):\n    print(i)\n", alternatives=7)
    assert scores.alternative_logprob.shape == (len(scores), 7)
    assert (np.diff(scores.alternative_logprob[1:], axis=1) <= 0).all()
    data = scores.text.encode()
    for i in np.flatnonzero((scores.rank >= 0) & (scores.rank < 7)):
        token = data[scores.start[i] : scores.end[i]].decode()
        assert scores.alternative_text[i][scores.rank[i]] == token


def test_characters_that_the_vocabulary_lacks_leave_no_gap(model: LlamaModel) -> None:
    text = 'a = "\U00040000\U00040000b"  # \U00040000'
    scores = model.score(text)
    assert (scores.start[1:] == scores.end[:-1]).all()
    assert scores.end[-1] == len(text.encode())
    data = text.encode()
    assert data[scores.start[0] : scores.end[0]] == b"a"


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(
        st.characters(exclude_categories=["Cc", "Cn", "Co", "Cs"]) | st.sampled_from("\n\t\r"), max_size=80
    )
)
def test_tokens_tile_any_text(model: LlamaModel, text: str) -> None:
    scores = model.score(text)
    assert (scores.start[1:] == scores.end[:-1]).all()
    if len(scores):  # a text of nothing but characters that the vocabulary lacks has no tokens
        assert scores.start[0] == 0
        assert scores.end[-1] == len(text.encode())


def test_special_tokens_in_source_are_just_text(model: LlamaModel) -> None:
    scores = model.score('end = "<|im_end|>"\n')
    assert len(scores) > 8
    assert scores.end[-1] == len('end = "<|im_end|>"\n')


def test_an_edit_at_the_end_leaves_what_precedes_it_exactly_alike(model: LlamaModel) -> None:
    before = model.score(CODE)
    after = model.score(CODE + "\nx = 1\n")
    shared = len(before) - 2
    np.testing.assert_array_equal(before.logprob[1:shared], after.logprob[1:shared])
    again = model.score(CODE)
    np.testing.assert_array_equal(before.logprob[1:], again.logprob[1:])


CONTEXT = '"""Lines."""\n\nimport re\nfrom collections import Counter'
UNITS = [
    "\n\n\ndef first(items):\n    return items[0]",
    "\n\n\n" + CODE[:700],
    "\n\n\ndef last(items):\n    return items[-1]\n",
]


def test_a_context_is_read_and_not_scored(model: LlamaModel) -> None:
    text = UNITS[0]
    alone, after = model.score(text), model.score(text, context=CONTEXT)
    np.testing.assert_array_equal(alone.end[-10:], after.end[-10:])
    assert not np.isnan(after.logprob).any()
    lead = int(after.context[0])
    np.testing.assert_array_equal(after.context, lead + np.arange(len(after)))
    whole = independent(short_model(endless=True), CONTEXT + text, CHUNK)["logprob"][-len(after) :]
    assert np.corrcoef(whole, after.logprob)[0, 1] > 0.99


def test_scores_depend_on_context_and_text_alone(model: LlamaModel) -> None:
    fresh = {}
    for unit in UNITS:
        with LlamaModel(short_model(endless=True), spec="fresh") as other:
            fresh[unit] = other.score(unit, context=CONTEXT).logprob
    for unit in [*UNITS, *reversed(UNITS), UNITS[1]]:
        model.score(unit + "# and more\n", context=CONTEXT)
        np.testing.assert_array_equal(model.score(unit, context=CONTEXT).logprob, fresh[unit])
        model.score(UNITS[0], context=CONTEXT[:40])


def test_a_context_that_is_too_long_loses_its_oldest_tokens() -> None:
    with LlamaModel(short_model(endless=True), spec="small", context=256) as small:
        scores = small.score(CODE[:1500], context=CODE)
        assert scores.context[0] == 64
        assert scores.context.max() < 256
        assert not np.isnan(scores.logprob).any()


def test_a_text_longer_than_the_context_is_scored_in_overlapping_windows() -> None:
    text = MODULE[:1400]
    with LlamaModel(short_model(endless=True), spec="small", context=256) as small:
        scores = small.score(text)
        assert not np.isnan(scores.logprob[1:]).any()
        assert scores.context.max() < 256
        late = scores.context[256:]
        assert (late >= 128).all()
    with LlamaModel(short_model(endless=True), spec="large") as large:
        whole = large.score(text)
    assert np.corrcoef(whole.logprob[1:], scores.logprob[1:])[0, 1] > 0.85


def test_scoring_ends_soon_after_it_is_cancelled(model: LlamaModel) -> None:
    cancel, seen = threading.Event(), []

    def progress(done: int, total: int) -> None:
        seen.append(done / total)
        cancel.set()

    with pytest.raises(Cancelled):
        model.score("\n".join(f"a{i} = b{i} + {i}" for i in range(400)), cancel=cancel, progress=progress)
    assert seen[-1] < 0.5
    assert len(model.score("x = 1\n")) > 1
