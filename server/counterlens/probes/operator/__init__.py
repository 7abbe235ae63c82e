"""Masked operators (Ahmed et al. 2024): does the model know which operator belongs in a gap?"""

from counterlens.probes.operator.scoring import (
    OperatorDistribution,
    OperatorScorer,
    OperatorScores,
    operator_distribution,
)

__all__ = ["OperatorDistribution", "OperatorScorer", "OperatorScores", "operator_distribution"]
