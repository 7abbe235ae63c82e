"""The language server: one file per feature; the logic that has nothing to do with the protocol is below."""
