"""Published protocols: population, context, prompts, budgets, aggregation and statistics of a paper.

A protocol is declared once here. The options of the probes that have it fix values by it (`published` in
`probes/options.py`). What else a probe does otherwise under a protocol is one object, beside its own way, in
its `Methods`: it looks up `options.chosen_protocol` while it runs, and `record.protocol` for its tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from counterlens.errors import OptionError
from counterlens.metrics.table import Table
from counterlens.models.base import Api

MethodT = TypeVar("MethodT")


@dataclass(frozen=True, slots=True)
class Protocol:
    """The method of one paper.

    Attributes:
        id: The name that users type.
        paper: The publication.
        about: Its subject, in a few words.
        apis: The prompt formats that it is defined for.
        why: Why it is not for the others, as the end of a sentence.
        task: The task that is asked under it if none is named; empty for the usual one.
    """

    id: str
    paper: str
    about: str
    apis: tuple[Api, ...] = tuple(Api)
    why: str = ""
    task: str = ""


PROTOCOLS = {
    protocol.id: protocol
    for protocol in (
        Protocol(
            "cacp",
            "Hooda et al. 2024",
            "the effect of counterfactuals on completion and repair",
            apis=(Api.COMPLETIONS, Api.CHAT),
            why="it shows a model only the code before the cut",
        ),
        Protocol("astxplainer", "Palacio et al. 2023", "token probabilities by syntax"),
        Protocol("codemind", "Liu et al. 2024", "execution reasoning"),
        Protocol("operators", "Ahmed et al. 2024", "masked operators under swaps"),
        Protocol(
            "empica",
            "Nguyen et al. 2024",
            "robustness and sensitivity to transformations, and listed dependences",
            apis=(Api.CHAT,),
            why="it asks questions without an example, which only chat models answer",
        ),
        Protocol("core", "Xie et al. 2025", "data and control dependence, and information flow"),
        Protocol(
            "reasoning-robustness",
            "Orvalho and Kwiatkowska 2026",
            "predicted outputs under five preserving mutations",
            task="execution",
        ),
        Protocol(
            "reference",
            "the authors of each benchmark",
            "the usual scores of benchmarks",
            task="reference",
        ),
    )
}


def own_task(protocol: str) -> str:
    """The task that is asked under a protocol if none is named; empty for the usual one."""
    return PROTOCOLS[protocol].task if protocol in PROTOCOLS else ""


def require_api(protocol: str, api: Api) -> None:
    """Refuse a prompt format that a protocol is not defined for.

    Args:
        protocol: The protocol that is followed; empty if there is none.
        api: The prompt format of the model.

    Raises:
        OptionError: the protocol is not defined for it.
    """
    if protocol and api not in PROTOCOLS[protocol].apis:
        raise OptionError(
            f"--protocol {protocol} is not for the prompt format {api}: {PROTOCOLS[protocol].why}",
            f"Choose --api {' or '.join(PROTOCOLS[protocol].apis)}",
        )


class Methods(Generic[MethodT]):
    """The methods of a probe, by protocol.

    Args:
        own: What it does without a protocol, and under those that change only options.
        published: What it does under each other protocol, by its id.
    """

    def __init__(self, own: MethodT, **published: MethodT) -> None:
        self._own, self._published = own, published

    def __getitem__(self, protocol: str) -> MethodT:
        return self._published.get(protocol, self._own)


def in_words(protocol: str, words: str) -> str:
    """Words with `{}` for the name of a protocol; empty if none is followed."""
    return words.format(protocol) if protocol else ""


def under(protocol: str, tables: Iterable[Table]) -> tuple[Table, ...]:
    """Add the name of a protocol to tables; an empty one leaves them unchanged."""
    suffix = in_words(protocol, " (protocol {})")
    return tuple(replace(table, title=f"{table.title}{suffix}") for table in tables)
