"""Published protocols: population, context, prompts, budgets, aggregation and statistics of a paper.

A protocol is declared once here. The options of the probes that have it fix values by it (`published` in
`probes/options.py`). Further behaviour of a probe under a protocol depends on `options.protocol` while it
runs, and on `record.protocol` for its tables.
"""

from __future__ import annotations

from dataclasses import dataclass

from counterlens.errors import OptionError
from counterlens.models.base import Api


@dataclass(frozen=True, slots=True)
class Protocol:
    """The method of one paper.

    Attributes:
        id: The name that users type.
        paper: The publication.
        about: Its subject, in a few words.
        apis: The prompt formats that it is defined for.
        why: Why it is not for the others, as the end of a sentence.
    """

    id: str
    paper: str
    about: str
    apis: tuple[Api, ...] = tuple(Api)
    why: str = ""


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
    )
}


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
