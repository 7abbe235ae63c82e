"""Completion by llama.cpp, exact if the model decodes exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from counterlens.models.llama.decoding import ExactDecoder, FreeDecoder, Shape
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.llama.sequences import SequenceBatch
from counterlens.models.local import healing
from counterlens.models.local.completing import Completer, Decoder


@dataclass
class LlamaCompleter(Completer):
    """Completes prompts with one engine; the prompts of one call decode together.

    With a shape, a completion is a function of its prompt. Without one, the composition of a batch moves
    logits a little, so a near tie may be decided differently in another batch; the responses to one call
    depend on its prompts and their order, and on nothing else.

    Attributes:
        shape: The class of shapes in which this model decodes exactly; None if there is none.
        rounding: The largest observed shift of the gap between the two likeliest tokens, in nats.
    """

    encoder: PromptEncoder
    engine: Engine
    constraint: healing.Constraint
    batch: SequenceBatch
    shape: Shape | None = None
    rounding: float = 0.0

    def decoder(self) -> Decoder:
        """Like `Completer.decoder`."""
        return ExactDecoder(self.batch, self.shape) if self.shape else FreeDecoder(self.batch)

    def groups(self, needs: Sequence[int]) -> list[range]:
        """Like `Completer.groups`."""
        return self.batch.groups(needs)
