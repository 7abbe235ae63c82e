"""Starlark, the language of Bazel's build files: Python without classes, exceptions and `while`."""
