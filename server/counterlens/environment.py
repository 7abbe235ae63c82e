"""The search path and the environment of our processes, closed to the folder that a command runs in.

Other people may have written the files of that folder. `python -m` puts it first in `sys.path`, and so does
an empty entry of `PYTHONPATH`, such as the one that `PYTHONPATH=$PYTHONPATH:/opt/lib` makes of an unset
variable. An `.env` file, which the terminals of editors load, may set any variable.

This module imports only what Python has loaded at its start: it runs before the path is closed.
"""
# ruff: noqa: PTH100, PTH109, PTH110, PTH111, PTH113, PTH117, PTH118, PTH120

import os
import site
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_HARMLESS = {
    "PYTHONDONTWRITEBYTECODE", "PYTHONFAULTHANDLER", "PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONNOUSERSITE",
    "PYTHONUNBUFFERED", "PYTHONUTF8",
}  # fmt: skip
_JAVA = {"CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVAC_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"}
_CODE = {"PYTHONPATH", "PYTHONUSERBASE", "GGML_BACKEND_PATH", "LLAMA_CPP_LIB_PATH"}
_SEARCHED = {"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"}
_MARKS = (".git", ".hg")
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_BUNDLE = os.path.dirname(_ROOT)  # of the extension, if it has the description of one


def outside_project(paths: "Iterable[str]") -> list[str]:
    """The absolute paths that are outside of the current project, in their order; all if it is trusted.

    The project is the repository around the current folder, or that folder itself if there is none; a project
    that contains the user's home is reduced to the current folder. The folders from which this process runs
    anyway are not part of it: this package, the others of the extension's bundle, and those that Python has
    installed. The user's list of trusted folders is not read, as that needs imports.
    """
    absolute = [path for path in paths if os.path.isabs(path)]
    here = _current_folder()
    if not here or os.environ.get("COUNTERLENS_TRUST") == "1":
        return absolute
    here = _real(here)
    project = _project_around(here)
    alone = _is_within(_real(os.path.expanduser("~")), project)
    bundle = _BUNDLE if os.path.isfile(os.path.join(_BUNDLE, "bundle.json")) else _ROOT
    own = [_real(folder) for folder in (bundle, os.path.dirname(os.__file__), *site.getsitepackages())]

    def is_outside(path: str) -> bool:
        real = _real(path)
        if any(_is_within(real, folder) for folder in own):
            return True
        return real != here if alone else not _is_within(real, project)

    return [path for path in absolute if is_outside(path)]


closed_folders: "list[str]" = []
"""The folders that were removed from `sys.path`."""


def close_search_path() -> None:
    """Remove the folders of the current project that `PYTHONPATH` names from `sys.path`.

    The command line calls this at its start. Other programs that import this package keep their path.
    """
    named = os.environ.get("PYTHONPATH", "")
    if named and not sys.flags.ignore_environment:
        entries = named.split(os.pathsep)
        here = _current_folder()
        closed = {os.path.join(here, entry) for entry in {*entries} - {*outside_project(entries)}}
        closed = {os.path.normpath(entry) for entry in closed}
        closed_folders.extend(entry for entry in sys.path if os.path.normpath(entry) in closed)
        sys.path[:] = [entry for entry in sys.path if os.path.normpath(entry) not in closed]


def leave_current_folder() -> None:
    """Remove the current folder from `sys.path`, where `python -m` without `-P` has put it."""
    if not sys.flags.safe_path and sys.path[:1] == [_current_folder()]:
        closed_folders.append(sys.path.pop(0))


def closed_environment(changes: "Mapping[str, str] | None" = None) -> dict[str, str]:
    """The environment for a process of ours.

    Python, Java, llama.cpp and the dynamic linker load no code of the current project because of a variable.

    Args:
        changes: Variables that it has besides.
    """
    closed = {name: closed_variable(name) for name in os.environ}
    kept = {name: value for name, value in closed.items() if value or not os.environ[name]}
    entries = list(filter(None, kept.pop("PYTHONPATH", "").split(os.pathsep)))
    if _ROOT not in (*entries, *site.getsitepackages(), site.getusersitepackages()):
        entries.append(_ROOT)  # Python does not search it by itself, or only because of a path file
    if entries:
        kept["PYTHONPATH"] = os.pathsep.join(entries)
    return kept | dict(changes or {})


def closed_variable(name: str) -> str:
    """The value of a variable in a closed environment; empty if it is not in it."""
    value = os.environ.get(name, "")
    if name in _CODE:
        return os.pathsep.join(outside_project(value.split(os.pathsep)))
    if name in _SEARCHED:  # an empty entry means the current folder
        return os.pathsep.join(filter(os.path.isabs, value.split(os.pathsep)))
    return "" if name in _JAVA or (name.startswith("PYTHON") and name not in _HARMLESS) else value


def close_environment() -> None:
    """Give this process a closed environment, which the processes that libraries start inherit."""
    closed = closed_environment()
    for name in set(os.environ) - set(closed):
        del os.environ[name]
    os.environ.update(closed)


def _current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def _project_around(folder: str) -> str:
    above = folder
    while not any(os.path.exists(os.path.join(above, mark)) for mark in _MARKS):
        if above == os.path.dirname(above):
            return folder
        above = os.path.dirname(above)
    return above


def _real(path: str) -> str:
    return os.path.normcase(os.path.realpath(path))


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
