"""The language server: one file per feature; logic independent of the protocol is in lower layers.

Each extension of plain LSP is a dataclass of its feature; docs/protocol.md describes its fields.
"""
