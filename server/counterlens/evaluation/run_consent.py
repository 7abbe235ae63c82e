"""Consent to what a run folder names: addresses that would receive code and keys, and repositories.

A run folder is untrusted input: it may come from somebody else, and whoever made it chose its addresses and
paths. Only a run that this user started continues without a question. Such a run has a seal, an HMAC of its
settings with a key of the user that never leaves this machine. Of any other run, each address and repository
must be the user's own choice: named in the same command, in the environment, or in a file of the user's.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import platformdirs

from counterlens.atomic_file import make_folder
from counterlens.datasets.base import PREFIX
from counterlens.errors import CounterlensError
from counterlens.evaluation.settings import RunSettings
from counterlens.models.entries import entry_named
from counterlens.models.registry import runs_here, takes
from counterlens.models.remote.consent import Destination
from counterlens.models.remote.endpoint import Endpoint, read_environment
from counterlens.regular_file import read_bytes

_KEY_BYTES = 32


class ForeignRunError(CounterlensError):
    """A run that somebody else started names an address or a repository that the user did not choose."""


@dataclass(frozen=True, slots=True)
class _Demand:
    """Something that a run would do, how the user can choose it, and the destination of a named model."""

    would: str
    choice: str
    named: Destination | None = None


def require_consent(settings: RunSettings, models: Sequence[str] = ()) -> None:
    """Continue only if the user chose every address and repository that would be used.

    Args:
        models: The models that would be opened, by name; if there are none, the data would be read.

    Raises:
        ForeignRunError: the user did not.
        ModelError: there is no such model, or an address is invalid.
    """
    if settings.foreign:
        _refuse(_of_models(settings, models, None) if models else _of_data(settings, None))


def consent(
    settings: RunSettings,
    models: Sequence[str],
    *,
    base_url: str | None = None,
    data: str | None = None,
    agreed: bool = False,
) -> RunSettings:
    """The settings of a run as the user's own choice.

    Args:
        models: The models that will be opened.
        base_url: The address that the user named in this command.
        data: The data that the user named in this command; its path is absolute.
        agreed: Whether the user has just agreed to the error of this function.

    Raises:
        ForeignRunError: the run is foreign, and names something that the user did not choose; the hint says
            how to choose it.
        ModelError: there is no such model, or an address is invalid.
    """
    if settings.foreign:
        demands = [*_of_data(settings, data), *_of_models(settings, models, base_url)]
        if not agreed:
            _refuse(demands)
        for demand in demands:
            if demand.named is not None:  # opening it looks at the user's list again
                demand.named.allow()
    return replace(settings, foreign=False)


def _refuse(demands: Iterator[_Demand] | Sequence[_Demand]) -> None:
    wanted = tuple(demands)
    if wanted:
        would = "; it would ".join(dict.fromkeys(demand.would for demand in wanted))
        choices = "; ".join(dict.fromkeys(demand.choice for demand in wanted))
        raise ForeignRunError(
            f"you did not start this run here, and it would {would}", f"To agree: {choices}"
        )


def _of_data(settings: RunSettings, data: str | None) -> Iterator[_Demand]:
    if settings.data.startswith(PREFIX) and data != settings.data:
        folder = settings.data.removeprefix(PREFIX)
        yield _Demand(f"read the repository {folder}, and run its tests", f"--data {settings.data}")


def _of_models(settings: RunSettings, models: Sequence[str], base_url: str | None) -> Iterator[_Demand]:
    for model in models:
        entry = entry_named(model, settings.entries)
        if entry is not None:
            destination = Destination.of(entry)
            key = f" --key {entry.key}" if entry.key else ""
            choice = f"counterlens models add {entry.name} --base-url {entry.base_url}{key}"
        elif runs_here(model):
            continue
        elif takes(model, "base_url") and settings.base_url is not None:
            environment = read_environment()
            destination = Destination(settings.base_url, environment.key_variable(settings.base_url))
            if _same(settings.base_url, base_url) or _same(settings.base_url, environment.base_url):
                continue
            choice = f"--base-url {settings.base_url}"
        elif model.partition(":")[0] == "remote":
            continue  # at the address in the user's environment
        else:
            yield _Demand(f"send code to the model {model}", "start a run of your own")
            continue
        if not destination.is_chosen:  # a port of this machine may be another user's
            yield _Demand(f"send {destination}", choice, None if entry is None else destination)


def _same(address: str, other: str | None) -> bool:
    return other is not None and Endpoint.parse(address).url == Endpoint.parse(other).url


def seal(settings: str) -> str:
    """The seal of settings in JSON; empty if the user's key can be neither read nor created."""
    key = _key()
    return "" if key is None else hmac.new(key, settings.encode(), hashlib.sha256).hexdigest()


def is_sealed(settings: str, sealed: str) -> bool:
    """Whether this user sealed settings in JSON."""
    return bool(sealed) and hmac.compare_digest(seal(settings).encode(), sealed.encode())


def _key() -> bytes | None:
    """The user's key, created on first use; several processes create the same one."""
    path = Path(platformdirs.user_data_dir("counterlens")) / "run-seal.key"
    for _ in range(2):
        with suppress(OSError):
            key = read_bytes(path, _KEY_BYTES)
            return key if len(key) == _KEY_BYTES else None
        part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        with suppress(OSError):
            make_folder(path.parent)
            part.touch(0o600, exist_ok=False)
            part.write_bytes(secrets.token_bytes(_KEY_BYTES))
            os.link(part, path)  # unlike a rename, never replaces the key of another process
        part.unlink(missing_ok=True)
    return None
