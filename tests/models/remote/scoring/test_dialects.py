"""Every dialect against exchanges over real connections.

The answers of vLLM, SGLang, Text Generation Inference and of OpenAI-style echoes are written to those
servers' documentation, not recorded from running ones. llama-server and llama-cpp-python's server are run for
real in test_real_servers.py.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

from counterlens.cli.models import models
from counterlens.confidence.scoring import measure_function
from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import Capability
from counterlens.models.remote.accepted_parameters import WEEK
from counterlens.models.remote.client import Retries
from counterlens.models.remote.model import RemoteModel
from counterlens.models.remote.scoring.dialects import SCORING_DIALECTS, dialect_named
from counterlens.models.remote.scoring.scorer import KEPT_NEGATIVE, TRIAL, Memory
from counterlens.probes.options import make
from counterlens.probes.pairs.completion import CompletionProbe
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.probe import Context, Target
from counterlens.probes.runner import run_probe
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

if TYPE_CHECKING:
    from tests.models.remote.conftest import Handler, Script, Serve

TEXT = "def f(x):\n    return x  # 😀\n"
OTHERS = {" else": -3.0, "\n": -4.0, "(": -5.0}

Row = tuple[str, float]
Answer = Callable[[dict[str, Any]], dict[str, Any]]


def rows(text: str) -> list[Row]:
    """Tokens of a text as servers show them, and what a model that can count finds of each."""
    pieces = re.findall(r" ?[a-z]+|\d|\s+?(?=\s)|[^\w😀]|😀", text)
    shown = [part for piece in pieces for part in (["\ufffd", "\ufffd"] if piece == "😀" else [piece])]
    return [
        (piece, -12.0 if "violin" in piece else -0.125 - 0.01 * (at % 7)) for at, piece in enumerate(shown)
    ]


def vllm(body: dict[str, Any], lead: bool = True) -> dict[str, Any]:
    """`prompt_logprobs` of vLLM's completions API; `lead`: of a model with a beginning-of-text token."""
    prompt: list[Any] = []
    for at, (piece, value) in enumerate(rows(body["prompt"])):
        entry = {str(at): {"logprob": value, "rank": 1 if value > -1 else 700, "decoded_token": piece}}
        for rank, (name, other) in enumerate(list(OTHERS.items())[: body["prompt_logprobs"]]):
            entry[str(1000 + rank)] = {"logprob": other, "rank": rank + 2, "decoded_token": name}
        prompt.append(entry)
    prompt = [None, *prompt] if lead else [None, *prompt[1:]]
    return {"object": "text_completion", "choices": [{"text": "x", "prompt_logprobs": prompt}]}


def openai_echo(body: dict[str, Any]) -> dict[str, Any]:
    """Echo of the completions API: the first token has no values, a generated one follows the prompt."""
    found = rows(body["prompt"])
    top = [{name: value, **dict(list(OTHERS.items())[: body["logprobs"]])} for name, value in found]
    logprobs = {
        "tokens": [name for name, _ in found] + ["x"],
        "token_logprobs": [None, *(value for _, value in found[1:]), -1.5],
        "top_logprobs": [None, *top[1:], {"x": -1.5}],
        "text_offset": [0] * (len(found) + 1),
    }
    return {"object": "text_completion", "choices": [{"text": body["prompt"] + "x", "logprobs": logprobs}]}


def early_echo(body: dict[str, Any]) -> dict[str, Any]:
    """An echo whose values each stand one token too early."""
    answer = openai_echo(body)
    logprobs = answer["choices"][0]["logprobs"]
    for name in ("token_logprobs", "top_logprobs"):
        logprobs[name] = [*logprobs[name][1:], None]
    return answer


def sglang(body: dict[str, Any]) -> dict[str, Any]:
    """SGLang's `/generate`."""
    found = rows(body["text"])
    own: list[Any] = [[value, at, piece] for at, (piece, value) in enumerate(found)]
    own[0][0] = None
    top: list[Any] = [
        [[other, 1000, name] for name, other in list(OTHERS.items())[: body["top_logprobs_num"]]] for _ in own
    ]
    top[0] = None
    return {"text": "x", "meta_info": {"input_token_logprobs": own, "input_top_logprobs": top}}


def tgi(body: dict[str, Any]) -> dict[str, Any]:
    """Text Generation Inference's `/generate`, of a model with a beginning-of-text token."""
    prefill: list[dict[str, Any]] = [{"id": 1, "text": "<s>", "logprob": None}]
    prefill += [{"id": 2, "text": piece, "logprob": value} for piece, value in rows(body["inputs"])]
    return {"generated_text": "x", "details": {"finish_reason": "length", "prefill": prefill, "tokens": []}}


def plain(body: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """A completion, and nothing else whatever was asked."""
    return {"object": "text_completion", "choices": [{"text": "x", "finish_reason": "length"}]}


def server(
    *, completions: Answer | None = plain, generate: Answer | None = None, when: str = ""
) -> Callable[[Handler], None]:
    """A server with these services; `when`: completions answers so only to requests with this member."""

    def answer(handler: Handler) -> None:
        path, body, _ = handler.script.requests[-1]
        if path == "/v1/completions" and completions:
            found = completions(body) if not when or when in body else plain(body)
            handler.reply(200, found)
        elif path == "/generate" and generate:
            if ("text" in body) != (generate is sglang):
                handler.reply(422, {"error": "missing field"})
            else:
                handler.reply(200, generate(body))
        else:
            handler.reply(404, {"detail": "Not Found"})

    return answer


SERVERS = {
    "prompt_logprobs": server(completions=vllm, when="prompt_logprobs"),
    "prompt_logprobs without a first token": server(
        completions=lambda body: vllm(body, lead=False), when="prompt_logprobs"
    ),
    "echo": server(completions=openai_echo, when="echo"),
    "echo, shift corrected": server(completions=early_echo, when="echo"),
    "sglang": server(generate=sglang),
    "tgi": server(generate=tgi),
}


def opened(script: Script, tmp_path: Path) -> RemoteModel:
    memory = Memory(tmp_path / "abilities.json")
    return RemoteModel(script.url, "m", memory=memory, retries=Retries(1, 0.01))


@pytest.mark.parametrize("name", SERVERS)
def test_scores_cover_the_text_and_belong_to_its_tokens(serve: Serve, tmp_path: Path, name: str) -> None:
    with opened(serve(SERVERS[name]), tmp_path) as model:
        scores = model.score(TEXT, alternatives=2)
        info = model.info
    assert dict(info.details)["probabilities"] == name.removesuffix(" without a first token")
    assert Capability.SCORE in info.capabilities
    assert scores.start[0] == 0
    assert scores.end[-1] == len(TEXT.encode())
    assert (scores.start[1:] == scores.end[:-1]).all()
    assert (scores.end > scores.start).all()
    expected = [value for _, value in rows(TEXT)]
    assert len(scores) == len(expected)
    lead = scores.context[0]
    assert np.isnan(scores.logprob[0]) == (lead == 0)
    assert scores.logprob[1:].tolist() == expected[1:]
    assert scores.context.tolist() == list(range(lead, lead + len(scores)))
    assert np.isnan(scores.entropy).all()
    assert scores.rank.tolist()[1:] == [0] * (len(scores) - 1)
    assert scores.alternative_logprob.shape == (len(scores), 0 if name == "tgi" else 2)
    if name != "tgi":
        assert all(
            set(row) <= {piece for piece, _ in rows(TEXT)} | set(OTHERS) for row in scores.alternative_text
        )


@pytest.mark.parametrize("name", SERVERS)
def test_an_endpoint_is_tried_once(serve: Serve, tmp_path: Path, name: str) -> None:
    script = serve(SERVERS[name])
    with opened(script, tmp_path) as model:
        assert script.requests == []  # nothing is asked before it is needed
        assert model.offers(Capability.SCORE)
        tried = len(script.requests)
        assert all(TRIAL in body.values() for _, body, _ in script.requests)
        model.score("x = 1\n")
        assert len(script.requests) == tried + 1
    with opened(script, tmp_path) as again:
        assert Capability.SCORE in again.info.capabilities
        again.score("x = 1\n")
        assert len(script.requests) == tried + 2
        assert again.offers(Capability.SCORE, retest=True)
        assert len(script.requests) == 2 * tried + 2


def test_what_a_context_adds_is_not_reported(serve: Serve, tmp_path: Path) -> None:
    with opened(serve(SERVERS["tgi"]), tmp_path) as model:
        scores = model.score("\n    y", context="def f(x):")
    assert scores.text == "\n    y"
    assert (scores.start[0], scores.end[-1]) == (0, 6)
    assert scores.context[0] == 1 + len(rows("def f(x):"))
    assert not np.isnan(scores.logprob).any()


def changed(change: Callable[[list[Any]], list[Any]]) -> Callable[[Handler], None]:
    """A server of Text Generation Inference's kind whose prefill is not what it should be."""

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        found = tgi(body)
        found["details"]["prefill"] = change(found["details"]["prefill"])
        return found

    def route(handler: Handler) -> None:
        path, body, _ = handler.script.requests[-1]
        if path == "/generate" and "inputs" in body:
            handler.reply(200, answer(body))
        else:
            handler.reply(404, {"detail": "Not Found"})

    return route


def late(prefill: list[Any]) -> list[Any]:
    values = [entry["logprob"] or -0.3 for entry in prefill]
    return [{**entry, "logprob": value} for entry, value in zip(prefill, [-1.0, *values[:-1]], strict=True)]


def drifting() -> Callable[[list[Any]], list[Any]]:
    calls = iter(range(100))

    def change(prefill: list[Any]) -> list[Any]:
        step = 0.5 * next(calls)
        return [{**each, "logprob": each["logprob"] and each["logprob"] - step} for each in prefill]

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (late, "do not match its tokens"),
        (lambda rows: [{**row, "logprob": 0.9} for row in rows], "no log-probability"),
        (
            lambda rows: [*rows[:9], {**rows[9], "logprob": None}, *rows[10:]],
            "no log-probability for token 9",
        ),
        (lambda rows: rows[:-3], "do not add up to the text"),
        (lambda rows: rows[:5] + rows[6:], "do not add up to the text"),
        (drifting(), "different values for the same request"),
        (lambda rows: rows * 0, "no details of its input"),
        (lambda rows: [{"id": 1}] * len(rows), "unexpected form"),
    ],
)
def test_values_that_cannot_be_right_are_refused(
    serve: Serve, tmp_path: Path, change: Callable[[list[Any]], list[Any]], reason: str
) -> None:
    with opened(serve(changed(change)), tmp_path) as model:
        assert not model.offers(Capability.SCORE)
        with pytest.raises(ModelError, match="no token probabilities") as failure:
            model.score(TEXT)
    assert reason in failure.value.message
    assert "local model" in (failure.value.hint or "")


@pytest.mark.parametrize("status", [401, 402, 429, 503])
def test_failures_that_may_pass_are_not_remembered(serve: Serve, tmp_path: Path, status: int) -> None:
    script = serve(lambda handler: handler.reply(status, {"error": {"message": "not now"}}))
    with opened(script, tmp_path) as model:
        assert not model.offers(Capability.SCORE)
        assert "probabilities" not in dict(model.info.details)
    script.answers[:] = [SERVERS["tgi"]]
    with opened(script, tmp_path) as model:
        assert model.score(TEXT).end[-1] == len(TEXT.encode())


def test_an_endpoint_that_cannot_be_reached_is_no_finding(tmp_path: Path) -> None:
    file = tmp_path / "abilities.json"
    with (
        RemoteModel("http://127.0.0.1:9/v1", "m", memory=Memory(file)) as model,
        pytest.raises(ModelError, match="refused the connection"),
    ):
        model.offers(Capability.SCORE)
    assert not file.exists()


def test_another_server_behind_the_same_address_is_noticed(serve: Serve, tmp_path: Path) -> None:
    script = serve(SERVERS["tgi"])
    with opened(script, tmp_path) as model:
        assert model.offers(Capability.SCORE)
        script.answers[:] = [lambda handler: handler.reply(200, {"text": "hello"})]
        with pytest.raises(ModelError, match="different form than") as failure:
            model.score(TEXT)
    assert "counterlens models test" in (failure.value.hint or "")


def test_a_text_that_is_too_long_is_said_to_be(serve: Serve, tmp_path: Path) -> None:
    script = serve(SERVERS["tgi"])
    with opened(script, tmp_path) as model:
        assert model.offers(Capability.SCORE)
        refusal = {"error": "Input validation error: `inputs` must have less than 1024 tokens. Given: 4000"}
        script.answers[:] = [lambda handler: handler.reply(422, refusal)]
        with pytest.raises(ModelError, match="too long for the model"):
            model.score(TEXT)


def test_cancel_ends_the_trial_and_the_scoring(serve: Serve, tmp_path: Path) -> None:
    script = serve(lambda handler: handler.wait_until_left())
    cancel = threading.Event()
    with opened(script, tmp_path) as model:
        for ask in (
            lambda: model.offers(Capability.SCORE, cancel=cancel),
            lambda: model.score(TEXT, cancel=cancel),
        ):
            cancel.clear()
            threading.Timer(0.2, cancel.set).start()
            with pytest.raises(Cancelled):
                ask()
        assert script.left.wait(120)


def test_an_empty_text_has_no_tokens(serve: Serve, tmp_path: Path) -> None:
    with opened(serve(SERVERS["echo"]), tmp_path) as model:
        assert len(model.score("")) == 0


def test_names_are_unique_and_lead_to_their_dialects() -> None:
    assert all(dialect_named(dialect.name) is dialect for dialect in SCORING_DIALECTS)
    assert dialect_named("telepathy") is None


@pytest.mark.parametrize(
    ("name", "said"),
    [("tgi", "completions and token probabilities (tgi)"), ("", "completions only, no token probabilities")],
)
def test_the_command_line_shows_what_an_endpoint_can_do(serve: Serve, name: str, said: str) -> None:
    script = serve(SERVERS[name] if name else server())
    result = CliRunner().invoke(models, ["test", "remote:m", "--base-url", script.url])
    assert result.exit_code == 0, result.output
    assert said in result.output


def test_a_text_that_cannot_be_scored_can_still_be_probed(serve: Serve, tmp_path: Path) -> None:
    def answer(handler: Handler) -> None:
        path, body, _ = handler.script.requests[-1]
        if path == "/generate" and body.get("inputs", TRIAL) != TRIAL:
            handler.reply(422, {"error": "`inputs` must have less than 10 tokens. Given: 60"})
        else:
            SERVERS["tgi"](handler)

    source = (
        'def double(n):\n    """Twice.\n\n    >>> double(2)\n    4\n    """\n    n = n * 2\n    return n\n'
    )
    probe, document = CompletionProbe(), Document(source, Path("double.py"))
    options = make(probe.options, {"mutations": ["rename-generic"]})
    with opened(serve(answer), tmp_path) as model:
        record = run_probe(probe, Context(model, best_sandbox), Target(document, "double"), options)
        confidence = measure_function(model, document, "double")
    assert isinstance(record, PairsRecord)
    assert record.probed
    assert confidence.scored is None
    assert "too long" in (confidence.note or "")


# The memory


def test_findings_are_forgotten_after_a_while(serve: Serve, tmp_path: Path) -> None:
    now = [1_000_000.0]
    memory = Memory(tmp_path / "abilities.json", clock=lambda: now[0])
    for answer, kept in ((SERVERS["tgi"], WEEK), (server(), KEPT_NEGATIVE)):
        url = serve(answer).url
        with RemoteModel(url, "m", memory=memory) as model:
            model.offers(Capability.SCORE)
        for age, known in ((kept - 1, True), (kept + 1, False), (-5, False)):
            now[0] += age
            with RemoteModel(url, "m", memory=memory) as model:
                assert ("probabilities" in dict(model.info.details)) == known
            with RemoteModel(url, "other", memory=memory) as model:
                assert "probabilities" not in dict(model.info.details)
            now[0] -= age


@pytest.mark.parametrize("content", ["", "{", "[]", '{"x": 3}', '{"x": {}}', "\ud83d"])
def test_a_memory_that_cannot_be_read_is_empty(serve: Serve, tmp_path: Path, content: str) -> None:
    file = tmp_path / "abilities.json"
    file.write_text(content, errors="surrogatepass")
    script = serve(SERVERS["tgi"])
    with RemoteModel(script.url, "m", memory=Memory(file)) as model:
        assert model.info.capabilities == {Capability.COMPLETE, Capability.SAMPLE}
        assert model.offers(Capability.SCORE)
    with RemoteModel(script.url, "m", memory=Memory(file)) as model:
        assert Capability.SCORE in model.info.capabilities
    with RemoteModel(script.url, "m", memory=Memory(tmp_path)) as model:  # not even a file
        assert model.offers(Capability.SCORE)
