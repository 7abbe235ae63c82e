"""Models of the Hugging Face hub, for users with a network: `hf:owner/repo/file.gguf`, `onnx:owner/repo`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    repository, file = "/".join(parts[:2]), "/".join(parts[2:])

    def download() -> str:
        from huggingface_hub import hf_hub_download

        return str(hf_hub_download(repository, file))

    return _downloaded(download, f"hf:{spec}", repository, file, extra="hub")


def fetch_folder(repository: str, patterns: Sequence[str], spec: str) -> Path:
    """The local folder of a hub repository, downloaded if it is not there yet.

    Args:
        repository: `owner/repo`.
        patterns: Which of its files.
        spec: What the user called it, for errors.

    Raises:
        ModelError: huggingface_hub is missing, or the hub does not give the repository.
    """

    def download() -> str:
        from huggingface_hub import snapshot_download

        return str(snapshot_download(repository, allow_patterns=list(patterns)))

    return _downloaded(download, spec, repository, "", extra="onnx")


def _downloaded(download: Callable[[], str], spec: str, repository: str, file: str, *, extra: str) -> Path:
    try:
        from huggingface_hub.errors import (
            EntryNotFoundError,
            LocalEntryNotFoundError,
            RepositoryNotFoundError,
        )
    except ImportError:
        raise ModelError(
            "huggingface_hub is not installed, so models of the hub cannot be downloaded",
            f"Install it with: pip install 'counterlens[{extra}]'",
        ) from None
    try:
        return Path(download())
    except LocalEntryNotFoundError as error:
        raise ModelError(
            f"{spec} is not on this machine yet, and the hub cannot be reached",
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
        raise ModelError(f"{spec} cannot be downloaded: {_first_line(error)}") from error
    except Exception as error:  # httpx errors reach the caller as they are
        if type(error).__module__.partition(".")[0] not in {"httpx", "httpcore", "huggingface_hub"}:
            raise
        raise ModelError(
            f"{spec} cannot be downloaded: {_first_line(error)}",
            "Check the network, or download the file elsewhere and name its path",
        ) from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
