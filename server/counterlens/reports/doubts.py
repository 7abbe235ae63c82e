"""Explains a doubt, in words and as a table."""

from __future__ import annotations

from collections.abc import Sequence

from counterlens.doubt.explaining import TokenPreference
from counterlens.doubt.marking import Doubt
from counterlens.reports.expected import code
from counterlens.reports.export.doubts import doubt_sentence
from counterlens.reports.render.markdown import table
from counterlens.translating import ENGLISH, Translator


def doubt_markdown(
    doubt: Doubt, tokens: Sequence[TokenPreference], model: str, t: Translator = ENGLISH
) -> str:
    """The gain in likelihood with the alternative, token by token.

    Args:
        doubt: The mark.
        tokens: From `explained`.
        model: The model.
        t: The reader's language.
    """
    factor = t.number(sum(token.gain for token in tokens), "+.1f")
    parts = [
        f"# {doubt_sentence(doubt, t)}",
        t(
            "{model} finds the code from here on more likely by {gain} nats with the alternative. This is "
            "its preference, not a proof.",
            model=model,
            gain=factor,
        ),
        table(
            (t("token"), t("as it stands"), t("with the alternative"), t("gain")),
            [
                (
                    code(token.text),
                    _nats(token.stands, t),
                    _nats(token.changed, t),
                    t.number(token.gain, "+.1f"),
                )
                for token in tokens
            ],
            {1, 2, 3},
        ),
        t("*Log-probabilities in nats. The tokens before the first difference are the same in both.*"),
    ]
    if doubt.failed is not None:
        parts += [
            t("The deciding test:"),
            "\n".join(f"    {line}" for line in doubt.failed.text.splitlines()),
        ]
    return "\n\n".join(parts) + "\n"


def _nats(value: float | None, t: Translator) -> str:
    return "" if value is None else t.number(value, ".1f")
