"""Probabilities in words."""

from __future__ import annotations

from counterlens.translating import ENGLISH, Translator


def share(probability: float, t: Translator = ENGLISH) -> str:
    """A probability for a reader: no more digits than tell it from its neighbours."""
    percent = 100 * probability
    if percent < 0.01:
        return t("below 0.01 %")
    return f"{t.number(percent, '.2f')} %" if percent < 1 else f"{percent:.0f} %"
