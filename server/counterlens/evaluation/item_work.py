"""The work of an item of a run: the programs that it runs and the prompts that it sends.

Both are counted while an item is in progress, so the done share of a long item is known. Functions differ in
their number of prompts, and the number of programs is about proportional to it: each prompt's code, its own
tests and its answer are judged.
"""

from __future__ import annotations

from dataclasses import dataclass

_PROGRAMS = 4.0, 3.0
"""Usual number of programs of an item, and per prompt of its plan; from recorded runs."""
_PRIOR_ITEMS = 2.0
"""Weight of the usual numbers, in items."""
_NEVER_ALL = 0.05  # minimum remaining share of an item in progress


def usual_programs(planned: float) -> float:
    """The usual number of programs of an item with this number of prompts."""
    return _PROGRAMS[0] + _PROGRAMS[1] * planned


@dataclass(slots=True)
class Work:
    """The work of one item so far; seconds are elapsed ones.

    Attributes:
        planned: Its prompts in the plan.
        begun: When it began.
    """

    planned: float
    begun: float
    programs: int = 0
    program_seconds: float = 0.0
    prompts: int = 0
    prompt_seconds: float = 0.0


@dataclass(slots=True)
class WorkSeen:
    """The work of several items: of finished ones, and the programs and prompts of those in progress.

    Attributes:
        planned: Prompts in the plan of finished items.
        programs_of_items: Their programs.
        prompts_of_items: Their prompts.
        usual_of_items: The usual number of their programs.
        programs: Programs of all items.
        program_seconds: Their seconds.
        prompts: Prompts of all items.
        prompt_seconds: Their seconds.
    """

    planned: float = 0.0
    programs_of_items: float = 0.0
    prompts_of_items: float = 0.0
    usual_of_items: float = 0.0
    programs: float = 0.0
    program_seconds: float = 0.0
    prompts: float = 0.0
    prompt_seconds: float = 0.0

    def add(self, work: Work, *, done: bool = False) -> None:
        """Add an item in progress or, with `done`, a finished one."""
        self.programs += work.programs
        self.program_seconds += work.program_seconds
        self.prompts += work.prompts
        self.prompt_seconds += work.prompt_seconds
        if done:
            self.planned += work.planned
            self.programs_of_items += work.programs
            self.prompts_of_items += work.prompts
            self.usual_of_items += usual_programs(work.planned)

    def __add__(self, more: WorkSeen) -> WorkSeen:
        return WorkSeen(*(getattr(self, name) + getattr(more, name) for name in WorkSeen.__slots__))

    def share(self, work: Work) -> float | None:
        """The done share of an item in progress; None if its items have nothing to count.

        Programs and prompts count by their mean seconds.
        """
        programs, prompts = self._expected(work.planned)
        whole = programs * self._per_program + prompts * self._per_prompt
        if not whole:
            return None
        done = work.programs * self._per_program + work.prompts * self._per_prompt
        return min(done / whole, 1 - _NEVER_ALL)

    def _expected(self, planned: float) -> tuple[float, float]:
        """The expected numbers of programs and prompts of an item."""
        usual = _PRIOR_ITEMS * usual_programs(planned)
        programs = (self.programs_of_items + usual) / (self.usual_of_items + usual) if self.programs else 0.0
        asked = _PRIOR_ITEMS * planned
        prompts = (self.prompts_of_items + asked) / (self.planned + asked) if planned else 0.0
        return programs * usual_programs(planned), prompts * planned

    @property
    def _per_program(self) -> float:
        return self.program_seconds / self.programs if self.programs else 0.0

    @property
    def _per_prompt(self) -> float:
        """The same as of a program until prompts are seen."""
        return self.prompt_seconds / self.prompts if self.prompts else self._per_program
