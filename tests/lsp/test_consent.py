"""The question before a weak sandbox is used."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from counterlens.errors import CounterlensError
from counterlens.lsp.consent import require_consent
from counterlens.lsp.settings import read_settings
from counterlens.sandbox.registry import Availability

STRONG = Availability("bubblewrap", True, "", (("reads", True),))
WEAK = Availability("process", True, "does not isolate reads", (("reads", False),))


class User:
    """Answers what it is told to, and counts how often it is asked."""

    def __init__(self, answer: str | None) -> None:
        self.answer, self.asked = answer, 0

    async def window_show_message_request_async(
        self, params: types.ShowMessageRequestParams
    ) -> types.MessageActionItem | None:
        self.asked += 1
        assert "does not isolate" in params.message
        return types.MessageActionItem(self.answer) if self.answer else None


async def test_the_user_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    user = User("Run Anyway")
    await require_consent(user, STRONG)
    assert user.asked == 0
    await require_consent(user, WEAK)
    await require_consent(user, WEAK)
    assert user.asked == 1
    await require_consent(user, WEAK._replace(reason="does not isolate network"))
    assert user.asked == 2


async def test_a_setting_is_an_answer() -> None:
    user = User("Not Now")
    await require_consent(user, WEAK, given_before=True)
    assert user.asked == 0
    assert read_settings({"sandbox": {"allowWeaker": True}})[0].allow_weaker_sandbox


@pytest.mark.parametrize("answer", ["Not Now", None])
async def test_no_is_no(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str | None) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    user = User(answer)
    for asked in (1, 2):
        with pytest.raises(CounterlensError, match="weak"):
            await require_consent(user, WEAK)
        assert user.asked == asked
