"""Files of a Python interpreter, so that a confined program can still start it.

A virtual environment is among the files of a project, so nothing of it runs to describe it: neither its
`python`, which may be any program, nor the code that its packages run at the start of an interpreter. Its
configuration is read, and its base interpreter is queried, if that is outside of the project.
"""

from __future__ import annotations

import filecmp
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from subprocess import SubprocessError

from counterlens.environment import closed_variable
from counterlens.errors import SandboxError
from counterlens.processes import run
from counterlens.regular_file import read_text

_QUESTION = """
import importlib.util, json, os, site, sys
print(json.dumps({
    "prefixes": [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix],
    "path": [p for p in sys.path if os.path.exists(p)],
    "version": list(sys.version_info[:2]),
    "bytecode": importlib.util.MAGIC_NUMBER.hex(),
    "user_base": site.getuserbase() if site.ENABLE_USER_SITE else None,
}))
"""

_MAPPING = re.compile(r"^MAPPING\b[^=\n]*= (\{.*\})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An interpreter's folders.

    Attributes:
        folders: The paths that it must read to start and to import its packages.
        user_base: The folder of `pip install --user`, if it is used.
        version: Its major and minor version.
        bytecode: The magic number of its bytecode.
    """

    folders: tuple[str, ...]
    user_base: str | None
    version: tuple[int, int]
    bytecode: bytes


def describe(python: Path) -> Interpreter:
    """The folders of an interpreter; detected once for each version of its file.

    Raises:
        SandboxError: it does not exist or does not answer, or it is a virtual environment whose base is also
            in its project.
    """
    try:
        stamp = python.stat().st_mtime_ns
    except OSError as error:
        raise SandboxError(
            f"there is no Python interpreter at {python}: {error.strerror}", "Choose another one"
        ) from None
    config = python.parent.parent / "pyvenv.cfg"
    if not config.exists():
        return _query_interpreter(str(python), stamp)
    try:
        return _of_environment(str(python), config.stat().st_mtime_ns, stamp)
    except OSError as error:
        raise SandboxError(f"{config} cannot be read: {error.strerror}", "Choose another one") from None


@lru_cache(maxsize=32)
def _of_environment(python: str, _configured: int, stamp: int) -> Interpreter:
    """The description of a virtual environment."""
    folder = Path(python).parent.parent
    lines = read_text(folder / "pyvenv.cfg", errors="replace").splitlines()
    configuration = {
        key.strip().lower(): value.strip() for key, _, value in (line.partition("=") for line in lines)
    }
    base = _query_interpreter(str(_base_of(Path(python), configuration)), stamp)
    packages = [*folder.glob("lib*/python*/site-packages"), folder / "Lib" / "site-packages"]
    added = {path for at in packages for file in at.glob("*.pth") for path in _paths_in(file)}
    added |= {
        path for at in packages for file in at.glob("__editable__*_finder.py") for path in _mapped_by(file)
    }
    everything = configuration.get("include-system-site-packages", "").lower() == "true"
    return Interpreter(
        tuple(sorted({*base.folders, str(folder), str(Path(python).parent), *_without_homes(added)})),
        base.user_base if everything else None,
        base.version,
        base.bytecode,
    )


def _base_of(python: Path, configuration: dict[str, str]) -> Path:
    """The base interpreter of an environment: the one that its `python` is a link to, or a copy of."""
    inside, user = python.parent.parent.parent.resolve(), Path.home().resolve()
    above = [folder for folder in (inside, *inside.parents) if not user.is_relative_to(folder)]
    # The outermost folder under version control around the environment, but not the user's home.
    top = next((folder for folder in reversed(above) if (folder / ".git").exists()), inside)
    real = python.resolve()
    if not real.is_relative_to(top):
        return real
    home = Path(configuration.get("home") or os.devnull)
    for name in (python.name, "python3", "python"):
        candidate = (home / name).resolve()
        if (
            candidate.is_file()
            and not candidate.is_relative_to(top)
            and filecmp.cmp(real, candidate, shallow=False)
        ):
            return candidate
    raise SandboxError(
        f"{python} is part of the project, and is neither a link to an interpreter elsewhere nor a copy of "
        f"one",
        "Create the environment with an interpreter of the system, or choose one",
    )


def _paths_in(file: Path) -> list[str]:
    """The folders that a path file adds; its lines of code are not executed."""
    try:
        lines = read_text(file, errors="replace").splitlines()
    except OSError:
        return []
    named = (
        line.strip() for line in lines if line.strip() and not line.startswith(("import ", "import\t", "#"))
    )
    folders = (file.parent / name for name in named if "\0" not in name)
    return [str(path) for path in folders if path != Path("/") and path.is_dir()]


def _mapped_by(finder: Path) -> list[str]:
    """The packages that a finder of setuptools imports from elsewhere, for an editable installation."""
    try:
        mapping = _MAPPING.search(read_text(finder, errors="replace"))
    except OSError:
        return []
    named = [Path(value) for value in re.findall(r": '([^']+)'", mapping[1])] if mapping else []
    paths = [path if path.is_dir() else path.with_name(f"{path.name}.py") for path in named if path.name]
    return [str(path) for path in paths if path.is_absolute() and path.exists()]


@lru_cache(maxsize=32)
def _query_interpreter(python: str, _stamp: int) -> Interpreter:
    kept = ("PATH", "HOME", "LD_LIBRARY_PATH")
    environment = {name: value for name in kept if (value := closed_variable(name))}
    command = [python, "-B", "-c", _QUESTION]
    try:
        # not with -P, which an old Python does not know, nor with -I, which hides the user's own packages
        done = run(command, seconds=20, cwd=Path("/"), environment=environment)
        answer = json.loads(done.stdout)
    except (OSError, SubprocessError, ValueError) as error:
        raise SandboxError(f"{python} does not work as a Python interpreter: {error}") from error
    folders = {
        *answer["prefixes"],
        *(path for path in answer["path"] if path != "/"),
        str(Path(python).parent),
        str(Path(python).resolve().parent),
    }
    shared = folders - set(_without_homes(folders))
    name = "python{}.{}".format(*answer["version"])
    within = {
        str(path) for folder in shared for path in (*Path(folder).glob(f"lib*/{name}"),
                                                    *Path(folder).glob(f"lib*/lib{name}*"))
    }  # fmt: skip
    return Interpreter(
        tuple(sorted(folders - shared | within)),
        answer["user_base"],
        (*answer["version"],),
        bytes.fromhex(answer["bytecode"]),
    )


def _without_homes(folders: Iterable[str]) -> list[str]:
    """The folders that only hold Python: not the user's home, its parents, nor `~/.local` or the like.

    An interpreter installed in such a folder has its standard library and packages in folders below it.
    """
    home = Path.home().resolve()
    return [
        folder
        for folder in folders
        if not home.is_relative_to(Path(folder).resolve())
        and not (Path(folder).resolve().parent == home and Path(folder).name.startswith("."))
    ]
