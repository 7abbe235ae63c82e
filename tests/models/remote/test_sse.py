"""Server-sent events from bytes in any portions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.models.remote.sse import Event, Parser


def parse(*portions: bytes) -> list[Event]:
    parser = Parser()
    events = [event for portion in portions for event in parser.feed(portion)]
    return [*events, *parser.finish()]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [("message", "a"), ("message", "b")]),
        (b"data:a\r\n\r\ndata:b\r\rdata: c", [("message", "a"), ("message", "b"), ("message", "c")]),
        (b": ping\n\n:\nid: 1\nretry: 5\ndata: a\n\n", [("message", "a")]),
        (b"event: error\ndata: a\ndata: b\n\ndata: c\n\n", [("error", "a\nb"), ("message", "c")]),
        (b"\xef\xbb\xbfdata: a\n\n\n\n", [("message", "a")]),
        ("data: a\u2028b\x85\x0c\n\n".encode(), [("message", "a\u2028b\x85\x0c")]),
        (b"data\n\ndata:\n\n", [("message", ""), ("message", "")]),
        (b"", []),
    ],
)
def test_events_are_read_as_the_standard_says(stream: bytes, events: list[tuple[str, str]]) -> None:
    assert [(event.type, event.data) for event in parse(stream)] == events


@given(st.data())
def test_portions_do_not_matter(data: st.DataObject) -> None:
    stream = "\ufeffdata: ä→😀\r\n\r\n: x\r\nevent: error\rdata: 1\r\rdata: 2\n\ndata: tail".encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    portions = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert parse(*portions) == parse(stream)
    assert [event.data for event in parse(*portions)] == ["ä→😀", "1", "2", "tail"]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b'{\n  "a": 1\n}\n', [("", '{\n  "a": 1\n}')]),
        (b'{"a": 1}\n{"b": 2}\n', [("", '{"a": 1}'), ("", '{"b": 2}')]),
        (b'[{"a": 1},\n{"b": 2}]', [("", '[{"a": 1},\n{"b": 2}]')]),
        (b'{"a": 1}\n\ndata: [DONE]\n\n', [("", '{"a": 1}'), ("message", "[DONE]")]),
        (b'data: {"a": 1}\ndata: [DONE]\ndata: x', [("message", t) for t in ('{"a": 1}', "[DONE]", "x")]),
        (b'data: ping\ndata: {"a":\ndata: 1}\n\n', [("message", "ping"), ("message", '{"a":\n1}')]),
        (b'data: {\n"a": 1}\n\n', [("message", '{\n"a": 1}')]),
        (b"data: : alive\n\ndata: data: {}\n\n" + b"data: " * 99_999, [("message", "{}"), ("message", "")]),
        (b"data: event: error\ndata: data: x\n\n", [("error", "x")]),
        (
            b'model: m\ndata: {"a": 1}\nmodel: m\n\n',
            [("", "model: m"), ("message", '{"a": 1}'), ("", "model: m")],
        ),
        (b"<html>\n<p>no\n", [("", "<html>"), ("", "<p>no")]),
    ],
)
def test_lines_that_depart_from_the_standard_are_read(stream: bytes, events: list[tuple[str, str]]) -> None:
    assert [(event.type, event.data) for event in parse(stream)] == events


def test_an_event_without_its_end_is_told_apart() -> None:
    assert [event.whole for event in parse(b"data: a\n\ndata: b\n")] == [True, False]
