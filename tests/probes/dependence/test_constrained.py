"""Answers that are held to a form by a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from counterlens.dependence import dependences
from counterlens.models.base import Prompt, Reply, Stop
from counterlens.models.remote.model import RemoteModel
from counterlens.probes.dependence.core_questions import KEYS, lines
from counterlens.probes.dependence.examined import ExaminedFunction, Relation
from counterlens.probes.dependence.instances import questions
from counterlens.probes.dependence.prompted import read_pairs
from counterlens.probes.dependence.prompts import all_pairs
from counterlens.probes.dependence.trace_questions import grammar, prompt
from tests.conftest import ModelServer, llama_cpp_server, short_model


@pytest.fixture(scope="module")
def llama_cpp_python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    folder, file = tmp_path_factory.mktemp("llama-cpp-server"), str(short_model())
    with llama_cpp_server(folder, "--n_ctx", "2048", file=file) as server:
        yield server


SOURCE = "def f(a):\n    b = a\n    return b\n"


def test_a_server_of_llama_cpp_keeps_to_the_grammar(llama_cpp_python: ModelServer) -> None:
    subject = ExaminedFunction.of(dependences(SOURCE, "f"))
    with RemoteModel(llama_cpp_python.base_url, llama_cpp_python.model) as model:
        (completion,) = model.complete([all_pairs(model.info, subject, Relation.DATA)])
    answer = read_pairs(completion.text, range(len(subject.parts)))
    assert completion.text.lstrip().startswith('{"pairs": [')
    assert not answer.unreadable
    assert not answer.impossible


def test_a_chat_endpoint_that_takes_schemas_its_own_way_keeps_to_them(llama_cpp_python: ModelServer) -> None:
    subject = ExaminedFunction.of(dependences(SOURCE, "f"))
    with RemoteModel(llama_cpp_python.base_url, llama_cpp_python.model, api="chat") as model:
        (completion,) = model.complete([all_pairs(model.info, subject, Relation.DATA)])
    assert not read_pairs(completion.text, range(len(subject.parts))).unreadable
    assert completion.text.lstrip().startswith('{"pairs":')


def test_llama_server_keeps_to_the_grammar(short_model_server: ModelServer) -> None:
    subject = ExaminedFunction.of(dependences(SOURCE, "f"))
    with RemoteModel(short_model_server.base_url, "smollm2", allow_unlisted=True) as model:
        (completion,) = model.complete([all_pairs(model.info, subject, Relation.DATA)])
        form = 'root ::= " " ("mauve" | "taupe")'
        color = Prompt("The sky is", 8, Stop(), Reply("", form))
        (said,) = model.complete([color])
    answer = read_pairs(completion.text, range(len(subject.parts)), cut_off=completion.finish == "length")
    assert completion.text.lstrip().startswith('{"pairs": [')
    assert answer.readable
    assert said.text in {" mauve", " taupe"}


def test_llama_server_keeps_to_a_schema_in_chats(short_model_server: ModelServer) -> None:
    """Of a schema that the model would never follow unforced, so that only the server can have done it."""
    schema = (
        '{"type": "object", "properties": {"DataDependence": {"type": "boolean"}, "zebra": {"const": 41}}, '
        '"required": ["DataDependence", "zebra"], "additionalProperties": false}'
    )
    question = Prompt("Hello, how are you?", 40, Stop(), Reply("Be polite.", "", schema))
    with RemoteModel(short_model_server.base_url, "smollm2", api="chat", allow_unlisted=True) as model:
        (completion,) = model.complete([question])
    found = json.loads(completion.text)
    assert set(found) == {"DataDependence", "zebra"}
    assert isinstance(found["DataDependence"], bool)
    assert found["zebra"] == 41


@pytest.mark.parametrize("relation", list(Relation))
def test_traces_are_held_to_their_form_in_chats(llama_cpp_python: ModelServer, relation: Relation) -> None:
    subject = ExaminedFunction.of(dependences("def f(a):\n    if a:\n        a = 2\n    return a\n", "f"))
    (question, *_) = [one for one, true in questions(subject, relation).items() if true]
    with RemoteModel(llama_cpp_python.base_url, llama_cpp_python.model, api="chat") as model:
        asked = prompt(model.info, subject, question, lines(subject), grammar(subject, relation))
        (completion,) = model.complete([asked])
    assert completion.finish == "stop"
    found = json.loads(completion.text)
    assert set(found) == {KEYS[relation], "Trace"}
    assert isinstance(found[KEYS[relation]], bool)
    for step in found["Trace"]:
        assert isinstance(step, int) if relation is Relation.CONTROL else set(step) == {"from", "to"}
