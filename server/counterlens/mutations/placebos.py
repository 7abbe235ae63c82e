"""Placebos: meaningless changes, which show how often verdicts change without a cause.

They are negative controls, comparisons in which the effect under study cannot occur (Lipsitch, Tchetgen
Tchetgen and Cohen 2010, "Negative controls: a tool for detecting confounding and bias in observational
studies"): the parser gives the same tree, so a changed verdict shows that the model's completions are
unstable. `languages.py` lists the kinds of each language.
"""

from __future__ import annotations

import dataclasses
import random
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property

from counterlens.mutations.base import Concept, Counterfactual, Refusal
from counterlens.mutations.edits import insert, replace
from counterlens.mutations.engine import Survey, make, sites_in
from counterlens.mutations.languages import mutated, parse
from counterlens.mutations.mutation import ContextT, Mutation, MutationContext, Site, SiteRefused
from counterlens.mutations.parsed import FunctionSpan, ParsedSource

INSERTED, REMOVED = "inserted a blank line", "removed a blank line"
BEHIND = "its change does not precede the cut"
OTHER_TREE = "the parse tree changes"
WIDEST = 99
"""Maximum length of a line, in characters, after a comment has moved to its end."""
ABOVE, BELOW = "moved a comment to the line above", "moved a comment to the end of the line below"


class BlankLine(Mutation[MutationContext]):
    """Insert a blank line before a statement of a function, or remove one."""

    id = "blank-line"
    concept = Concept.NOTHING
    source = "this project: a negative control"

    def sites(self, context: MutationContext) -> Iterator[Site | SiteRefused]:
        """A site for each line that can get a blank line before it, and for each blank line."""
        module = context.module
        for function in module.functions:
            lines = module.lines_of(function)
            if not lines:
                yield SiteRefused(function.start, "no statement in it starts a line")
            for line in lines:
                rest = module.data[line : module.next_line(line)]
                start = line + (len(rest) - len(rest.lstrip()))
                yield Site((start, start + 1), INSERTED, (insert(line, module.newline),))
            for start, end in _blank_lines(module, function, min(lines, default=function.end)):
                yield Site((start, end), REMOVED, (replace(start, end, ""),))


def _blank_lines(module: ParsedSource, function: FunctionSpan, first: int) -> Iterator[tuple[int, int]]:
    """Byte ranges of the blank lines between a function's statements and directly before the first one."""
    start = module.line_start(first - 1)
    while start > function.start and not module.data[start:first].strip():
        first, start = start, module.line_start(start - 1)
    line = first
    while line < function.end:
        after = module.next_line(line)
        blank = not module.data[line:after].strip()
        if blank and not module.in_string(line) and module.function_at(line) is function:
            yield line, after
        line = after


def placebos(
    source: str | ParsedSource,
    function: str,
    cuts: Sequence[int],
    wanted: int,
    *,
    seed: int = 0,
    language: str = "python",
) -> Survey:
    """Make placebos of a function, each cut where one of its counterfactuals is cut.

    The kinds alternate. The seed decides their order, the places, and the cut of each placebo: that of a
    randomly chosen counterfactual, so that a mutation without an effect of its own has the same distribution
    of results as the placebos.

    Args:
        source: The text of a file, or an already parsed source.
        function: The qualified name of the function.
        cuts: The cuts of the originals, one for each counterfactual.
        wanted: Maximum number of placebos; there may be fewer.
        seed: Random seed of the choices.
        language: The id of the text's language.

    Returns:
        The placebos, all of them with a cut; if there are fewer than wanted, also a refusal for each kind
        without one.

    Raises:
        SourceError: the source does not parse.
    """
    module = parse(language, source) if isinstance(source, str) else source
    drawing = _Drawing(module, function, seed)
    left, made = list(cuts), list[Counterfactual]()
    while left and len(made) < wanted:
        at = drawing.chance.choice(left)
        placebo = drawing.one(at)
        if placebo is None:
            left = [cut for cut in left if cut != at]
        else:
            made.append(placebo)
    return Survey(tuple(made), tuple(drawing.refusals(made)) if len(made) < wanted else ())


class _Drawing:
    """Samples placebos of one function, without repetition."""

    def __init__(self, module: ParsedSource, function: str, seed: int) -> None:
        self.chance = random.Random(repr((seed, "placebos", function)))  # noqa: S311 - not for secrets
        self._module, self._function, self._seed = module, function, seed
        self._span = next(span for span in (module.program, *module.functions) if span.qualname == function)
        mutated_language = mutated(module.language)
        self._kinds, self._meaning = mutated_language.placebos, mutated_language.meaning
        self._turns = list(self._kinds)
        self.chance.shuffle(self._turns)
        by_kind = {kind: sites_in(module, self._kinds[kind], function, seed) for kind in self._turns}
        self._sites = {kind: sites for kind, (sites, _) in by_kind.items()}
        self._sources = {module.source}
        self._refusal_reasons = {kind: refused[0].reason for kind, (_, refused) in by_kind.items() if refused}

    def one(self, at: int) -> Counterfactual | None:
        """The next placebo with its change before an offset and its cut there; None if there is no other."""
        for kind in tuple(self._turns):
            sites = [site for site in self._sites[kind] if max(edit.end for edit in site.edits) <= at]
            self.chance.shuffle(sites)
            for site in sites:
                made = self._made(kind, site, at)
                if made is not None:
                    self._sites[kind].remove(site)
                    self._turns.remove(kind)
                    self._turns.append(kind)
                    return made
        return None

    def refusals(self, made: Sequence[Counterfactual]) -> Iterator[Refusal]:
        """The reasons for each kind of which no placebo was made."""
        missing = [
            kind for kind in self._kinds if kind not in {counterfactual.mutation for counterfactual in made}
        ]
        start = next(
            function.start for function in self._module.functions if function.qualname == self._function
        )
        for kind in missing:
            why = self._refusal_reasons.get(kind, BEHIND)
            yield Refusal(kind, self._function, self._module.line(start), why)

    def _made(self, kind: str, site: Site, at: int) -> Counterfactual | None:
        """The placebo at a site; None if the prompt would not show it or the meaning would change."""
        module = self._module
        made = make(
            module, self._kinds[kind], dataclasses.replace(site, cut=(at, at)), self._span, self._seed
        )
        shown = made.source.encode()[: made.cut.mutated] if made.cut else b""
        if made.source in self._sources or shown.rstrip() == module.data[:at].rstrip():
            return None
        if self._original is None or self._meaning(made.source) != self._original:
            self._refusal_reasons[kind] = OTHER_TREE
            return None
        self._sources.add(made.source)
        return made

    @cached_property
    def _original(self) -> str | None:
        return self._meaning(self._module.source)


class CommentMove(Mutation[ContextT]):
    """Move a comment of a function by one line: from the end of a statement to above it, or back."""

    id = "comment-move"
    concept = Concept.NOTHING
    source = "this project: a negative control"

    def sites(self, context: ContextT) -> Iterator[Site | SiteRefused]:
        """The functions without a comment that could be moved, then the moves."""
        module = context.module
        moves = [(site, module.function_at(site.span[0])) for site in self.moves(context)]
        around = {id(function) for _, function in moves}
        for function in module.functions:
            if id(function) not in around:
                yield SiteRefused(function.start, "it has no comment that could be moved by a line")
        yield from (site for site, function in moves if function is not None)

    @abstractmethod
    def moves(self, context: ContextT) -> Iterator[Site]:
        """The possible moves of the comments of a file."""
