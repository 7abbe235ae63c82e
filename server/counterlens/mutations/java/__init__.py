"""Mutations of Java source, on tree-sitter's tree: one file a mutation or a small family."""
