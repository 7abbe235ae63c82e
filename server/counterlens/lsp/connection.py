"""Commands: `counterlens.testModel` tests the model; `counterlens.listModels` lists those of an endpoint."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from counterlens.errors import CounterlensError
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import translate_known
from counterlens.lsp.progress import with_progress
from counterlens.lsp.status import StepCount
from counterlens.lsp.targets import plain
from counterlens.models.connection_test import ConnectionTest, run_connection_test
from counterlens.progress import Steps

TEST_COMMAND = "counterlens.testModel"
LIST_COMMAND = "counterlens.listModels"


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.command(TEST_COMMAND)(_test)
    server.command(LIST_COMMAND)(_list)


@dataclass(frozen=True, slots=True)
class TestAnswer:
    """The answer of `counterlens.testModel`."""

    ok: bool
    error: str = ""
    hint: str = ""
    reason: str = ""
    model: str = ""
    where: str = ""
    prompt: str = ""
    completion: str = ""
    tokens: int = 0
    seconds: float = 0.0
    scores: bool = False
    way: str = ""
    embeds: bool = False
    context: int | None = None
    details: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ModelListing:
    """The answer of `counterlens.listModels`: the names, or the error with a hint."""

    ok: bool
    error: str = ""
    hint: str = ""
    reason: str = ""
    models: tuple[str, ...] = ()


async def _test(ls: CounterlensServer, _argument: Any) -> TestAnswer:
    """Test the model of the settings, without cached responses."""
    settings, loop = ls.settings, asyncio.get_running_loop()

    def loading(done: int, total: int) -> None:
        detail = f"opening {settings.model_spec}"
        loop.call_soon_threadsafe(ls.announce, "loading", detail, "", StepCount(done, total))

    def work(steps: Steps) -> ConnectionTest:
        with ls.host.use_model(settings, loading) as model:
            return run_connection_test(model.model, cancel=steps.cancel)

    try:
        outcome = await with_progress(ls, f"Testing {settings.model_spec}", work)
    except CounterlensError as error:
        ls.announce("error", str(error), error.brief)
        message, hint = translate_known(error.message), translate_known(error.hint or "")
        return TestAnswer(False, message, hint, error.brief, settings.model_spec)
    info = outcome.info
    ls.announce("ready", f"{info.name} answers")
    return TestAnswer(
        ok=True,
        model=info.name,
        where=info.where,
        prompt=outcome.prompt,
        completion=outcome.completion,
        tokens=outcome.tokens,
        seconds=outcome.seconds,
        scores=outcome.scores,
        way=outcome.way,
        embeds=outcome.embeds,
        context=info.context,
        details=info.details,
    )


async def _list(ls: CounterlensServer, argument: Any) -> ModelListing:
    """List the models of an endpoint, `{baseUrl, key?}`. The key is not stored."""
    from counterlens.models.remote import models_at  # imports an HTTP client; local models need none

    given = plain(argument)
    address, key = str(given.get("baseUrl") or ""), str(given.get("key") or "") or None
    known = address == ls.settings.remote_base_url  # the key of one server must not be sent to another
    try:
        names = await with_progress(
            ls, f"Asking {address}", lambda steps: models_at(address, key, known=known, cancel=steps.cancel)
        )
    except CounterlensError as error:
        return ModelListing(
            False, translate_known(error.message), translate_known(error.hint or ""), error.brief
        )
    return ModelListing(True, models=tuple(names))
