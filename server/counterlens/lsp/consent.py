"""Ask the user before programs run: to trust the workspace, and to accept a weak sandbox.

Each question is asked once: again about a weak sandbox only if it is a different one, and about trust only if
the client does not say.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Protocol

import platformdirs
from lsprotocol import types

from counterlens.atomic_file import make_folder
from counterlens.errors import CounterlensError
from counterlens.regular_file import read_text
from counterlens.sandbox.registry import Availability, choose
from counterlens.trust import TrustError, remember, require_trust, trusted_unit

NOT_TRUSTED = (
    "Probing runs the function's tests, and Counterlens runs nothing in an untrusted workspace. Trust the "
    "workspace first."
)
_BY_ENVIRONMENT = "COUNTERLENS_TRUST"


class ConsentAsker(Protocol):
    """The part of a language server that asks the user, and knows what its client said."""

    @property
    def trusted(self) -> bool | None:
        """Whether the client trusts the workspace; None if it does not say."""
        ...

    async def window_show_message_request_async(
        self, params: types.ShowMessageRequestParams
    ) -> types.MessageActionItem | None:
        """Ask the user."""
        ...


async def ask(
    server: ConsentAsker, kind: types.MessageType, question: str, wanted: str, *others: str
) -> bool:
    """Whether the user chooses the wanted answer, in the standard request that any client shows."""
    actions = [types.MessageActionItem(answer) for answer in (wanted, *others)]
    answer = await server.window_show_message_request_async(
        types.ShowMessageRequestParams(kind, question, actions)
    )
    return answer is not None and answer.title == wanted


def is_workspace_trusted(server: ConsentAsker, place: Path) -> bool:
    """Whether code beside a file may run without asking: the client's answer, else the user's earlier one.

    Args:
        place: A file or folder.
    """
    try:
        require_trust([place], NOT_TRUSTED, decided=_decision(server))
    except TrustError:
        return False
    return True


def may_be_trusted(server: ConsentAsker, place: Path) -> bool:
    """Whether code beside a file may run, or the user can be asked for permission."""
    return server.trusted is None or is_workspace_trusted(server, place)


async def require_trusted_workspace(server: ConsentAsker, place: Path) -> None:
    """Continue only if code beside a file may run; if the client does not say, ask the user once.

    Args:
        place: A file or folder.

    Raises:
        TrustError: the code may not run.
    """
    if is_workspace_trusted(server, place):
        return
    if server.trusted is None:
        question = (
            f"{trusted_unit(place)} is not trusted. Its tests, and what they import, would run in the "
            "sandbox."
        )
        if await ask(server, types.MessageType.Warning, question, "Trust It", "Not Now"):
            remember(place)
            return
    raise TrustError(NOT_TRUSTED)


def _decision(server: ConsentAsker) -> bool | None:
    """The consent given to this server as a whole, if any."""
    if server.trusted is None and os.environ.get(_BY_ENVIRONMENT) == "1":
        return True
    return server.trusted


async def require_consent(
    server: ConsentAsker, best: Availability | None = None, *, given_before: bool = False
) -> None:
    """Continue only if programs are strongly isolated, or if the user accepts that they are not.

    Args:
        best: The sandbox; by default the one in use here.
        given_before: Whether the user's settings accept a weak sandbox.

    Raises:
        CounterlensError: the user does not accept it.
        SandboxError: there is no sandbox at all.
    """
    if best is None:
        best = await asyncio.get_running_loop().run_in_executor(None, choose)
    if not best.weak or given_before:
        return
    if _was_accepted(best):
        return
    question = f"Code that the model writes would run in a weak sandbox: {best.name} {best.reason}."
    if not await ask(server, types.MessageType.Warning, question, "Run Anyway", "Not Now"):
        raise CounterlensError(
            "the only sandbox here is weak, so nothing was run", "See docs/sandbox.md for stronger ones"
        )
    given = _place()
    make_folder(given.parent)
    given.write_text(_consent_text(best), encoding="utf-8")


def has_consent(settings_accept: bool) -> bool:
    """Whether programs may run here without a question: strong sandbox, or consent. Takes a moment.

    Args:
        settings_accept: Whether the user's settings accept a weak sandbox.

    Raises:
        SandboxError: there is no sandbox at all.
    """
    best = choose()
    return not best.weak or settings_accept or _was_accepted(best)


def _was_accepted(best: Availability) -> bool:
    """Whether the user accepted this sandbox before."""
    given = _place()
    try:
        return read_text(given, errors="replace") == _consent_text(best)
    except OSError:
        return False


def _consent_text(best: Availability) -> str:
    return f"{best.name}: {best.reason}\n"


def _place() -> Path:
    return Path(platformdirs.user_data_dir("counterlens")) / "weak-sandbox-accepted"
