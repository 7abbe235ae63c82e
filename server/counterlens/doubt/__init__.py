"""Places at which an alternative of the same kind makes the rest of a function likelier (docs/doubt.md)."""
