"""Before programs run in a weak sandbox, the user is asked: once, and again only if it is another one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Protocol

import platformdirs
from lsprotocol import types

from counterlens.errors import CounterlensError
from counterlens.lsp.language import recognised, t
from counterlens.sandbox.registry import Availability, chosen


class ConsentAsker(Protocol):
    """The part of a language server that asks."""

    async def window_show_message_request_async(
        self, params: types.ShowMessageRequestParams
    ) -> types.MessageActionItem | None:
        """Ask the user."""
        ...


async def require_consent(
    server: ConsentAsker, best: Availability | None = None, *, given_before: bool = False
) -> None:
    """Go on only where programs are well isolated, or the user accepts that they are not.

    Args:
        server: Asks, by the standard request that any client shows.
        best: The sandbox; by default the one that is used here.
        given_before: Whether the user's settings accept a weak one.

    Raises:
        CounterlensError: the user does not accept it.
        SandboxError: there is no sandbox at all.
    """
    if best is None:
        best = await asyncio.get_running_loop().run_in_executor(None, chosen)
    if not best.weak or given_before:
        return
    if _accepted(best):
        return
    question = t(
        "Code that the model writes would run in a weak sandbox: {name} {reason}.",
        name=best.name,
        reason=recognised(best.reason),
    )
    run, not_now = t("Run Anyway"), t("Not Now")
    actions = [types.MessageActionItem(run), types.MessageActionItem(not_now)]
    answer = await server.window_show_message_request_async(
        types.ShowMessageRequestParams(types.MessageType.Warning, question, actions)
    )
    if answer is None or answer.title != run:
        raise CounterlensError(
            "the only sandbox here is weak, so nothing was run", "See docs/sandbox.md for stronger ones"
        )
    given = _place()
    given.parent.mkdir(parents=True, exist_ok=True)
    given.write_text(_said_of(best), encoding="utf-8")


def has_consent(settings_accept: bool) -> bool:
    """Whether programs may run here unasked: well isolated, or as the user has accepted; takes a moment.

    Args:
        settings_accept: Whether the user's settings accept a weak sandbox.

    Raises:
        SandboxError: there is no sandbox at all.
    """
    best = chosen()
    return not best.weak or settings_accept or _accepted(best)


def _accepted(best: Availability) -> bool:
    """Whether the user has accepted this sandbox before."""
    given = _place()
    return given.is_file() and given.read_text(encoding="utf-8") == _said_of(best)


def _said_of(best: Availability) -> str:
    return f"{best.name}: {best.reason}\n"


def _place() -> Path:
    return Path(platformdirs.user_data_dir("counterlens")) / "weak-sandbox-accepted"
