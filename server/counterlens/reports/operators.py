"""Describes a model's belief about one operator."""

from __future__ import annotations

from counterlens.probes.operator.belief import Belief
from counterlens.reports.expected import code
from counterlens.reports.render.markdown import escape, table
from counterlens.reports.wording import share, shorten
from counterlens.translating import ENGLISH, Translator

_LONGEST = 40


def belief_brief(belief: Belief, model: str, t: Translator = ENGLISH) -> str:
    """Name the operator that the model finds likeliest, with its share and that of the existing one."""
    distribution = belief.distribution
    values = {
        "code": code(shorten(distribution.site.text, _LONGEST)),
        "model": escape(model),
        "operator": code(distribution.predicted),
    }
    if distribution.correct:
        sentence = t("Which operator fits {code}? {model} finds the code most likely as it is.", **values)
    elif belief.preferred is not None:
        sentence = t(
            "Which operator fits {code}? {model} finds the code most likely with {operator} instead.",
            **values,
        )
    else:
        sentence = t(
            "Which operator fits {code}? {model} finds the code most likely with {operator} instead, but "
            "the lead is within rounding error.",
            **values,
        )
    shares = [f"{code(distribution.predicted)} {share(belief.share, t)}"]
    if not distribution.correct:
        shares.append(f"{code(distribution.site.operator)} {share(distribution.expected, t)}")
    return f"{sentence} {' · '.join(shares)}"


def belief_table(belief: Belief, t: Translator = ENGLISH) -> str:
    """All candidates with their shares, likeliest first; the existing one is marked."""
    distribution = belief.distribution
    ranked = sorted(
        zip(distribution.site.candidates, distribution.probability.tolist(), strict=True),
        key=lambda entry: -entry[1],
    )
    rows = []
    for name, probability in ranked:
        stands, written = name == distribution.site.operator, share(probability, t)
        shown = t("**{operator}** (current)", operator=code(name)) if stands else code(name)
        rows.append((shown, f"**{written}**" if stands else written))
    return "\n\n".join(
        [
            table((t("operator"), t("share")), rows, {1}),
            t(
                "*Share: each operator's part of the total probability of the code from this line to the "
                "end of the function.*"
            ),
        ]
    )


def belief_sentence(belief: Belief, model: str, t: Translator = ENGLISH) -> str:
    """Why an operator is marked, for a message of plain text."""
    distribution = belief.distribution
    return t(
        "Did you mean {other} in {code}? {model} finds the code more likely with {other} ({likelier}) than "
        "with {operator} ({likely}). This is the model's preference, not a proof.",
        other=f"`{distribution.predicted}`",
        code=f"`{shorten(distribution.site.text, _LONGEST)}`",
        model=model,
        likelier=share(belief.share, t),
        operator=f"`{distribution.site.operator}`",
        likely=share(distribution.expected, t),
    )
