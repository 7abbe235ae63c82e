"""Mutations of Java source, on tree-sitter's tree: one file per mutation or small family."""
