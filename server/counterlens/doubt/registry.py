"""All kinds of alternatives, by id. To add one: write its class in a file of `kinds/`, and name it here."""

from __future__ import annotations

from counterlens.doubt.alternative import DoubtKind
from counterlens.doubt.kinds.calls import MissingAwait, MutableDefault, Order
from counterlens.doubt.kinds.conditions import Branches, WrongNegation
from counterlens.doubt.kinds.exits import Exits, MissingReturn
from counterlens.doubt.kinds.literals import Boundary, SwappedStrings, WrongConstant
from counterlens.doubt.kinds.names import (
    WrongAttribute,
    WrongCounterpart,
    WrongException,
    WrongIndex,
    WrongReceiver,
    WrongVariable,
)
from counterlens.doubt.kinds.operators import Arithmetic, Augmented, Boolean, Membership, WrongComparison

_OWN: tuple[DoubtKind, ...] = (
    WrongComparison(),
    Arithmetic(),
    Boolean(),
    Membership(),
    Augmented(),
    Boundary(),
    WrongConstant(),
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
