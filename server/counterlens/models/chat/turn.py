"""A prompt as the last turn of a chat: the request messages, and the continuation in the reply."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from counterlens.models import healing
from counterlens.models.base import Prompt
from counterlens.models.chat import replies

INSTRUCTION: Final = (
    "You continue source code. The user sends the beginning of a file. Write what comes next, exactly as it"
    " would stand in the file, with its indentation, until the function that was begun is complete. Do not"
    " repeat what is already there. Reply with only the continuation, in one code block."
)
_FENCE_TOKENS: Final = 16  # the code block's own marks are not part of the completion
_TICKS = re.compile(r"`{3,}")


@dataclass(frozen=True, slots=True)
class Turn:
    """Messages to a chat model, and its reply."""

    prompt: Prompt

    @property
    def messages(self) -> tuple[tuple[str, str], ...]:
        """Role (`system`, `user` or `assistant`) and text of each message."""
        if (reply := self.prompt.reply) is not None:
            lead = (("system", reply.instruction),) if reply.instruction else ()
            earlier = (
                message
                for question, answer in reply.turns
                for message in (("user", question), ("assistant", answer))
            )
            return (*lead, *earlier, ("user", self.prompt.text))
        head, _ = healing.split(self.prompt.text)
        longest = max((len(ticks) for ticks in _TICKS.findall(head)), default=2)
        fence = "`" * (longest + 1)
        return ("system", INSTRUCTION), ("user", f"{fence}\n{head}\n{fence}")

    @property
    def max_tokens(self) -> int:
        """Maximum number of tokens of the whole reply."""
        return self.prompt.max_tokens + (_FENCE_TOKENS if self.prompt.reply is None else 0)

    def text(self, answer: str, *, complete: bool) -> str | None:
        """Read the continuation of the prompt out of the reply so far; for a question, the whole reply.

        Args:
            complete: Whether the reply is complete.

        Returns:
            None if it is too early to decide.
        """
        if self.prompt.reply is not None:
            return replies.without_thought(answer)
        return replies.continuation(answer, self.prompt.text, self.prompt.stop.indent, complete=complete)

    def ended(self, answer: str) -> bool:
        """Whether the code block is complete."""
        if self.prompt.reply is not None:
            return False
        block = replies.first_block(answer)
        return block is not None and block.closed
