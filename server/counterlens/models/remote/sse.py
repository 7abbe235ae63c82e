"""Server-sent events, as far as completion streams use them (WHATWG HTML, section 9.2.6)."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass

# Only these three end a line. `str.splitlines` and with it httpx's `aiter_lines` also break at U+2028
# and others, which JSON texts may contain.
_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its type, `message` unless named, and its data."""

    type: str
    data: str


class Parser:
    """Parses bytes, in portions of any size, to events."""

    def __init__(self) -> None:
        self._rest = b""
        self._first = True
        self._type = ""
        self._data: list[str] = []

    def feed(self, portion: bytes) -> list[Event]:
        """The events that this portion completes."""
        self._rest += portion
        if self._first and len(self._rest) >= len(_BOM):
            self._rest = self._rest.removeprefix(_BOM)
            self._first = False
        events = []
        at = 0
        for match in _LINE_END.finditer(self._rest):
            if match.group() == b"\r" and match.end() == len(self._rest):
                break  # the line feed of a split CRLF may still come
            event = self._line(self._rest[at : match.start()])
            at = match.end()
            if event is not None:
                events.append(event)
        self._rest = self._rest[at:]
        return events

    def finish(self) -> list[Event]:
        """The unfinished last event of the stream, for servers that omit the last blank line."""
        events = self.feed(b"\n\n")
        self._rest = b""
        return events

    def _line(self, line: bytes) -> Event | None:
        if not line:
            event = Event(self._type or "message", "\n".join(self._data)) if self._data else None
            self._type, self._data = "", []
            return event
        name, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        if name == b"data":
            self._data.append(text)
        elif name == b"event":
            self._type = text
        return None  # comments (no name), ids and retry times have no effect here


async def events(portions: AsyncIterator[bytes]) -> AsyncGenerator[Event, None]:
    """The events of a stream."""
    parser = Parser()
    async for portion in portions:
        for event in parser.feed(portion):
            yield event
    for event in parser.finish():
        yield event
