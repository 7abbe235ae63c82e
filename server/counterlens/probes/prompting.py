"""A source cut in two: what the model reads, and how its completion becomes a whole program again."""

from __future__ import annotations

from dataclasses import dataclass

from counterlens.models.base import Prompt, Stop
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function


@dataclass(frozen=True, slots=True)
class Gap:
    r"""A hole in a source: from a cut to the end of the function that is to be completed.

    Models are shown `\n` at line ends; what they write gets the source's own.

    Attributes:
        before: The source up to the cut.
        removed: What stood in the hole.
        after: The source from the end of the function on.
        column: The column of the function's header, which its own end is recognised by.
        newline: The line end of the source.
    """

    before: str
    removed: str
    after: str
    column: int
    newline: str

    @classmethod
    def of(cls, document: Document, function: Function, cut: int) -> Gap:
        """The hole from a byte offset inside a function to its end."""
        data = document.data
        line_start = data.rfind(b"\n", 0, function.header) + 1
        indentation = data[line_start : function.header].decode("utf-8", "replace")
        return cls(
            before=data[:cut].decode(),
            removed=data[cut : function.end].decode(),
            after=data[function.end :].decode(),
            column=len(indentation.expandtabs(8)),
            newline="\r\n" if "\r\n" in document.text else "\n",
        )

    def prompt(self, max_tokens: int) -> Prompt:
        """What the model is asked to continue, until the function's own end."""
        return Prompt(self.before.replace("\r\n", "\n"), max_tokens, Stop(indent=self.column))

    def fill(self, completion: str) -> str:
        """The whole source with a completion in the hole."""
        written = completion.rstrip("\r\n").replace("\n", self.newline)
        return self.before + written + (self.after or self.newline)
