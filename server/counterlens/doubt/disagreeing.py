"""A function whose docstring and code disagree: an input, what the code does, and what the docstring says.

That is an example in the docstring, or what versions return that a model wrote from it. Nothing says which of
the two is wrong. The mark is made elsewhere, where code runs and models write; here it is beside the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from counterlens.doubt.edits import Edit, shift_edit
from counterlens.doubt.scope import DoubtScope


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreeingFunction:
    """A mark at the name of a function whose docstring and code disagree.

    Attributes:
        call: The input, as a call.
        code: The value that the code returns, or the exception that it raises, as text.
        raises: Whether it raises.
        versions: The value that the docstring states, or that those versions return that agree.
        agreeing: Number of these; 0 if the docstring itself states the value.
        of: Number of versions that count.
        tested: Whether tests or examples of the function pass with the version below.
        edit: The smallest change of whole lines that puts in a version: a byte range and its text; None
            without a version.
        example: The same that adds the input with the versions' value to the docstring, as an example; None
            if it cannot be written there.
    """

    scope: DoubtScope
    call: str
    code: str
    raises: bool
    versions: str
    agreeing: int = 0
    of: int = 0
    tested: bool = False
    edit: Edit | None = None
    example: Edit | None = None

    failed: None = None
    """No test says anything: see `FailingFunction.failed`."""

    @property
    def place(self) -> tuple[int, int]:
        """The byte range of the function's name."""
        return self.scope.name

    def within(self, scope: DoubtScope) -> DisagreeingFunction:
        """The same mark in a version of the document with the same function, possibly elsewhere."""
        return replace(self.shifted(scope.function.start - self.scope.function.start), scope=scope)

    def shifted(self, shift: int) -> DisagreeingFunction:
        """The same mark with edits that are so many bytes later."""
        edit, example = (each and shift_edit(each, shift) for each in (self.edit, self.example))
        return replace(self, edit=edit, example=example)
