"""Models of the Hugging Face hub, for users with a network: `hf:owner/repo/file.gguf`, `onnx:owner/repo`.

A file is downloaded with progress and resumption, checked against the hub's hash, and stored where the hub's
own programs store theirs (`blobs`, `snapshots` and `refs` of a repository), so that the two find each other's
files. `HF_ENDPOINT`, `HF_HOME`, `HF_HUB_CACHE`, `HF_TOKEN` and `HF_HUB_OFFLINE` have the same meaning as
there; `HTTPS_PROXY` and similar variables apply.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from urllib.parse import quote

import httpx

from counterlens import __version__
from counterlens.atomic_file import make_folder
from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import Progress
from counterlens.models.files import REVISION, cached_file, repository_folder
from counterlens.regular_file import sha256_of_file

HUB = "https://huggingface.co"
_TIMEOUT = httpx.Timeout(30.0, connect=10.0)
_PIECE = 1 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")
_ELSEWHERE = "Check the network or the proxy, or download the file elsewhere and give its path"


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


class HubOfflineError(ModelError):
    """The hub cannot be reached."""

    brief = "offline"


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a repository.

    Attributes:
        repository: `owner/repo`.
        file: Path in the repository.
    """

    repository: str
    file: str

    @property
    def url(self) -> str:
        """Its URL."""
        endpoint = (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")
        return f"{endpoint}/{self.repository}/resolve/{REVISION}/{quote(self.file)}"

    @property
    def folder(self) -> Path:
        """The folder in which the repository is stored."""
        return repository_folder(self.repository)

    def here(self) -> Path | None:
        """Its path on this machine, if it is downloaded."""
        return cached_file(self.repository, self.file)

    def fetched(self, progress: Progress | None = None, cancel: Event | None = None) -> Path:
        """Its path on this machine; downloads it if it is not there yet.

        Args:
            progress: Called with the downloaded bytes.
            cancel: Set to cancel; the downloaded part is kept, and resumed the next time.

        Raises:
            ModelError: the hub cannot be reached or does not deliver the file, or the file is damaged.
            Cancelled: `cancel` was set.
        """
        path = self.here()
        if path is not None:
            return path
        if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
            raise HubOfflineError(
                f"{self.file} is not on this machine yet, and HF_HUB_OFFLINE forbids downloading it",
                "Unset HF_HUB_OFFLINE, or download the file elsewhere and give its path",
            )
        try:
            with httpx.Client(timeout=_TIMEOUT, headers=_headers()) as client:
                facts = self._facts(client)
                self._room(facts)
                blob = self._fetch(client, facts, progress, cancel)
        except httpx.HTTPError as error:
            raise HubOfflineError(
                f"{self.file} cannot be downloaded: {_describe_error(error)}", _ELSEWHERE
            ) from error
        except OSError as error:
            raise ModelError(f"{self.folder} cannot be written: {error.strerror or error}") from error
        return self._placed(blob, facts)

    def _facts(self, client: httpx.Client) -> _Facts:
        """The hub's metadata of the file: it gives size and hash before it redirects."""
        answer = client.head(self.url, headers={"Accept-Encoding": "identity"})
        while answer.is_redirect and "x-linked-etag" not in answer.headers:
            target = answer.next_request
            if target is None or target.url.host != httpx.URL(self.url).host:
                break
            answer = client.head(target.url, headers={"Accept-Encoding": "identity"})
        if answer.status_code in {401, 403, 404}:
            raise ModelError(
                f"the hub does not provide {self.repository}/{self.file}: status {answer.status_code}",
                "Check the name; a repository that asks for consent needs HF_TOKEN",
            )
        if answer.is_error:
            raise ModelError(f"{self.file} cannot be downloaded: status {answer.status_code}", _ELSEWHERE)
        tag = answer.headers.get("x-linked-etag") or answer.headers.get("etag") or ""
        sha256 = tag.removeprefix("W/").strip('"').lower()
        size = answer.headers.get("x-linked-size") or answer.headers.get("content-length") or "0"
        if not _SHA256.fullmatch(sha256) or not size.isdigit():
            raise ModelError(
                f"the hub provides no hash of {self.repository}/{self.file}, so it cannot be verified",
                _ELSEWHERE,
            )
        commit = answer.headers.get("x-repo-commit") or REVISION
        return _Facts(sha256, int(size), re.sub(r"[^0-9A-Za-z._-]", "", commit) or REVISION)

    def _room(self, facts: _Facts) -> None:
        make_folder(self.folder)
        free = shutil.disk_usage(self.folder).free
        if facts.size > free:
            raise ModelError(
                f"{self.file} has {facts.size / 1e9:.1f} GB, more than the {free / 1e9:.1f} GB free in "
                f"{self.folder}",
                "Free some space, or set another folder with HF_HOME",
            )

    def _fetch(
        self,
        client: httpx.Client,
        facts: _Facts,
        progress: Progress | None,
        cancel: Event | None,
    ) -> Path:
        """Download the whole file and check it; returns its path, named by its hash."""
        blob = self.folder / "blobs" / facts.sha256
        if blob.is_file():
            return blob
        make_folder(blob.parent)
        part = blob.with_name(f"{facts.sha256}.incomplete")
        done = part.stat().st_size if part.is_file() else 0
        if done < facts.size:
            ranged = {"Range": f"bytes={done}-"} if done else {}
            with client.stream(
                "GET", self.url, headers={"Accept-Encoding": "identity", **ranged}, follow_redirects=True
            ) as answer:
                if answer.is_error:
                    raise ModelError(
                        f"{self.file} cannot be downloaded: status {answer.status_code}", _ELSEWHERE
                    )
                continued = answer.status_code == httpx.codes.PARTIAL_CONTENT
                _write(answer, part, done if continued else 0, facts.size, progress, cancel)
        _check(part, facts, self.file)
        part.replace(blob)
        return blob

    def _placed(self, blob: Path, facts: _Facts) -> Path:
        """Link the file under its name into the snapshot of a commit, and return that path."""
        path = self.folder / "snapshots" / facts.commit / self.file
        try:
            make_folder(path.parent)
            if not path.exists():
                try:
                    path.symlink_to(os.path.relpath(blob, path.parent))
                except OSError:  # no links on this file system
                    blob.replace(path)
            reference = self.folder / "refs" / REVISION
            make_folder(reference.parent)
            reference.write_text(facts.commit, encoding="utf-8")
        except OSError as error:
            raise ModelError(f"{self.folder} cannot be written: {error.strerror or error}") from error
        return path


@dataclass(frozen=True, slots=True)
class _Facts:
    """The hub's metadata of a file."""

    sha256: str
    size: int
    commit: str


def _write(
    answer: httpx.Response,
    part: Path,
    done: int,
    size: int,
    progress: Progress | None,
    cancel: Event | None,
) -> None:
    """Append the download to the existing part."""
    if not part.is_file():
        part.unlink(missing_ok=True)  # such as a pipe, which would block
    with part.open("r+b" if done else "wb") as file:
        file.seek(done)
        file.truncate()
        for piece in answer.iter_raw(_PIECE):
            if cancel is not None and cancel.is_set():
                raise Cancelled
            file.write(piece)
            done += len(piece)
            if progress is not None:
                progress(done, size)


def _check(part: Path, facts: _Facts, name: str) -> None:
    """Refuse a file that differs from the hub's, and remove it, as resuming would not help.

    Raises:
        ModelError: it is too short, which resuming can fix, or it differs.
    """
    size = part.stat().st_size
    if size < facts.size:
        raise ModelError(
            f"the connection ended at {size / 1e6:.0f} of {facts.size / 1e6:.0f} MB of {name}",
            "Try again: the downloaded part is kept",
        )
    digest = sha256_of_file(part)
    if digest != facts.sha256:
        part.unlink()
        raise ModelError(
            f"{name} is damaged: its SHA-256 differs from the hub's",
            "Try again; if it happens again, a proxy may alter downloads",
        )


def _headers() -> dict[str, str]:
    headers = {"User-Agent": f"counterlens/{__version__}"}
    token = os.environ.get("HF_TOKEN", "").strip()
    return headers | ({"Authorization": f"Bearer {token}"} if token else {})


def _describe_error(error: httpx.HTTPError) -> str:
    text = str(error).strip().partition("\n")[0] or type(error).__name__
    if isinstance(error, httpx.TimeoutException):
        return "the hub does not answer"
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        return f"the hub cannot be reached ({text})"
    return text
