"""Published protocols: population, context, prompts, budgets, aggregation and statistics of a paper.

A protocol is declared once here. The options of the probes that have it fix values by it (`published` in
`probes/options.py`). Further behaviour of a probe under a protocol depends on `options.protocol` while it
runs, and on `record.protocol` for its tables.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Protocol:
    """The method of one paper.

    Attributes:
        id: The name that users type.
        paper: The publication.
        about: Its subject, in a few words.
    """

    id: str
    paper: str
    about: str


PROTOCOLS = {
    protocol.id: protocol
    for protocol in (
        Protocol("cacp", "Hooda et al. 2024", "the effect of counterfactuals on completion and repair"),
        Protocol("astxplainer", "Palacio et al. 2023", "token probabilities by syntax"),
        Protocol("codemind", "Liu et al. 2024", "execution reasoning"),
        Protocol("operators", "Ahmed et al. 2024", "masked operators under swaps"),
        Protocol(
            "empica",
            "Nguyen et al. 2024",
            "robustness and sensitivity to transformations, and listed dependences",
        ),
        Protocol("core", "Xie et al. 2025", "data and control dependence, and information flow"),
    )
}
