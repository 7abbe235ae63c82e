"""`hf:owner/repo/file.gguf`: a model file from the Hugging Face hub, for users with a network."""

from __future__ import annotations

from pathlib import Path

from counterlens.errors import ModelError


def fetch(spec: str) -> Path:
    """The local path of a hub file, downloaded if it is not there yet.

    Args:
        spec: `owner/repo/path/file.gguf`.

    Raises:
        ModelError: the spec is malformed, huggingface_hub is missing, or the hub does not give the file.
    """
    parts = spec.split("/")
    if len(parts) < 3 or not all(parts) or not spec.endswith(".gguf"):
        raise ModelError(f"hf:{spec} names no model file", "Write hf:owner/repo/file.gguf")
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import (
            EntryNotFoundError,
            LocalEntryNotFoundError,
            RepositoryNotFoundError,
        )
    except ImportError:
        raise ModelError(
            "huggingface_hub is not installed, so hf: models cannot be downloaded",
            "Install it with: pip install 'counterlens[hub]'",
        ) from None
    repository, file = "/".join(parts[:2]), "/".join(parts[2:])
    try:
        return Path(hf_hub_download(repository, file))
    except LocalEntryNotFoundError as error:
        raise ModelError(
            f"hf:{spec} is not on this machine yet, and the hub cannot be reached",
            "Check the network, or download the file elsewhere and name its path",
        ) from error
    except RepositoryNotFoundError as error:
        raise ModelError(
            f"the hub has no repository {repository}, or it is private",
            "Check the name, or log in with: hf auth login",
        ) from error
    except EntryNotFoundError as error:
        raise ModelError(f"the repository {repository} has no file {file}", "Check the name") from error
    except (OSError, ValueError) as error:
        raise ModelError(f"hf:{spec} cannot be downloaded: {_first_line(error)}") from error
    except Exception as error:  # httpx errors reach the caller as they are
        if type(error).__module__.partition(".")[0] not in {"httpx", "httpcore", "huggingface_hub"}:
            raise
        raise ModelError(
            f"hf:{spec} cannot be downloaded: {_first_line(error)}",
            "Check the network, or download the file elsewhere and name its path",
        ) from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
