"""The versions of the packages on which records depend; nodes of a cluster load little besides."""

from __future__ import annotations

from importlib import metadata

_PACKAGES = ("llama-cpp-python", "numpy", "tree-sitter", "tree-sitter-python", "libcst")


def package_versions() -> dict[str, str | None]:
    """The versions of the packages on which records depend; None for one that is not installed."""
    return {name: _version(name) for name in _PACKAGES}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
