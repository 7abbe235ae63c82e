"""Commands about models, see docs/protocol.md.

`counterlens.testModel` tests the model; `counterlens.listModels` lists those of an endpoint;
`counterlens.codeModels` lists offered models by name; `counterlens.fetchModel` fetches one.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import Any

from counterlens.errors import Cancelled, CounterlensError, ModelError
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.progress import with_progress
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.status import StepCount
from counterlens.lsp.targets import plain
from counterlens.models.code_models import (
    CodeModel,
    code_model,
    code_model_here,
    code_models,
    fetch_code_model,
)
from counterlens.models.connection_test import ConnectionTest, run_connection_test
from counterlens.models.files import EMBEDDED_BYTES, EMBEDDED_MODEL, EMBEDDED_SHA256
from counterlens.models.speed import ModelSpeed, estimated_speed, measure_speed, noted_speed
from counterlens.progress import Steps

TEST_MODEL = "counterlens.testModel"
LIST_MODELS = "counterlens.listModels"
LIST_CODE_MODELS = "counterlens.codeModels"
FETCH_MODEL = "counterlens.fetchModel"
_MEGA = 1_000_000


def register(server: CounterlensServer) -> None:
    server.command(TEST_MODEL)(_test)
    server.command(LIST_MODELS)(_list_models)
    server.command(LIST_CODE_MODELS)(_list_code_models)
    server.command(FETCH_MODEL)(_fetch)


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
        message, hint = error.message, error.hint or ""
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


async def _list_models(ls: CounterlensServer, argument: Any) -> ModelListing:
    """List the models of an endpoint, `{baseUrl, key?}`. The key is not stored."""
    from counterlens.models.remote.connecting import (
        models_at,  # imports an HTTP client; local models need none
    )

    given = plain(argument)
    address, key = str(given.get("baseUrl") or ""), str(given.get("key") or "") or None
    trusted = address == ls.settings.remote_base_url  # the key of one server must not be sent to another
    try:
        names = await with_progress(
            ls,
            f"Asking {address}",
            lambda steps: models_at(address, key, trusted=trusted, cancel=steps.cancel),
        )
    except CounterlensError as error:
        return ModelListing(False, error.message, error.hint or "", error.brief)
    return ModelListing(True, models=tuple(names))


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """One offered model."""

    id: str
    name: str
    repository: str
    licence: str
    commercial: bool
    parameters: int
    bytes: int
    alsoKnown: tuple[str, ...]  # noqa: N815 - as on the wire
    path: str = ""
    speed: float | None = None
    measured: bool = False


@dataclass(frozen=True, slots=True)
class CodeModelListing:
    """The answer of `counterlens.codeModels`.

    Attributes:
        byDefault: The model if the settings name none.
    """

    models: tuple[OfferedModel, ...]
    byDefault: str  # noqa: N815 - as on the wire


@dataclass(frozen=True, slots=True)
class FetchedModel:
    """The answer of `counterlens.fetchModel`."""

    ok: bool
    error: str = ""
    hint: str = ""
    cancelled: bool = False
    path: str = ""


async def _list_code_models(ls: CounterlensServer, argument: Any = None) -> CodeModelListing:
    """List the offered models; with `{measure}`, measure this machine's speed first if it is unknown."""
    measure = bool(plain(argument).get("measure"))
    offered = await ls.offload(_offer_all, ls.host, ls.settings, measure)
    return CodeModelListing(offered, ls.settings.default.spec)


def _offer_all(host: ModelHost, settings: EditorSettings, measure: bool) -> tuple[OfferedModel, ...]:
    embedded = noted_speed(EMBEDDED_SHA256)
    if embedded is None and measure:
        try:
            begun = time.perf_counter()
            with host.use_model(replace(settings, model=EMBEDDED_MODEL)) as cached:
                embedded = measure_speed(cached.model, time.perf_counter() - begun)
        except ModelError:  # not on this machine, so nothing is known
            embedded = None
    return tuple(_offer(model, embedded) for model in code_models())


def _offer(model: CodeModel, embedded: ModelSpeed | None) -> OfferedModel:
    speed = noted_speed(model.sha256)
    if speed is None and embedded is not None:
        speed = estimated_speed(embedded, EMBEDDED_BYTES, model.bytes)
    path = code_model_here(model)
    return OfferedModel(
        id=model.id,
        name=model.name,
        repository=model.repository,
        licence=model.licence,
        commercial=model.commercial,
        parameters=model.parameters,
        bytes=model.bytes,
        alsoKnown=model.also_known,
        path=str(path) if path else "",
        speed=None if speed is None else round(speed.writing, 2),
        measured=speed is not None and speed.measured,
    )


async def _fetch(ls: CounterlensServer, argument: Any = None) -> FetchedModel:
    """Fetch the model of `{id}`; a cancelled download keeps the downloaded part."""
    wanted = str(plain(argument).get("id") or "")
    offered = code_model(wanted)
    try:
        if offered is None:
            raise ModelError(f"there is no offered model {wanted}", "Choose another model")
        path = await with_progress(
            ls, f"Downloading {offered.name}", lambda steps: _fetch_file(offered, steps)
        )
    except Cancelled:
        return FetchedModel(ok=False, cancelled=True)
    except CounterlensError as error:
        return FetchedModel(ok=False, error=error.message, hint=error.hint or "")
    return FetchedModel(ok=True, path=path)


def _fetch_file(model: CodeModel, steps: Steps) -> str:
    shown = -1

    def progress(done: int, total: int) -> None:
        nonlocal shown
        share = 100 * done // max(1, total)
        if share != shown:
            shown = share
            steps.report(f"{done // _MEGA} of {total // _MEGA} MB", share, 100)

    return str(fetch_code_model(model, progress, steps.cancel))
