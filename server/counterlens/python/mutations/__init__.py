"""Mutations of Python source, on LibCST's tree: one file per mutation."""
