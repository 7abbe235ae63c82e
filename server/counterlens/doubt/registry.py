"""All kinds of alternatives, by id. To add one: write its file in `kinds/`, and name it here."""

from __future__ import annotations

from counterlens.doubt.alternative import DoubtKind
from counterlens.doubt.kinds.arithmetic import Arithmetic
from counterlens.doubt.kinds.attribute import WrongAttribute
from counterlens.doubt.kinds.augmented import Augmented
from counterlens.doubt.kinds.awaiting import MissingAwait
from counterlens.doubt.kinds.boolean import Boolean
from counterlens.doubt.kinds.boundary import Boundary
from counterlens.doubt.kinds.branches import Branches
from counterlens.doubt.kinds.comparison import WrongComparison
from counterlens.doubt.kinds.counterpart import WrongCounterpart
from counterlens.doubt.kinds.default import MutableDefault
from counterlens.doubt.kinds.exception import WrongException
from counterlens.doubt.kinds.exits import Exits
from counterlens.doubt.kinds.index import WrongIndex
from counterlens.doubt.kinds.membership import Membership
from counterlens.doubt.kinds.negation import WrongNegation
from counterlens.doubt.kinds.order import Order
from counterlens.doubt.kinds.receiver import WrongReceiver
from counterlens.doubt.kinds.returning import MissingReturn
from counterlens.doubt.kinds.strings import SwappedStrings
from counterlens.doubt.kinds.variable import WrongVariable

_OWN: tuple[DoubtKind, ...] = (
    WrongComparison(),
    Arithmetic(),
    Boolean(),
    Membership(),
    Augmented(),
    Boundary(),
    WrongNegation(),
    Order(),
    WrongVariable(),
    WrongIndex(),
    WrongAttribute(),
    Branches(),
    Exits(),
    WrongException(),
    MissingAwait(),
    MissingReturn(),
    MutableDefault(),
    WrongReceiver(),
    SwappedStrings(),
    WrongCounterpart(),
)

DOUBT_KINDS = {kind.id: kind for kind in _OWN}
