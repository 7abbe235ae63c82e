"""A preference for another operator counts where it is larger than rounding, and as strong as asked for."""

from __future__ import annotations

import numpy as np
import pytest

from counterlens.probes.operator.belief import Belief
from counterlens.probes.operator.scoring import OperatorDistribution
from counterlens.syntax.document import Document
from counterlens.syntax.operators import operator_sites

(SITE,) = operator_sites(Document("a and b"))


@pytest.mark.parametrize(
    ("lead", "noise", "preferred", "doubted"),
    [
        (3.0, 1.0, "or", True),  # 95 % for the other one
        (3.0, 3.5, None, False),  # as much, but rounding could have done it
        (1.5, 1.0, "or", False),  # 82 %: likelier, not strongly preferred
        (-3.0, 1.0, None, False),  # what stands there is the likeliest
    ],
)
def test_doubt(lead: float, noise: float, preferred: str | None, doubted: bool) -> None:
    belief = Belief(OperatorDistribution(SITE, np.array([-10.0, -10.0 + lead])), noise)
    assert belief.preferred == preferred
    assert belief.doubts() is doubted
    assert belief.doubts(0.8) is (preferred is not None)
