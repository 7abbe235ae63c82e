"""What a model believes of one operator, in words."""

from __future__ import annotations

from counterlens.probes.operator.belief import Belief
from counterlens.reports.expected import code
from counterlens.reports.wording import share

_LONGEST = 40


def belief_markdown(belief: Belief, model: str) -> str:
    """All candidates with their shares, likeliest first; the one that stands there is marked."""
    found = belief.distribution
    ranked = sorted(
        zip(found.site.candidates, found.probability.tolist(), strict=True), key=lambda one: -one[1]
    )
    rows = ["| operator | share |", "|:--|--:|"]
    for name, probability in ranked:
        stands = name == found.site.operator
        shown = f"**{_cell(name)}** stands here" if stands else _cell(name)
        rows.append(f"| {shown} | {f'**{share(probability)}**' if stands else share(probability)} |")
    told = "as it stands" if found.correct else f"with {code(found.predicted)} instead"
    if not found.correct and belief.preferred is None:
        told += ", but by no more than rounding"
    return "\n\n".join(
        [
            f"Which operator fits {code(_short(found.site.text))}? {model} finds the code likeliest {told}.",
            "\n".join(rows),
            "*Share: of the probability of the code from this line to the end of the function, with each "
            "operator in this place.*",
        ]
    )


def belief_sentence(belief: Belief, model: str) -> str:
    """Why an operator is marked, for a message of plain text."""
    found = belief.distribution
    return (
        f"Is `{found.predicted}` meant in `{_short(found.site.text)}`? {model} finds the code likelier with "
        f"`{found.predicted}` ({share(belief.share)}) than with `{found.site.operator}` "
        f"({share(found.expected)}). A preference of the model, no proof."
    )


def _cell(name: str) -> str:
    return code(name).replace("|", "\\|")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
