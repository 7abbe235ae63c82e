"""Endpoints that may receive code and keys: those of settings files must be allowed by the user.

A settings file comes with code that somebody else may have written. It must not decide where code and a key
are sent, so its endpoints are used only after the user has allowed the address together with the variable of
the key. No permission is needed for an endpoint on this machine without a key, or for one in the user's own
file.
"""

from __future__ import annotations

from pathlib import Path

from counterlens.errors import ModelError, OptionError
from counterlens.models.entries import ModelEntry, user_entries, user_file
from counterlens.models.remote.endpoint import Endpoint
from counterlens.user_list import read_list, write_list

_FILE = "allowed-endpoints.json"


def require_allowed(entry: ModelEntry) -> None:
    """Continue only if code, and the key of an entry, may be sent to its endpoint.

    Raises:
        ModelError: the user has not allowed that, or the address is invalid.
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
    """Whether requests may be sent to the endpoint of an entry.

    Raises:
        ModelError: its address is invalid.
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
    """Allow sending code, and the key of an entry, to its endpoint, from now on.

    Raises:
        ModelError: the list cannot be written, or the address is invalid.
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
