"""What a mutation may have to assume, because Python's source alone cannot show it.

Each one is recorded on the counterfactuals that need it, so that a caller can leave them out.
"""

from __future__ import annotations

TOTAL_ORDER = "total-order"
EQ_NE_CONSISTENT = "eq-ne-consistent"

ASSUMPTIONS = {
    TOTAL_ORDER: "Of two values that are compared, exactly one of `a < b` and `a >= b` is true: neither is "
    "NaN, and their class orders totally (sets do not).",
    EQ_NE_CONSISTENT: "`a != b` is the opposite of `a == b`: their class does not define `__ne__` otherwise.",
}
