"""Answers of endpoints are bounded before and while they are expanded: in size, in layers, in depth."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from typing import TYPE_CHECKING

import pytest

from counterlens.errors import ModelError
from counterlens.models.base import Prompt
from counterlens.models.remote.client import Retries, Timeouts
from counterlens.models.remote.model import RemoteModel

if TYPE_CHECKING:
    from tests.models.remote.conftest import Handler, Serve

GOOD = {"choices": [{"text": " 1", "finish_reason": "stop"}]}


def refusal(url: str) -> str:
    with (
        RemoteModel(url, "m", timeout=Timeouts(connect=10, total=30), retries=Retries(0)) as model,
        pytest.raises(ModelError) as caught,
    ):
        model.complete([Prompt("x =", 1)])
    return str(caught.value)


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """What expands to far more than an answer may have; packed in a hurry, which takes most of the time."""
    return gzip.compress(bytes(256 * 2**20), compresslevel=1)


def sends(data: bytes, encoding: str, status: int = 200) -> object:
    def answer(handler: Handler) -> None:
        handler.reply(status, data, Content_Encoding=encoding)

    return answer


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "identity"])
def test_one_layer_is_undone(serve: Serve, encoding: str) -> None:
    data = json.dumps(GOOD).encode()
    packed = {"gzip": gzip.compress(data), "deflate": zlib.compress(data), "identity": data}[encoding]
    url = serve(sends(packed, encoding)).url
    with RemoteModel(url, "m") as model:
        assert model.complete([Prompt("x =", 1)])[0].text == " 1"


@pytest.mark.parametrize("status", [200, 500])
def test_several_layers_are_not_undone(serve: Serve, status: int) -> None:
    bomb = gzip.compress(gzip.compress(bytes(4 * 2**20)))
    assert "compressed in a way" in refusal(serve(sends(bomb, "gzip, gzip", status)).url)


@pytest.mark.parametrize("status", [200, 500])
def test_what_expands_to_far_more_is_left_off(serve: Serve, bomb: bytes, status: int) -> None:
    url = serve(sends(bomb, "gzip", status)).url
    tracemalloc.start()
    try:
        assert "far more" in refusal(url)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 80 * 2**20


def test_what_is_not_packed_as_it_says_is_an_error_in_words(serve: Serve) -> None:
    assert "compressed as declared" in refusal(serve(sends(b"this is no gzip", "gzip")).url)


@pytest.mark.parametrize("depth", [65, 900, 100_000])
def test_json_that_is_nested_deeply_is_not_parsed(serve: Serve, depth: int) -> None:
    nested = b'{"choices": ' + b"[" * depth + b"]" * depth + b"}"
    assert "nested too deeply" in refusal(serve(sends(nested, "identity")).url)


def test_brackets_in_a_text_are_no_depth(serve: Serve) -> None:
    good = {"choices": [{"text": '[{\\"' * 100, "finish_reason": "stop"}]}
    with RemoteModel(serve(sends(json.dumps(good).encode(), "identity")).url, "m") as model:
        assert model.complete([Prompt("x =", 1)])[0].text.startswith("[{")
