"""The trust boundary: no code of a repository runs before the user has allowed it.

Every front end calls `require_trust` before it runs a program together with files that other people may have
written: tests, packages, and modules that run code when imported. A sandbox is a second barrier, not a
replacement. Reading and scoring need no trust.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import platformdirs

from counterlens.errors import CounterlensError
from counterlens.user_list import read_list, write_list

_FILE = "trusted-folders.json"
_MARKS = (".git", ".hg")


class TrustError(CounterlensError):
    """Code in a folder would run without the user's trust."""


def repository_of(place: Path) -> Path:
    """The folder that is trusted as a unit: the repository around a path, else the path's own folder."""
    place = place.expanduser().resolve()
    folder = place if place.is_dir() else place.parent
    holders = (
        above for above in (folder, *folder.parents) if any((above / mark).exists() for mark in _MARKS)
    )
    return next(holders, folder)


def require_trust(
    places: Iterable[Path], would_run: str, *, decided: bool | None = None, refusal: str = ""
) -> None:
    """Raise an error unless the repositories around some paths are trusted.

    Args:
        places: Files or folders with code that would run.
        would_run: The description of the code, such as "the tests of f".
        decided: The user's decision, if the caller has it; None to look it up in the user's list.
        refusal: The message of a front end with its own way to trust.

    Raises:
        TrustError: a repository is not trusted.
    """
    if decided:
        return
    for folder in dict.fromkeys(map(trusted_unit, places)):
        if decided is False or not is_trusted(folder):
            if refusal:
                raise TrustError(refusal)
            raise TrustError(
                f"{folder} is not trusted, so none of its code was run: {would_run}",
                "Use --trust (it is remembered); scoring and reading need no trust",
            )


def trusted_unit(place: Path) -> Path:
    """What is trusted with a path: its repository, or the file alone where that would be a shared folder.

    Everything below a trusted folder is trusted: one file in the home folder must not bring all that the user
    will ever clone there.
    """
    folder, place = repository_of(place), place.expanduser().resolve()
    home, temporary = Path.home().resolve(), Path(tempfile.gettempdir()).resolve()
    shared = folder == temporary or home.is_relative_to(folder)
    return place if shared and not place.is_dir() else folder


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path leads to a file or folder inside a folder, after links are resolved.

    A path that does not exist yet counts, too. Other entries, such as pipes, do not: reading a pipe may block
    forever.
    """
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            return False
        return path.is_file() or path.is_dir() or not path.exists()
    except (OSError, RuntimeError, ValueError):  # a cycle of links, or an invalid name
        return False


def is_trusted(folder: Path) -> bool:
    """Whether a folder, or one that contains it, is in the user's list."""
    folder = folder.expanduser().resolve()
    return any(folder.is_relative_to(trusted) for trusted in trusted_folders())


def trusted_folders() -> list[Path]:
    """The list in the user's configuration; empty if there is no readable one."""
    names = [name for name in read_list(_place()) if isinstance(name, str)]
    return [Path(name) for name in names if Path(name).is_absolute()]


def remember(place: Path) -> None:
    """Add the repository around a path to the user's list; of a file in a shared folder, the file alone.

    Raises:
        TrustError: the list cannot be written.
    """
    folder = trusted_unit(place)
    if is_trusted(folder):
        return
    path = _place()
    try:
        write_list(path, [*map(str, trusted_folders()), str(folder)])
    except OSError as error:
        raise TrustError(
            f"{path} cannot be written: {error.strerror}", "Set COUNTERLENS_TRUST=1 instead"
        ) from None


def _place() -> Path:
    return Path(platformdirs.user_config_dir("counterlens")) / _FILE
