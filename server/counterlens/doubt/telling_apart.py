"""Finds an input on which two versions of a function behave differently."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from threading import Event

from counterlens.attribution.base import Setting
from counterlens.attribution.differential import DifferentialJudge, Distinction, judge_of, study, texts_about
from counterlens.doubt.scope import DoubtScope
from counterlens.syntax.document import Document


@dataclass(frozen=True)
class StudiedVersion:
    """A version of a function, run on many inputs when it is first compared with another.

    Attributes:
        scope: The function, in the document that all versions share.
        program: The whole document in this version.
        setting: The sandbox, the interpreter and the limits.
        cancel: Set to cancel.
    """

    scope: DoubtScope
    program: str
    setting: Setting
    cancel: Event | None = None

    @cached_property
    def _judge(self) -> DifferentialJudge | None:
        document, name = self.scope.document, self.scope.function.qualname
        version, more = Document(self.program, document.path), texts_about(document, name)
        return judge_of(study(version, name, self.setting, more=more, cancel=self.cancel))

    def difference(self, other: str) -> Distinction | None:
        """The smallest input found on which another version behaves differently.

        Raises:
            SandboxError, Cancelled: as `study`.
        """
        return self._judge.difference(other, cancel=self.cancel) if self._judge else None

    def does_the_same(self, other: str) -> bool:
        """Whether another version ran and behaved in the same way on every input.

        Raises:
            SandboxError, Cancelled: as `study`.
        """
        return self._judge is not None and self._judge.judge(other, cancel=self.cancel).passed
