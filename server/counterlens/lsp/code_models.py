"""Commands: `counterlens.codeModels` lists offered models by name; `counterlens.fetchModel` fetches one."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from counterlens.errors import Cancelled, CounterlensError, ModelError
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import translate_known
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.progress import with_progress
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.targets import plain
from counterlens.models.code_model_file import code_model_here, fetch_code_model
from counterlens.models.code_models import CodeModel, code_model, code_models
from counterlens.models.files import EMBEDDED_BYTES, EMBEDDED_MODEL, EMBEDDED_SHA256
from counterlens.models.speed import ModelSpeed, estimated_speed, measure_speed, noted_speed
from counterlens.progress import Steps

LIST_COMMAND = "counterlens.codeModels"
FETCH_COMMAND = "counterlens.fetchModel"
_MEGA = 1_000_000


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


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.command(LIST_COMMAND)(_list)
    server.command(FETCH_COMMAND)(_fetch)


async def _list(ls: CounterlensServer, argument: Any = None) -> CodeModelListing:
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
        return FetchedModel(
            ok=False, error=translate_known(error.message), hint=translate_known(error.hint or "")
        )
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
