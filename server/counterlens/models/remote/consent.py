"""Endpoints that may receive code and keys: those of settings files that the user has allowed.

A settings file comes with code that somebody else may have written. It must not decide where code and a key
are sent, so what is named in one is asked only once its user has allowed the address together with the
variable of the key. Nothing has to be allowed that stays on this machine and takes no key, or that stands in
the user's own file.
"""

from __future__ import annotations

from pathlib import Path

from counterlens.errors import ModelError, OptionError
from counterlens.models.entries import ModelEntry, user_entries, user_file
from counterlens.models.remote.endpoint import Endpoint
from counterlens.user_list import read_list, write_list

_FILE = "allowed-endpoints.json"


def require_allowed(entry: ModelEntry) -> None:
    """Go on only where code, and the key of an entry, may be sent to its endpoint.

    Raises:
        ModelError: nobody has allowed that, or the address cannot be used.
    """
    endpoint = Endpoint.parse(entry.base_url)
    if is_allowed(entry):
        return
    hint = f"To allow this: counterlens models allow {entry.name}"
    where = endpoint.address
    if entry.key is None:
        raise ModelError(f"the model {entry.name} of a settings file would send code to {where}", hint)
    raise ModelError(
        f"the model {entry.name} of a settings file would send code and the key in {entry.key} to {where}",
        hint,
    )


def is_allowed(entry: ModelEntry) -> bool:
    """Whether an entry may be asked.

    Raises:
        ModelError: its address cannot be used.
    """
    if Endpoint.parse(entry.base_url).loopback and entry.key is None:
        return True
    if _pair(entry) in _allowed():
        return True
    try:
        return any(_pair(own) == _pair(entry) for own in user_entries())
    except OptionError:
        return False


def allow(entry: ModelEntry) -> None:
    """Let code, and the key of an entry, be sent to its endpoint, from now on.

    Raises:
        ModelError: the list cannot be written, or the address cannot be used.
    """
    if is_allowed(entry):
        return
    path = _place()
    try:
        write_list(path, [*_allowed(), _pair(entry)])
    except OSError as error:
        raise ModelError(f"{path} cannot be written: {error.strerror}") from None


def _pair(entry: ModelEntry) -> list[str | None]:
    return [Endpoint.parse(entry.base_url).url, entry.key]


def _allowed() -> list[list[str | None]]:
    return [pair for pair in read_list(_place()) if isinstance(pair, list)]


def _place() -> Path:
    return user_file().with_name(_FILE)
