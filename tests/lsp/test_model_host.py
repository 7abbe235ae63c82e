"""The server's models: the memory of one that nobody uses is given back."""

from __future__ import annotations

from dataclasses import replace

import psutil

from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.settings import EditorSettings
from counterlens.models.base import Prompt
from tests.conftest import short_model


def workers() -> set[int]:
    """The processes that hold a model of this one."""
    children = psutil.Process().children()
    return {child.pid for child in children if child.status() != psutil.STATUS_ZOMBIE}


def test_a_model_rests_once_nobody_uses_it_and_is_opened_again_when_needed() -> None:
    before = workers()
    host = ModelHost()
    settings = replace(EditorSettings(), model=str(short_model(endless=True)))
    host.choose(settings)
    with host.use_model(settings) as model:
        host.rest()
        assert model.complete([Prompt("x = ", 3)])[0].tokens == 3
        assert len(workers() - before) == 1
    assert len(workers() - before) == 1
    host.rest()
    assert workers() == before
    assert host.get(settings).complete([Prompt("y = ", 2)])[0].tokens == 2
    host.close()
