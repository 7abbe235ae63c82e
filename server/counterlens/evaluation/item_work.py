"""The seconds of an item of a run, by the programs that it runs and the prompts that it sends.

Both are counted while an item is in progress, so the progress of a long item is known. Functions differ in
their number of prompts, and the number of programs is about proportional to it: each prompt's code, its own
tests and its answer are judged. A program may take a hundred times as long in one function as in another, so
an item that has run some is expected to continue at its own pace.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from counterlens.evaluation.item_time import ItemTimes, expected

_PROGRAMS = 4.0, 3.0
"""Usual number of programs of an item, and per prompt of its plan; from recorded runs."""
_PRIOR_ITEMS = 2.0
"""Weight of the usual numbers, in items."""
_PRIOR_PROGRAMS = 6.0
"""Weight of the mean time of a program in that of one function, in programs."""
_NEVER_ALL = 0.15  # minimum remaining share of the programs of an item that has run more than expected


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
        items: Number of finished items.
        planned: Their prompts in the plan.
        programs_of_items: Their programs.
        prompts_of_items: Their prompts.
        usual_of_items: The usual number of their programs.
        programs: Programs of all items.
        program_seconds: Their seconds.
        paces: Sum over items of the mean seconds of a program, weighted.
        paced: Sum of the weights: items with more programs weigh more, up to 1.
        prompts: Prompts of all items.
        prompt_seconds: Their seconds.
        other: The remaining seconds of finished items, by their prompts in the plan.
    """

    items: float = 0.0
    planned: float = 0.0
    programs_of_items: float = 0.0
    prompts_of_items: float = 0.0
    usual_of_items: float = 0.0
    programs: float = 0.0
    program_seconds: float = 0.0
    paces: float = 0.0
    paced: float = 0.0
    prompts: float = 0.0
    prompt_seconds: float = 0.0
    other: ItemTimes = field(default_factory=ItemTimes)

    def add(self, work: Work, seconds: float | None = None) -> None:
        """Add an item in progress, or, with its whole time, a finished one."""
        self.programs += work.programs
        self.program_seconds += work.program_seconds
        if work.programs:
            weight = work.programs / (work.programs + _PRIOR_PROGRAMS)
            self.paced += weight
            self.paces += weight * work.program_seconds / work.programs
        self.prompts += work.prompts
        self.prompt_seconds += work.prompt_seconds
        if seconds is not None:
            self.items += 1
            self.planned += work.planned
            self.programs_of_items += work.programs
            self.prompts_of_items += work.prompts
            self.usual_of_items += usual_programs(work.planned)
            rest = seconds - work.program_seconds - work.prompt_seconds
            self.other.add(work.planned, max(0.0, rest))

    def __add__(self, more: WorkSeen) -> WorkSeen:
        return WorkSeen(*(getattr(self, name) + getattr(more, name) for name in WorkSeen.__slots__))

    @property
    def suffices(self) -> bool:
        """Whether the time of other items can be derived."""
        return self.planned > 0 or (self.programs > 0 and self.prompts > 0)

    def whole(self, planned: float) -> float:
        """The expected seconds of an item with this number of prompts."""
        programs, prompts = self._counts(planned)
        return programs * self._per_program + prompts * self._per_prompt + self._overhead(planned)

    def rest(self, work: Work, waited: float) -> float:
        """The expected remaining seconds of an item in progress.

        Args:
            work: Its work so far.
            waited: The seconds since it began.
        """
        if not self.programs and not self.prompts:  # there is nothing to count
            return expected(self.whole(work.planned), waited) - waited
        programs, prompts = self._counts(work.planned)
        left = max(programs - work.programs, _NEVER_ALL * programs)
        pace = (_PRIOR_PROGRAMS * self._per_program + work.program_seconds) / (
            _PRIOR_PROGRAMS + work.programs
        )
        unsent = max(prompts - work.prompts, 0.0)
        share = (left + unsent) / (left + unsent + work.programs + work.prompts)
        return left * pace + unsent * self._per_prompt + share * self._overhead(work.planned)

    def _counts(self, planned: float) -> tuple[float, float]:
        """The expected numbers of programs and prompts of an item."""
        usual = _PRIOR_ITEMS * usual_programs(planned)
        programs = (self.programs_of_items + usual) / (self.usual_of_items + usual) if self.programs else 0.0
        asked = _PRIOR_ITEMS * planned
        prompts = (self.prompts_of_items + asked) / (self.planned + asked) if planned else 0.0
        return programs * usual_programs(planned), prompts * planned

    @property
    def _per_program(self) -> float:
        """Mean over items, so that one with endless programs does not decide for all."""
        return self.paces / self.paced if self.paced else 0.0

    @property
    def _per_prompt(self) -> float:
        return self.prompt_seconds / self.prompts if self.prompts else 0.0

    def _overhead(self, planned: float) -> float:
        return self.other.fitted().of(planned) if self.items else 0.0
