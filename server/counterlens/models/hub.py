"""Models of the Hugging Face hub, for users with a network: `hf:owner/repo/file.gguf`, `onnx:owner/repo`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

from counterlens.errors import ModelError
from counterlens.models.base import Progress
from counterlens.models.hub_file import HubFile


def fetch(spec: str, progress: Progress | None = None, cancel: Event | None = None) -> Path:
    """The local path of a hub file, downloaded if it is not there yet.

    Args:
        spec: `owner/repo/path/file.gguf`.
        progress: Called with the number of downloaded bytes.

    Raises:
        ModelError: the spec is malformed, or the hub does not deliver the file.
        Cancelled: `cancel` was set.
    """
    parts = spec.split("/")
    if len(parts) < 3 or {"", ".", ".."} & {*parts} or not spec.endswith(".gguf"):
        raise ModelError(f"hf:{spec} does not name a model file", "Write hf:owner/repo/file.gguf")
    return HubFile("/".join(parts[:2]), "/".join(parts[2:])).fetched(progress, cancel)


def fetch_folder(repository: str, patterns: Sequence[str], spec: str) -> Path:
    """The local folder of a hub repository, downloaded if it is not there yet.

    Args:
        repository: `owner/repo`.
        patterns: Patterns of file names to download.
        spec: The user's name for the model, for errors.

    Raises:
        ModelError: huggingface_hub is missing, or the hub does not deliver the repository.
    """

    def download() -> str:
        from huggingface_hub import snapshot_download

        return str(snapshot_download(repository, allow_patterns=list(patterns)))

    return _download_file(download, spec, repository)


def _download_file(download: Callable[[], str], spec: str, repository: str) -> Path:
    try:
        from huggingface_hub.errors import LocalEntryNotFoundError, RepositoryNotFoundError
    except ImportError:
        raise ModelError(
            "huggingface_hub is not installed, so models of the hub cannot be downloaded",
            "Install it with: pip install 'counterlens[onnx]'",
        ) from None
    try:
        return Path(download())
    except LocalEntryNotFoundError as error:
        raise ModelError(
            f"{spec} is not on this machine yet, and the hub cannot be reached",
            "Check the network, or download the file elsewhere and give its path",
        ) from error
    except RepositoryNotFoundError as error:
        raise ModelError(
            f"the hub has no repository {repository}, or it is private",
            "Check the name, or log in with: hf auth login",
        ) from error
    except (OSError, ValueError) as error:
        raise ModelError(f"{spec} cannot be downloaded: {_first_line(error)}") from error
    except Exception as error:  # httpx errors arrive unchanged
        if type(error).__module__.partition(".")[0] not in {"httpx", "httpcore", "huggingface_hub"}:
            raise
        raise ModelError(
            f"{spec} cannot be downloaded: {_first_line(error)}",
            "Check the network, or download the file elsewhere and give its path",
        ) from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
