"""One response while it is being read: separates reasoning, and applies the stop rule and the limits."""

from __future__ import annotations

from typing import Final

from counterlens.models.base import Completion, Prompt
from counterlens.models.chat.turn import Turn
from counterlens.models.healing import Contradiction
from counterlens.models.remote import thinking
from counterlens.models.remote.dialect import Exchange, Piece
from counterlens.models.stopping import cut

_LENGTH: Final = frozenset({"length", "max_tokens"})
_MARK: Final = 16  # characters before a piece in which a mark may begin


class AnswerReading:
    """Takes the pieces of one response until it ends.

    Args:
        prompt: The prompt.
        exchange: The request.
        room: Maximum tokens of reasoning; 0: no separate limit.

    Attributes:
        finish: Why it ended, in the server's word; None if it has not.
        ended: Whether nothing more must be read.
        contradicted: Whether the response does not fit the prompt.
    """

    def __init__(self, prompt: Prompt, exchange: Exchange, room: int) -> None:
        self.finish: str | None = None
        self.ended = self.contradicted = False
        self._prompt, self._exchange, self._room = prompt, exchange, room
        self._streamed = False
        self._limit = int(exchange.payload["max_tokens"])
        self._at_line_start = prompt.text[-1:] in ("", "\n", "\r")
        self._written = ""
        self._parts = thinking.Parts("", "", False)
        self._cut: str | None = None
        self._apart = self._thought = self._pieces = 0
        self._over = False

    def add(self, piece: Piece, *, streamed: bool) -> None:
        """Take the next piece; `streamed`: whether pieces have about a token each."""
        if self.ended:
            return
        self._streamed = streamed
        self.finish = piece.finish or self.finish
        if piece.thought:
            self._apart += self._size(piece.thought)
        if piece.text:
            self._pieces += self._size(piece.text)
            self._process_addition(piece.text)
        if self._streamed and self._room:
            written = self._pieces - self._thought
            self._over = self._apart + self._thought > self._room or written > self._limit
            self.ended = self.ended or self._over

    @property
    def finished(self) -> bool:
        """Whether nothing is missing: the server ended it, or nothing more must be read."""
        return self.ended or self.finish is not None

    @property
    def answered(self) -> bool:
        """Whether there is an answer: a text, or an end without one."""
        return self.finished or bool(self._written)

    @property
    def thought(self) -> int:
        """Estimated number of tokens of reasoning so far."""
        return self._apart + self._thought

    def completion(self, counted: int | None, thought: int) -> Completion:
        """Return the written text.

        Args:
            counted: Number of tokens of the response, if the server counted them.
            thought: Number of tokens of reasoning among them, as the server says.
        """
        thought = thought or self.thought
        tokens = counted or self._pieces + self._apart
        found, finish = self._cut, "stop"
        if found is None:
            still = self._parts.thinking and not self._parts.answer
            text = "" if still else self._exchange.text(self._parts.answer, complete=True) or ""
            end = cut(text, self._prompt.stop, at_line_start=self._at_line_start)
            found = text if end is None else end
            # A reply that ends within its reasoning has no answer, whatever the server says about its end.
            if end is None and (self.finish in _LENGTH or still or self._over):
                finish = "length"
        return Completion(_joined(found), finish, tokens, thought=thought)

    def _process_addition(self, added: str) -> None:
        """Check whether an addition ends the answer."""
        self._written += added
        if self._parts.thinking and ">" not in self._written[-len(added) - _MARK :]:
            self._thought += self._size(added)
            return
        self._parts = thinking.parts(self._written)
        if self._parts.thinking or (self._parts.thought and not self._parts.answer):
            self._thought += self._size(added)
            return
        if not self._streamed and self._parts.thought:
            self._thought = self._size(self._parts.thought)
        if self._may_think_first:
            return
        try:
            text = self._exchange.text(self._parts.answer, complete=False)
        except Contradiction:
            self.contradicted = self.ended = True
            return
        if text is not None:
            self._cut = cut(text, self._prompt.stop, at_line_start=self._at_line_start)
        if self._cut is not None or self._exchange.ended(self._parts.answer):
            self.finish, self.ended = "stop", True

    @property
    def _may_think_first(self) -> bool:
        """Whether the text may be reasoning whose opening mark the template wrote."""
        shown = self._apart or self._parts.thought
        return bool(self._room) and not shown and isinstance(self._exchange, Turn)

    def _size(self, text: str) -> int:
        return 1 if self._streamed else thinking.about_tokens(text)


def _joined(text: str) -> str:
    """The text with surrogate pairs joined that a server sent in two pieces."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
