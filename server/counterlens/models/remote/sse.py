"""The lines of a response: server-sent events (WHATWG HTML, section 9.2.6), or JSON without them.

Servers and gateways depart from the standard, so a content type decides nothing here, and

- lines that begin like JSON are data without a field (JSON as a whole, or an object per line);
- a line with a whole object ends the event before it, if the blank line between them is missing;
- lines of another stream that a gateway has wrapped in data fields (`data: : keepalive`) are lines again.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Final

from counterlens.nested_text import parse_json

# Only these three end a line. `str.splitlines` and with it httpx's `aiter_lines` also break at U+2028
# and others, which JSON texts may contain.
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_FIELD: Final = re.compile(rb"(data|event|id|retry|)(?::[ ]?|\Z)")
_BOM: Final = b"\xef\xbb\xbf"
DONE: Final = "[DONE]"
"""The data of the last event of a completion stream."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event, or text outside of events.

    Attributes:
        type: `message` unless named; empty for text outside of events.
        whole: Whether its end was read.
    """

    type: str
    data: str
    whole: bool = True

    @property
    def framed(self) -> bool:
        """Whether it is an event."""
        return bool(self.type)


class Parser:
    """Parses bytes, in portions of any size, to events."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []  # parts of a line
        self._first, self._after_return = True, False
        self._type = ""
        self._data: list[str] = []
        self._framed = False

    def feed(self, portion: bytes) -> Iterator[Event]:
        """The events that this portion completes.

        Raises:
            UnicodeDecodeError: a line is not UTF-8.
        """
        if not portion:
            return
        if self._after_return:
            portion = portion.removeprefix(b"\n")  # of a CRLF in two portions
        self._after_return = portion.endswith(b"\r")
        *lines, rest = _LINE_END.split(portion)
        for line in lines:
            yield from self._line(b"".join([*self._begun, line]))
            self._begun.clear()
        self._begun.append(rest)

    def finish(self) -> Iterator[Event]:
        """The unfinished last event of the stream, for servers that omit the last blank line."""
        if line := b"".join(self._begun):
            yield from self._line(line)
        yield from self._event(whole=False)

    def _line(self, line: bytes) -> Iterator[Event]:
        if self._first:
            line, self._first = line.removeprefix(_BOM), False
        if not line:
            yield from self._event()
            return
        field = _FIELD.match(line)
        while field and field[1] == b"data" and field.end() < len(line):
            wrapped = _FIELD.match(line, field.end())
            if wrapped is None:
                break
            field = wrapped
        text = line[field.end() if field else 0 :].decode()
        if field is None and not self._data and text.lstrip()[:1] not in ("{", "["):
            yield Event("", text)
        elif field is None or field[1] == b"data":
            if len(self._data) == 1 and _ends_before(self._data[0], text):
                yield from self._event()
            self._data.append(text)
            self._framed = self._framed or field is not None
        elif field[1] == b"event":
            self._type = text
        # comments (no name), ids and retry times have no effect here

    def _event(self, *, whole: bool = True) -> Iterator[Event]:
        if self._data:
            yield Event((self._type or "message") if self._framed else "", "\n".join(self._data), whole)
        self._type, self._data, self._framed = "", [], False


def _ends_before(data: str, line: str) -> bool:
    """Whether data is complete although only a line of the next event follows it, not a blank one."""
    data = data.strip()
    if not data.startswith(("{", "[")):
        return line.lstrip().startswith("{")
    if data == DONE:
        return True
    try:
        return data.endswith("}") and isinstance(parse_json(data), dict)
    except ValueError:
        return False


async def events(portions: AsyncIterator[bytes]) -> AsyncGenerator[Event, None]:
    """The events of a stream.

    Raises:
        UnicodeDecodeError: as `Parser.feed`.
    """
    parser = Parser()
    async for portion in portions:
        for event in parser.feed(portion):
            yield event
    for event in parser.finish():
        yield event
