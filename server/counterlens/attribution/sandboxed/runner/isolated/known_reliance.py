"""The reliance of a text of tests on the program, computed on demand or known from an earlier run."""

from __future__ import annotations

import builtins
import hashlib

from .reliance import Reliance

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Collection
    from typing import Any


class KnownReliance:
    """The properties of `Reliance` by name, each computed once for all programs with the same tests.

    Args:
        text: The tests.
        module: The name under which they import the program.
        cases: The names of the functions that run; all if empty.
        known: `facts` of an earlier run; ignored if they are of other tests.
    """

    def __init__(
        self, text: str, module: str, cases: Collection[str] = (), known: dict[str, Any] | None = None
    ) -> None:
        self._tests = text, module, cases
        digest = hashlib.sha256(repr((text, module, sorted(cases))).encode("utf-8", "replace")).hexdigest()
        same = known is not None and known.get("digest") == digest
        self.facts: dict[str, Any] = known if known is not None and same else {"digest": digest}
        self._reliance: Reliance | None = None

    def holds(self, fact: str) -> bool:
        """The value of a property of `Reliance`."""
        if fact not in self.facts:
            self.facts[fact] = int(getattr(self._found(), fact))  # a report has no booleans
        return bool(self.facts[fact])

    def asks_for(self, name: str) -> bool:
        """Whether they import a name from the program, or check whether the program has it."""
        if "asked" not in self.facts:
            self.facts["asked"] = sorted(self._found().asked)
        return name in self.facts["asked"]

    def touches(self, expression: ast.AST) -> bool:
        """Like `Reliance.touches`."""
        return self._found().touches(expression)

    def _found(self) -> Reliance:
        if self._reliance is None:
            self._reliance = Reliance(*self._tests)
        return self._reliance
