"""A message whose length is wrong costs no more than the messages that it runs into."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import BinaryIO, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterlens.lsp.transport import LARGEST, FrameReader
from tests.fuzz.wire import Wire


def frame(body: bytes, length: int | None = None) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body) if length is None else length, body)


def bodies(data: bytes) -> list[bytes]:
    """The messages that pygls would read."""
    reader, found = FrameReader(cast("BinaryIO", io.BufferedReader(io.BytesIO(data)))), []
    while header := reader.readline():
        assert reader.readline() == b"\r\n"
        found.append(reader.read(int(header.split(b":")[1])))
    return found


GOOD = [
    json.dumps({"jsonrpc": "2.0", "id": n, "text": "ä\r\nContent-Length: 5\r\n\r\n"}).encode() for n in "ab"
]


@given(st.lists(st.binary(max_size=40) | st.sampled_from(GOOD), max_size=4), st.integers(-30, 200))
@settings(max_examples=100, deadline=None)
def test_sound_messages_come_whole_and_a_broken_one_is_left_behind(texts: list[bytes], off: int) -> None:
    sound = [json.dumps(text.decode("latin-1")).encode() for text in texts]
    assert bodies(b"".join(map(frame, sound))) == sound
    broken = frame(b'{"jsonrpc": "2.0"}', max(0, 18 + off))
    assert bodies(broken + b"".join(map(frame, GOOD)))[-2:] == GOOD


@pytest.mark.parametrize(
    "broken",
    [
        frame(b"{}", 10**9),
        frame(b"{}", LARGEST + 1),
        frame(b"{}", 10**15),
        b"\x00" * 300_000,
        b"Content-Length: x\r\n\r\n{}",
        b"Content-Length: 5\r\n" + frame(GOOD[0]),
        frame(b""),
        b"\r\n\r\n\r\n",
    ],
)
def test_whatever_is_broken_the_next_message_is_read(broken: bytes) -> None:
    assert bodies(broken + frame(GOOD[1]))[-1] == GOOD[1]


def test_the_server_answers_after_a_broken_frame(tmp_path: Path) -> None:
    wire = Wire(tmp_path)
    wire.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    wire.say_anything(frame(b'{"jsonrpc": "2.0", "method": "initialized", "params": {}}', 5_000_000))
    wire.say_anything(frame(b"{", 1) + b"garbage\r\n\r\n" + frame(b"[[[", 2))
    assert wire.close() == 0
