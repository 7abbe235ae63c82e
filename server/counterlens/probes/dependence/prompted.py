"""Prompted inference (Nguyen et al. 2024, section 5.1, RQ4): which statements depend on which?

One prompt asks for all pairs, or one per pair asks for yes or no.

Unreadable parts of an answer are reported. The reader accepts a JSON list of two-element lists, as requested,
and other forms in models' answers: `(1, 2)`, `1 -> 2`, `1 → 2`, `1: 2`, and `2 depends on 1` with or without
words like `line` or `statement`. Pairs are (source, target): the target depends on the source.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from counterlens.models.base import Completion, Model, Prompt
from counterlens.probes.dependence.examined import ExaminedFunction, Relation, StatementPair
from counterlens.probes.dependence.prompts import all_pairs, one_pair
from counterlens.probes.probe import complete_together
from counterlens.probes.prompts.closed import YesNo, ask
from counterlens.progress import Steps

_NUMBER = r"(?:lines?|statements?|stmt)?\s*\#?(\d{1,6})"
_PAIR = re.compile(
    rf"""[\[(]\s*{_NUMBER}\s*,\s*{_NUMBER}\s*[\])]
       | {_NUMBER}\s*(?:->|=>|→|-->|\u21d2)\s*{_NUMBER}
       | {_NUMBER}[^\d\n,;.]{{0,60}}?\bdepend(?:s|ent|ence)?\b\s*(?:up)?on\s+{_NUMBER}
       | ^\s*{_NUMBER}\s*:\s*{_NUMBER}\s*$""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_NONE = re.compile(r"\b(none|no|nothing|empty)\b|\[\s*\]", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"""[\[,]\s*(?:"?(?:\.{3}|…)"?|[nm])\s*[\],]""")
_LEFT = re.compile(r"[^\s\[\](){},;]*\d[^\s\[\](){},;]*")
_WORD = re.compile(r"\b(yes|no|true|false)\b", re.IGNORECASE)


def ask_all(
    model: Model, subject: ExaminedFunction, steps: Steps, *, protocol: str = ""
) -> dict[Relation, ListedPairs]:
    """Ask for all pairs of a function in each relation, in the words of a protocol if there is one.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: it was cancelled.
    """
    prompts = [all_pairs(model.info, subject, relation, protocol=protocol) for relation in Relation]
    answers = complete_together(model, "asking for dependences", prompts, steps)
    return {
        relation: _read_answer(subject, prompt, answer)
        for relation, prompt, answer in zip(Relation, prompts, answers, strict=True)
    }


def _read_answer(subject: ExaminedFunction, prompt: Prompt, answer: Completion) -> ListedPairs:
    ids = range(len(subject.parts))
    listed = read_pairs(answer.text, ids, cut_off=answer.finish == "length")
    copied = any(
        listed.pairs and listed.pairs == read_pairs(example, ids).pairs for example in prompt.examples
    )
    return replace(listed, copied=copied)


def ask_pairs(
    model: Model,
    subject: ExaminedFunction,
    relation: Relation,
    pairs: Sequence[StatementPair],
    steps: Steps | None = None,
) -> dict[StatementPair, YesNo]:
    """Ask about some pairs of one function, one at a time.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: it was cancelled.
    """
    prompts = [one_pair(model.info, subject, relation, *pair) for pair in pairs]
    answers = ask(model, prompts, read_yes_no, steps or Steps(), f"asking about {relation}")
    return dict(zip(pairs, answers, strict=True))


def every_pair(subject: ExaminedFunction) -> list[StatementPair]:
    """All ordered pairs of different statements."""
    ids = range(len(subject.parts))
    return [(source, target) for source in ids for target in ids if source != target]


@dataclass(frozen=True, slots=True)
class ListedPairs:
    """A parsed list of pairs.

    Attributes:
        pairs: (source, target) ids of statements, each once.
        unreadable: Pieces with digits that are not part of a pair; and the whole answer, truncated, if it
            names no pair and does not say that there is none.
        impossible: Pairs with a statement that does not exist.
        repeated: Number of repeated pairs.
        cut_off: Whether the token limit ended the answer.
        text: The answer.
        copied: Whether the pairs are those of the prompt's worked example, as far as the statements exist.
    """

    pairs: frozenset[tuple[int, int]]
    unreadable: tuple[str, ...]
    impossible: tuple[tuple[int, int], ...]
    repeated: int
    cut_off: bool
    text: str
    copied: bool = False

    @property
    def readable(self) -> bool:
        """Whether all of it could be read."""
        return not (self.unreadable or self.impossible or self.cut_off)


def has_placeholder(text: str) -> bool:
    """Whether an answer repeats a placeholder of the instruction, such as `[n, ..., m]`, in a list."""
    return bool(_PLACEHOLDER.search(text))


def read_pairs(text: str, ids: range, *, cut_off: bool = False) -> ListedPairs:
    """Read an answer.

    Args:
        text: The model's text.
        ids: The ids of the existing statements.
        cut_off: Whether the token limit ended it.
    """
    if has_placeholder(text):
        return ListedPairs(frozenset(), (text.strip()[:80],), (), 0, cut_off, text)
    said: list[tuple[int, int]] = []
    rest, at = [], 0
    for match in _PAIR.finditer(text):
        numbers = [int(group) for group in match.groups() if group is not None]
        source, target = numbers if match[5] is None else reversed(numbers)
        said.append((source, target))
        rest.append(text[at : match.start()])
        at = match.end()
    rest.append(text[at:])
    unreadable = [piece for part in rest for piece in _LEFT.findall(part)]
    if not said and not unreadable and not _NONE.search(text):
        unreadable = [text.strip()[:80]]
    counted = Counter(said)
    possible = {pair for pair in counted if pair[0] in ids and pair[1] in ids}
    return ListedPairs(
        pairs=frozenset(possible),
        unreadable=tuple(unreadable),
        impossible=tuple(sorted(set(counted) - possible)),
        repeated=sum(counted.values()) - len(counted),
        cut_off=cut_off,
        text=text,
    )


def read_yes_no(text: str) -> bool | None:
    """Whether an answer is yes; None if its first sentence has neither yes nor no, or both."""
    first = re.split(r"[.\n]", text.strip(), maxsplit=1)[0]
    said = {word.lower() in {"yes", "true"} for word in _WORD.findall(first)}
    return said.pop() if len(said) == 1 else None
