"""The language server: one file per feature; the logic that has nothing to do with the protocol is below.

What goes over the wire beside plain LSP is a dataclass of its feature; docs/protocol.md describes its fields.
"""
