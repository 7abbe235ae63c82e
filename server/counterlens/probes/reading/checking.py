"""All marks of a function: by its tests, by what its docstring says, and by likelier alternatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from counterlens.doubt.blaming import is_failing
from counterlens.doubt.disagreeing import DisagreeingFunction
from counterlens.doubt.marking import Mark, doubts
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.settling import settle
from counterlens.errors import SourceError
from counterlens.judging.base import Setting
from counterlens.judging.languages import judging_of
from counterlens.judging.projects import interpreter_for
from counterlens.models.base import Model
from counterlens.probes.probe import Context, Target
from counterlens.probes.reading.marking import docstring_mark, marking_rule, stated_mark
from counterlens.probes.reading.readings import require_described
from counterlens.probes.reading.repairing import written_fix
from counterlens.progress import Steps
from counterlens.sandbox.base import Sandbox


@dataclass
class DocstringReader:
    """Runs what docstrings state, and has a model write functions from them if it has a rule.

    It counts the docstrings that it read, and those that cannot be read, by reason.
    """

    model: Model
    sandbox: Sandbox
    excluded: Sequence[str] = ()
    read: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    _stated: dict[tuple[Path | None, int], DisagreeingFunction | None] = field(default_factory=dict)

    def stated(self, scope: DoubtScope, steps: Steps) -> DisagreeingFunction | None:
        """The mark by what a docstring states, which needs no model; it is run once.

        Raises:
            SandboxError, Cancelled: as `stated_mark`.
        """
        place = scope.document.path, scope.function.start
        if place not in self._stated:
            self._stated[place] = stated_mark(scope, self._setting(scope, steps))
        return self._stated[place]

    def may_read(self, scope: DoubtScope) -> bool:
        """Whether the model reads docstrings, and this one can be read, as far as its text shows."""
        document, function = scope.document, scope.function
        if marking_rule(self.model) is None:
            return False
        try:
            require_described(Target(document, function.qualname), function)
        except SourceError:
            return False
        return judging_of(document.language).never_compared(document, function) is None

    def mark(self, scope: DoubtScope, steps: Steps) -> DisagreeingFunction | None:
        """The mark at a function whose docstring and code disagree.

        Raises:
            ModelError, SandboxError, Cancelled: as `docstring_mark`.
        """
        mark, rule = self.stated(scope, steps), marking_rule(self.model)
        if mark is not None or rule is None:
            return mark
        context = Context(self.model, lambda: self.sandbox, steps)
        try:
            mark = docstring_mark(context, scope, self._setting(scope, steps), rule)
        except SourceError as error:
            self.unread[error.message] += 1
            return None
        self.read += 1
        return mark

    def _setting(self, scope: DoubtScope, steps: Steps) -> Setting:
        python = interpreter_for(scope.document.path)
        return Setting(self.sandbox, python, cancel=steps.cancel, excluded=tuple(self.excluded))

    @property
    def balance(self) -> str:
        """How many docstrings were read, and why others were not; empty if the model reads none."""
        if marking_rule(self.model) is None:
            return ""
        text = f"docstrings read: {self.read}"
        why = "; ".join(f"{reason}: {number}" for reason, number in self.unread.most_common())
        return f"{text}; not read: {self.unread.total()} ({why})" if why else text


def marks_of(
    model: Model,
    scope: DoubtScope,
    tests: Sandbox | None,
    reader: DocstringReader | None,
    steps: Steps,
    *,
    excluded: Sequence[str] = (),
) -> list[Mark]:
    """The marks of one function.

    Args:
        tests: The sandbox in which its tests verify marks; None if they do not.
        reader: Reads its docstring, unless its tests fail, which say more; None if nobody does.
        excluded: Patterns of tests that are never used.

    Raises:
        ModelError, SandboxError, Cancelled: as `settle` and `DocstringReader.mark`.
    """
    if tests is None:
        marks: list[Mark] = list(doubts(model, scope, cancel=steps.cancel))
    else:
        marks = settle(
            model,
            scope,
            None,
            tests,
            excluded=excluded,
            cancel=steps.cancel,
            progress=steps.next,
            rewrite=written_fix,
        )
    if reader is not None and not any(map(is_failing, marks)):
        mark = reader.mark(scope, steps)
        marks += [mark] if mark is not None else []
    return marks
