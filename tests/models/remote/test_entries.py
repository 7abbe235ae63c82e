"""Named models of settings files: read, written, allowed, and asked over real connections as they say."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.errors import ModelError, OptionError
from counterlens.models.base import Prompt, Reply, Stop
from counterlens.models.entries import (
    ModelEntry,
    entry_text,
    is_entry_name,
    read_entries,
    user_entries,
    user_file,
)
from counterlens.models.files import EMBEDDED_MODEL
from counterlens.models.registry import Options, load, runs_here
from counterlens.models.remote.connecting import connect_entry
from counterlens.models.remote.consent import Destination
from counterlens.models.usage import Price
from tests.models.remote.test_requests import whole

if TYPE_CHECKING:
    from tests.models.remote.conftest import Handler, Serve

KEY = "sk-0123456789"
PROMPT = Prompt("def f(x):\n", 50, Stop(indent=0))
ENTRY = ModelEntry("fast", "http://127.0.0.1:1/v1", "coder")


@pytest.fixture(autouse=True)
def _own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    for name in ("COUNTERLENS_API_KEY", "OPENAI_API_KEY", "COUNTERLENS_BASE_URL", "TEAM_KEY"):
        monkeypatch.delenv(name, raising=False)


def read(text: str) -> tuple[ModelEntry, ...]:
    return read_entries(tomllib.loads(text).get("models"), lambda name, key: f"{name}/{key}")


def test_an_entry_is_read_with_all_that_it_says() -> None:
    (found,) = read(
        '[models.fast]\nbase-url = "https://a.example/v1"\nmodel = "coder-7b"\napi = "chat"\n'
        'key = "TEAM_KEY"\n'
        "context = 32768\nconcurrency = 8\nrequests-per-minute = 30\n"
        "tokens-per-minute = 9000\nthinking-tokens = 512\nprice = { input = 1, output = 2.5, cached = 0.1 }\n"
        'parameters = { top_k = 1, reasoning_effort = "low" }\n'
        'template = "Q: {prompt}\\nA:"\n'
    )
    parameters = '{"reasoning_effort": "low", "top_k": 1}'
    assert found == ModelEntry(
        "fast",
        "https://a.example/v1",
        "coder-7b",
        "chat",
        "TEAM_KEY",
        32768,
        8,
        30.0,
        parameters,
        9000.0,
        512,
        Price(1.0, 2.5, "USD", 0.1),
        "Q: {prompt}\nA:",
    )
    assert read('[models.b]\nbase-url = "http://b"\n') == (ModelEntry("b", "http://b", "b"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[models.a]\nmodel = 'x'\n", "models.a has no base-url"),
        ("[models.a]\nbase-url = 'http://a'\ncolour = 3\n", "a/colour: a model has no setting colour"),
        (
            "[models.a]\nbase-url = 'http://a'\nprice = 3\n",
            "a/price: price cannot be 3: it must be the price per million tokens",
        ),
        ("[models.a]\nbase-url = 'http://a'\nprice = { input = 1 }\n", "price cannot be {'input': 1}"),
        ("[models.a]\nbase-url = 'http://a'\nprice = { input = 1, output = -1 }\n", "price cannot be"),
        ("[models.a]\nbase-url = 'http://a'\nprice = { input = 1, output = 1, currency = '$' }\n", "price"),
        ("[models.a]\nbase-url = 'http://a'\nthinking-tokens = -1\n", "an integer of tokens"),
        ("[models.a]\nbase-url = 'http://a'\ntokens-per-minute = 0\n", "a number above 0"),
        ("[models.a]\nbase-url = 'http://a'\ntemplate = 'Q:'\n", "a text with {prompt} once"),
        ("[models.a]\nbase-url = 3\n", "a/base-url: base-url cannot be 3"),
        ("[models.a]\nbase-url = 'http://a'\napi = 'magic'\n", "a/api: api cannot be 'magic'"),
        ("[models.a]\nbase-url = 'http://a'\ncontext = true\n", "a/context: context cannot be True"),
        ("[models.a]\nbase-url = 'http://a'\nconcurrency = 0\n", "an integer from 1 to 64"),
        ("[models.a]\nbase-url = 'http://a'\nrequests-per-minute = 0\n", "a number above 0"),
        ("[models.a]\nbase-url = 'http://a'\nparameters.temperature = 1\n", "without grammar, "),
        ("[models.a]\nbase-url = 'http://a'\nparameters.since = 2026-01-01\n", "that can be written as JSON"),
        ("[models.'a/b']\nbase-url = 'http://a'\n", "'a/b' cannot be the name of a model"),
        ("[models.remote]\nbase-url = 'http://a'\n", "'remote' cannot be the name"),
        (f"[models.{EMBEDDED_MODEL}]\nbase-url = 'http://a'\n", f"'{EMBEDDED_MODEL}' cannot be the name"),
        ("models = 3\n", "models is not a table"),
        ("[models]\na = 3\n", "models.a is not a table"),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str) -> None:
    with pytest.raises(OptionError) as caught:
        read(text)
    assert said in str(caught.value)


def test_a_key_in_the_place_of_its_variable_is_refused_and_not_repeated() -> None:
    with pytest.raises(OptionError, match="the environment variable that holds the key") as caught:
        read(f"[models.a]\nbase-url = 'http://a'\nkey = '{KEY}'\n")
    assert KEY not in str(caught.value)


TEXTS = st.text(st.characters(exclude_categories=["C"]), min_size=1).filter(str.strip)
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@given(
    st.from_regex(r"[a-z][a-z0-9_.-]{0,8}", fullmatch=True).filter(is_entry_name),
    TEXTS,
    st.dictionaries(TEXTS.map("x{}".format), VALUES, max_size=3),
    st.none() | st.integers(1, 2**20),
    st.none() | st.floats(0.1, 1e6),
    st.none()
    | st.builds(
        Price,
        st.floats(0, 1e4),
        st.floats(0, 1e4),
        st.sampled_from(["USD", "EUR"]),
        st.none() | st.floats(0, 1e4),
    ),
)
def test_what_is_written_is_what_is_read(
    name: str,
    text: str,
    parameters: dict[str, Any],
    context: int | None,
    rate: float | None,
    price: Price | None,
) -> None:
    entry = ModelEntry(
        name,
        f"http://{text}",
        text,
        context=context,
        requests_per_minute=rate,
        parameters=json.dumps(parameters, sort_keys=True),
        tokens_per_minute=rate,
        thinking_tokens=context,
        price=price,
        template=f"{text} {{prompt}}\n" if "{prompt}" not in text else None,
    )
    assert read(entry_text(entry)) == (entry,)


def test_the_users_own_file_holds_models_alone() -> None:
    assert user_entries() == ()
    user_file().parent.mkdir(parents=True)
    user_file().write_text(entry_text(ENTRY))
    assert user_entries() == (ENTRY,)
    user_file().write_text("limit = 3\n")
    with pytest.raises(OptionError, match="there is no setting limit"):
        user_entries()


def test_code_and_key_go_only_where_the_user_has_allowed_it() -> None:
    far = replace(ENTRY, base_url="https://models.example.com/v1", key="TEAM_KEY")
    assert Destination.of(ENTRY).is_allowed
    assert not Destination.of(
        replace(ENTRY, key="TEAM_KEY")
    ).is_allowed  # who listens here may not be whom the key is for
    with pytest.raises(ModelError) as caught:
        connect_entry(far)
    assert "would send code and the key in TEAM_KEY to models.example.com:443" in str(caught.value)
    assert caught.value.hint == "To allow this: counterlens models allow fast"
    Destination.of(far).allow()
    assert Destination.of(replace(far, name="slow", model="other", base_url=f"{far.base_url}/")).is_allowed
    assert not Destination.of(replace(far, base_url="https://elsewhere.example.com/v1")).is_allowed
    assert not Destination.of(replace(far, key="HOME")).is_allowed
    with pytest.raises(ModelError, match="the environment variable TEAM_KEY contains no key"):
        connect_entry(far)


def test_what_stands_in_the_users_own_file_is_allowed() -> None:
    far = replace(ENTRY, base_url="https://models.example.com/v1")
    assert not Destination.of(far).is_allowed
    user_file().parent.mkdir(parents=True)
    user_file().write_text(entry_text(far))
    assert Destination.of(far).is_allowed


def test_an_entry_is_asked_as_it_says(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    script = serve(whole("    return x\n"), models=["coder"])
    monkeypatch.setenv("TEAM_KEY", KEY)
    monkeypatch.setenv("COUNTERLENS_API_KEY", "sk-another")
    entry = replace(ENTRY, base_url=script.url, key="TEAM_KEY", context=64, parameters='{"top_k": 1}')
    Destination.of(entry).allow()
    options = Options(base_url="http://127.0.0.1:1/v1", entries=(entry,))
    with load("fast", options) as model:
        (answer,) = model.complete([PROMPT])
        info = model.info
    assert answer.text == "    return x\n"
    (path, body, headers) = script.requests[0]
    assert path == "/v1/completions"
    assert (body["model"], body["top_k"]) == ("coder", 1)
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert (info.id, info.name, info.context) == ("fast", "coder", 64)
    assert KEY not in repr((info, entry, options))
    assert not runs_here("fast", (entry,))
    with load("fast", Options(entries=(replace(entry, parameters="{}"),))) as other:
        assert other.info.identity != info.identity  # its answers may be others


def test_the_key_of_the_environment_is_not_for_an_entry(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = serve(whole("    return x\n"), models=["coder"])
    monkeypatch.setenv("COUNTERLENS_API_KEY", KEY)
    with connect_entry(replace(ENTRY, base_url=script.url)) as model:
        model.complete([PROMPT])
    assert "Authorization" not in script.requests[0][2]


def test_a_template_stands_around_questions_and_never_around_code(serve: Serve) -> None:
    script = serve(whole("    return x\n"), models=["coder"])
    entry = replace(ENTRY, base_url=script.url, template="Q: {prompt}\nA:")
    with connect_entry(entry) as model, connect_entry(replace(entry, template=None)) as plain:
        assert ("template", "Q: {prompt}\nA:") in model.info.details
        assert model.info.identity != plain.info.identity
        model.complete([Prompt("What is {prompt}?", 4, reply=Reply("Answer.", ""))])
        model.complete([PROMPT])
    question, code, *_ = (body["prompt"] for _, body, _ in script.requests)
    assert question == "Q: What is {prompt}?\nA:"
    assert PROMPT.text.startswith(code)
    with pytest.raises(ModelError, match="which its chat API would not use"):
        connect_entry(entry, api="chat")


def test_a_prompt_format_that_the_entry_excludes_is_refused() -> None:
    entry = replace(ENTRY, api="fill")
    assert connect_entry(entry).info.api == "fill"
    assert connect_entry(ENTRY, api="chat").info.api == "chat"
    for other in ("chat", "completions"):
        with pytest.raises(ModelError, match=f"fast uses fill, as its entry says, not {other}"):
            connect_entry(entry, api=other)


def test_a_rate_and_a_number_of_requests_at_a_time_are_held(serve: Serve) -> None:
    lock, active, most, begun = threading.Lock(), 0, 0, []

    def answer(handler: Handler) -> None:
        nonlocal active, most
        with lock:
            active, begun[len(begun) :] = active + 1, [time.monotonic()]
            most = max(most, active)
        time.sleep(0.12)
        with lock:
            active -= 1
        whole("    return x\n")(handler)

    script = serve(answer, models=["coder"])
    prompts = [Prompt(f"def f{i}(x):\n", 50, Stop(indent=0)) for i in range(6)]
    with connect_entry(replace(ENTRY, base_url=script.url, concurrency=2)) as model:
        model.complete(prompts)
    assert most == 2
    begun.clear()
    paced = replace(ENTRY, base_url=script.url, concurrency=6, requests_per_minute=1200)
    with connect_entry(paced) as model:
        model.complete(prompts)
    assert begun[-1] - begun[0] >= 5 * 60 / 1200 - 0.02


def test_an_http_client_is_imported_only_to_ask_an_endpoint() -> None:
    program = """import sys, counterlens.cli.bench, counterlens.lsp.server
print("httpx" in sys.modules)
from counterlens.models.remote.model import RemoteModel
print("httpx" in sys.modules)"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
