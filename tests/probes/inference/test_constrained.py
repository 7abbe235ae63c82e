"""Answers that are held to a form by a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterlens.dependence import dependences
from counterlens.models.remote import RemoteModel
from counterlens.probes.inference.parsing import read_pairs
from counterlens.probes.inference.prompts import Relation, all_pairs
from counterlens.probes.inference.subject import Subject

if TYPE_CHECKING:
    from tests.conftest import ModelServer

SOURCE = "def f(a):\n    b = a\n    return b\n"


def test_a_server_of_llama_cpp_keeps_to_the_grammar(model_server: ModelServer) -> None:
    subject = Subject.of(dependences(SOURCE, "f"))
    with RemoteModel(model_server.base_url, model_server.model) as model:
        (completion,) = model.complete([all_pairs(model.info, subject, Relation.DATA)])
    answer = read_pairs(completion.text, range(len(subject.parts)))
    assert completion.text.lstrip().startswith('{"pairs": [')
    assert not answer.unreadable
    assert not answer.impossible


def test_a_chat_endpoint_that_takes_schemas_its_own_way_keeps_to_them(model_server: ModelServer) -> None:
    subject = Subject.of(dependences(SOURCE, "f"))
    with RemoteModel(model_server.base_url, model_server.model, api="chat") as model:
        (completion,) = model.complete([all_pairs(model.info, subject, Relation.DATA)])
    assert not read_pairs(completion.text, range(len(subject.parts))).unreadable
    assert completion.text.lstrip().startswith('{"pairs":')
