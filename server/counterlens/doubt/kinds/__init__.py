"""The kinds of alternatives, those of one construct in one file; `counterlens.doubt.registry` names them."""
