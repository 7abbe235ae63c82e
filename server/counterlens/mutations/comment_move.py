"""`comment-move`: moves a comment to the line above or below."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from counterlens.mutations.base import Concept
from counterlens.mutations.mutation import ContextT, Mutation, Site, SiteRefused

WIDEST = 99
"""Maximum length of a line, in characters, after a comment has moved to its end."""
ABOVE, BELOW = "moved a comment to the line above", "moved a comment to the end of the line below"


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
