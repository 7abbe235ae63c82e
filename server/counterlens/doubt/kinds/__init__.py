"""The kinds of alternatives, one file each; `counterlens.doubt.registry` names them."""
