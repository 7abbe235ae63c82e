"""The baseline of `exact.py` and `probe.py`: decoding in completely filled calls, as most engines do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from counterlens.errors import Cancelled
from counterlens.models.base import Completion, Prompt
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.llama.sequences import ROWS, Row, SequenceBatch
from counterlens.models.local.completing import Growing, Logits, Writer, answers
from counterlens.models.local.encoded_prompt import Constraint


@dataclass(frozen=True)
class FreeDecoder:
    """Fills every call: the logits of a sequence depend on the others in the call, through rounding."""

    batch: SequenceBatch

    def read(self, sequences: Sequence[Sequence[int]], needs: Sequence[int]) -> Logits:
        """Read the sequences, the common prefix once; the logits after each."""
        self.batch.start(needs)
        first, shared = sequences[0], min(map(len, sequences)) - 1
        for other in sequences[1:]:
            shared = next((i for i in range(shared) if first[i] != other[i]), shared)
        for low in range(0, shared, ROWS):
            self.batch.decode([Row(0, token, wanted=False) for token in first[low : min(low + ROWS, shared)]])
        for seq_id in range(1, len(sequences) if shared else 0):
            self.batch.copy(0, seq_id)
        last: Logits = {}
        pending = {seq_id: list(sequence[shared:]) for seq_id, sequence in enumerate(sequences)}
        while pending:
            portion = ROWS // len(pending)
            rows = [
                Row(seq_id, token, wanted=i + 1 == len(rest))
                for seq_id, rest in pending.items()
                for i, token in enumerate(rest[:portion])
            ]
            logits = self.batch.decode(rows)
            done = [row.seq_id for row in rows if row.wanted]
            last |= {seq_id: logits[i].copy() for i, seq_id in enumerate(done)}
            pending = {seq_id: rest[portion:] for seq_id, rest in pending.items() if len(rest) > portion}
        return last

    def step(self, tokens: Mapping[int, int]) -> Logits:
        """Append a token to each of the given sequences; the others have ended."""
        rows = [Row(seq_id, token, wanted=True) for seq_id, token in tokens.items()]
        return dict(zip(tokens, self.batch.decode(rows), strict=True))


@dataclass
class FreeCompleter(Writer):
    """Completes the prompts of a call in filled calls, at most sixteen at a time."""

    encoder: PromptEncoder
    engine: Engine
    constraint: Constraint
    batch: SequenceBatch
    rounding: float = 0.0

    def complete(self, prompts: Sequence[Prompt], progress: Callable[[int, int], None]) -> list[Completion]:
        """Continue each prompt; `progress` is called with (finished prompts, all prompts)."""
        distinct = self.begin(prompts)
        finished = 0
        for group in self._groups([growing.need for growing in distinct]):
            for _ in self._generate([distinct[i] for i in group]):
                finished += 1
                progress(finished, len(distinct))
        return answers(distinct, prompts)

    def _generate(self, group: list[Growing]) -> Iterator[None]:
        """Complete some prompts; an item for each that ends."""
        decoder = FreeDecoder(self.batch)
        needs = [growing.need for growing in group]
        logits = decoder.read([growing.encoded.tokens for growing in group], needs)
        while logits:
            if self.engine.cancelled.is_set():
                raise Cancelled
            tokens: dict[int, int] = {}
            for i, row in sorted(logits.items()):
                token = self.grow(group[i], row)
                if token is None:
                    yield
                else:
                    tokens[i] = token
            logits = decoder.step(tokens) if tokens else {}

    def _groups(self, needs: Sequence[int]) -> list[range]:
        """Sequences that fit into the batch together, in order."""
        most = next(n for n in range(16, 0, -1) if self.batch.fits(n, max(needs)) or n == 1)
        count = -(-len(needs) // most)
        edges = [len(needs) * i // count for i in range(count + 1)]
        return [range(low, high) for low, high in pairwise(edges)]
